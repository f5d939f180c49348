import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { syncFolder } from './syncFolder.ts'

/** Permission bits of a folder that is its owner's only. */
export const OWNER_ONLY = 0o700

/**
 * Creates `folder` and its missing parents with the permission bits `mode` (default: as usual), and returns the
 * outermost folder created: `undefined` when none was missing. Throws the error of Node for the one that cannot be
 * created, or that is not a folder.
 *
 * Their names are durable when it returns: otherwise a file flushed below could be lost with its folder.
 *
 * Creates them one by one: below /proc, where nothing can be created, `recursive` of Node retries the first one for
 * ever.
 */
export function makeFolder(folder: string, mode?: number): string | undefined {
  // With `..` after a missing folder, the original path would not resolve.
  const path = resolve(folder)
  const missing = missingFolders(path)
  for (const step of missing) makeStep(step, mode)
  for (const step of missing) syncName(step)
  // Throws the reason for an existing path that is not a folder.
  if (!statSync(path).isDirectory()) mkdirSync(path)
  return missing[0]
}

/** The folders that do not exist among `folder`, an absolute path, and its parents, the outermost first. */
export function missingFolders(folder: string): readonly string[] {
  if (existsSync(folder)) return []
  const above = dirname(folder)
  return above === folder ? [folder] : [...missingFolders(above), folder]
}

function syncName(path: string): void {
  try {
    syncFolder(dirname(path))
  } catch (error) {
    // A folder may be writable but not readable: then its new entries cannot be flushed.
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error
  }
}

function makeStep(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another program made it in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
