import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../../api/runtime/makeFolder.ts'
import { manifestText } from '../../export/manifestText.ts'
import { classifyDocuments } from '../../manifest/compile/documentKind.ts'
import { mappingOf } from '../../manifest/mapping.ts'
import { isManifestName, NAME_MESSAGE } from '../../manifest/schema/serviceManifest.ts'
import { UsageError } from '../../run/failure.ts'
import { UnwritableFile } from '../../run/fileFailure.ts'
import { readManifests } from '../../source/manifestFiles.ts'
import { writeOutput } from './outputFile.ts'

/** Mode of new manifests, subject to the umask. */
const MANIFEST_MODE = 0o666

/**
 * Throws UsageError when no Environment of `name` can be written to `folder`, or to stdout without one: for an invalid name, or when
 * a manifest below the folder defines it, in a file of any name.
 */
export function requireNewEnvironment(name: string, folder: string | undefined): void {
  if (!isManifestName(name)) throw new UsageError(`--env ${name}: ${NAME_MESSAGE}`)
  if (folder === undefined) return
  const { environments } = classifyDocuments(readManifests(folder).documents)
  const there = environments.find(({ mapping }) => mappingOf(mapping.metadata)?.name === name)
  if (there === undefined) return
  throw new UsageError(
    `--env ${name}: ${there.source.file} has an Environment of that name; choose another name or folder`,
  )
}

/** Writes one file for each of `manifests` into `folder`, all or none. Throws UsageError when one exists. */
export function writeManifests(
  folder: string,
  manifests: readonly { readonly key: string; readonly manifest: object }[],
): void {
  const files = manifests.map(({ key, manifest }) => ({ path: join(folder, `${key}.yaml`), manifest }))
  const there = files.find(({ path }) => existsSync(path))
  if (there !== undefined) throw new UsageError(`${there.path} exists; name another folder`)
  const written: string[] = []
  try {
    makeFolder(folder)
    for (const { path, manifest } of files) {
      writeOutput(path, manifestText(manifest), MANIFEST_MODE)
      written.push(path)
    }
  } catch (error) {
    // A partial export would look complete, and block a second export into the folder.
    for (const path of written) rmSync(path, { force: true })
    throw error instanceof UnwritableFile ? error : new UnwritableFile(folder, error)
  }
}
