import { exportKeys, exportService, variableNames, variablesOf } from '../../export/exportService.ts'
import { manifestText } from '../../export/manifestText.ts'
import { EXIT } from '../../run/exitCode.ts'
import { counted } from '../../text/counts.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { writeManifests } from '../session/manifestFiles.ts'
import { openClient } from '../session/session.ts'

/**
 * Writes the services of the organisation as manifests: to files of the folder of --write, or to stdout without one. A
 * file that exists is never overwritten. One request.
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
    if (folder === undefined)
      for (const { manifest } of manifests) output.result(`---\n${manifestText(manifest).trimEnd()}`)
    else writeManifests(folder, manifests)
    if (folder !== undefined) output.result(`wrote ${counted(manifests.length, 'manifest')} to ${folder}`)
    const variables = variablesOf(manifests.map(({ manifest }) => manifest))
    if (variables.length > 0)
      output.notice(
        `the API does not show secrets; set these before "pharos state adopt apply": ${variables.join(', ')}`,
      )
    return {
      exitCode: unreadable.length === 0 ? EXIT.converged : EXIT.partial,
      document: { manifests, variables, unreadable, requests: requests() },
    }
  } finally {
    await close()
  }
}
