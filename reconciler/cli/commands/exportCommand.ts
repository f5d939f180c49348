import { exportKeys, exportService, variableNames, variablesOf } from '../../export/exportService.ts'
import { manifestText } from '../../export/manifestText.ts'
import { withSharedDefaults } from '../../export/sharedDefaults.ts'
import { EXIT } from '../../run/exitCode.ts'
import { counted } from '../../text/counts.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { writeManifests } from '../session/manifestFiles.ts'
import { openClient } from '../session/session.ts'

/**
 * Exports the services of the organisation as manifests to the folder of --write, or to stdout. Never overwrites a file. One
 * request.
 */
export async function exportCommand(
  _args: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  const { output, options } = context
  const folder = options.write
  const { client, requests, close } = openClient(context)
  try {
    const { services, unreadable } = await client.listServices()
    const keys = exportKeys(services)
    const variable = variableNames()
    const manifests = services.map((service) => {
      const key = keys.get(service.id) ?? service.id
      return { key, id: service.id, manifest: exportService(service, key, variable) }
    })
    for (const { id, problem } of unreadable)
      output.notice(`left out service ${id}, which cannot be read: ${problem}`)
    const factored = withSharedDefaults(manifests.map(({ manifest }) => manifest))
    const written = [
      ...(factored.defaults === undefined ? [] : [{ key: defaultsKey(keys), manifest: factored.defaults }]),
      ...manifests.map(({ key }, index) => ({ key, manifest: factored.manifests[index] ?? {} })),
    ]
    if (folder === undefined)
      for (const { manifest } of written) output.result(`---\n${manifestText(manifest).trimEnd()}`)
    else writeManifests(folder, written)
    if (folder !== undefined) {
      const shared = factored.defaults === undefined ? '' : ' and their Defaults'
      output.result(`wrote ${counted(manifests.length, 'manifest')}${shared} to ${folder}`)
    }
    const variables = variablesOf(manifests.map(({ manifest }) => manifest))
    if (variables.length > 0)
      output.notice(
        `the API does not show secrets; set these before "pharos state adopt apply": ${variables.join(', ')}`,
      )
    return {
      exitCode: unreadable.length === 0 ? EXIT.converged : EXIT.partial,
      // Each manifest is complete, without Defaults.
      document: { manifests, variables, unreadable, requests: requests() },
    }
  } finally {
    await close()
  }
}

/** Name of the file of Defaults, different from all manifests. */
function defaultsKey(keys: ReadonlyMap<string, string>): string {
  const taken = new Set(keys.values())
  let name = 'defaults'
  while (taken.has(name)) name = `shared-${name}`
  return name
}
