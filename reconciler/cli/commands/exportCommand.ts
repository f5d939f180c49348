import type { ServiceResponse } from '../../../api/contract/service.ts'
import { exportKeys, exportService, variableNames, variablesOf } from '../../export/exportService.ts'
import { manifestText } from '../../export/manifestText.ts'
import { withSharedDefaults } from '../../export/sharedDefaults.ts'
import { withSharedOrigins } from '../../export/sharedOrigins.ts'
import { EXIT } from '../../run/exitCode.ts'
import { counted } from '../../text/counts.ts'
import type { Command } from '../session/commandEntry.ts'
import { requireNewEnvironment, writeManifests } from '../session/manifestFiles.ts'
import { closingAfter, openClient } from '../session/session.ts'

/**
 * Exports the services of the organisation as manifests to the folder of --write, or to stdout; with --env also an Environment
 * whose variables are the origins that endpoints share. Never overwrites a file. One request.
 */
export const exportCommand: Command = async (_args, context) => {
  const { output, options } = context
  const { write: folder, env: environmentName } = options
  if (environmentName !== undefined) requireNewEnvironment(environmentName, folder)
  return closingAfter(openClient(context), async ({ client, requests }) => {
    const { services, unreadable } = await client.listServices()
    const exported = exportOf(services, environmentName)
    const { manifests, environment } = exported
    for (const { id, problem } of unreadable)
      output.notice(`left out service ${id}, which cannot be read: ${problem}`)
    const { written, parts } = factoredOf(exported)
    if (folder === undefined)
      for (const { manifest } of written) output.result(`---\n${manifestText(manifest).trimEnd()}`)
    else {
      writeManifests(folder, written)
      output.result(`wrote ${parts} to ${folder}`)
    }
    const variables = variablesOf(manifests.map(({ manifest }) => manifest))
    if (variables.length > 0)
      output.notice(
        `the API does not show secrets; set these before "pharos state adopt apply": ${variables.join(', ')}`,
      )
    return {
      exitCode: unreadable.length === 0 ? EXIT.converged : EXIT.partial,
      // Each manifest is complete, without Defaults.
      document: {
        manifests,
        ...(environment === undefined ? {} : { environment: environment.manifest }),
        variables,
        unreadable,
        requests: requests(),
      },
    }
  })
}

/** The manifests of `services`, and the Environment named `environmentName` to which they refer. */
function exportOf(services: readonly ServiceResponse[], environmentName: string | undefined) {
  const keys = exportKeys(services.map(({ name }) => name))
  const variable = variableNames()
  const manifests = services.map((service, index) => {
    const key = keys[index] ?? service.id
    return { key, id: service.id, manifest: exportService(service, key, variable) }
  })
  if (environmentName === undefined) return { manifests, environment: undefined }
  const shared = withSharedOrigins(
    manifests.map(({ manifest }) => manifest),
    environmentName,
  )
  return {
    manifests: manifests.map((one, index) => ({ ...one, manifest: shared.manifests[index] ?? one.manifest })),
    environment: { name: environmentName, manifest: shared.environment },
  }
}

/** The files of an export by name without extension, with the Defaults of `manifests`, and words for all of them. */
function factoredOf({ manifests, environment }: ReturnType<typeof exportOf>) {
  const factored = withSharedDefaults(manifests.map(({ manifest }) => manifest))
  const taken = new Set(manifests.map(({ key }) => key))
  const shared: { readonly key: string; readonly manifest: object }[] = []
  const parts = [counted(manifests.length, 'manifest')]
  if (factored.defaults !== undefined) {
    shared.push({ key: freeKey('defaults', 'shared', taken), manifest: factored.defaults })
    parts.push('their Defaults')
  }
  if (environment !== undefined) {
    const key = freeKey(environment.name, 'environment', taken)
    shared.push({ key, manifest: environment.manifest })
    parts.push(`the Environment ${environment.name}`)
  }
  return {
    written: [
      ...shared,
      ...manifests.map(({ key }, index) => ({ key, manifest: factored.manifests[index] ?? {} })),
    ],
    parts: new Intl.ListFormat('en-GB').format(parts),
  }
}

/** A file name that is not in `taken`: `name`, with `prefix` as often as needed. Adds it to `taken`. */
function freeKey(name: string, prefix: string, taken: Set<string>): string {
  let key = name
  while (taken.has(key)) key = `${prefix}-${key}`
  taken.add(key)
  return key
}
