import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../../api/runtime/makeFolder.ts'
import { exportKeys, exportService, variableNames, variablesOf } from '../../export/exportService.ts'
import { manifestText } from '../../export/manifestText.ts'
import { EXIT } from '../../run/exitCode.ts'
import { UsageError } from '../../run/failure.ts'
import { UnwritableFile } from '../../run/fileFailure.ts'
import { counted } from '../../text/counts.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import { writeOutput } from '../session/outputFile.ts'
import { openClient } from '../session/session.ts'

/** Mode of new manifests: readable by all, less the user's mask. */
const MANIFEST_MODE = 0o666

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
    else writeFiles(folder, manifests)
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

function writeFiles(
  folder: string,
  manifests: readonly { readonly key: string; readonly manifest: object }[],
): void {
  const files = manifests.map(({ key, manifest }) => ({ path: join(folder, `${key}.yaml`), manifest }))
  const there = files.find(({ path }) => existsSync(path))
  if (there !== undefined) throw new UsageError(`${there.path} exists: export to an empty folder`)
  const written: string[] = []
  try {
    makeFolder(folder)
    for (const { path, manifest } of files) {
      writeOutput(path, manifestText(manifest), MANIFEST_MODE)
      written.push(path)
    }
  } catch (error) {
    // A part of an estate would pass for all of it, and keep a second export from its folder.
    for (const path of written) rmSync(path, { force: true })
    throw error instanceof UnwritableFile ? error : new UnwritableFile(folder, error)
  }
}
