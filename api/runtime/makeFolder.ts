import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { syncFolder } from './syncFolder.ts'

/** Permission bits of a folder that is its owner's only. */
export const OWNER_ONLY = 0o700

/**
 * Makes `folder` and those above it that are not there, with the permission bits `mode` (as usual when absent), and
 * returns the outermost that it made: `undefined` when all were there. Throws the error of Node for the one that cannot
 * be made, or that is no folder.
 *
 * Their names are durable when it returns: what is flushed to a file below would be lost with its folder otherwise.
 *
 * One by one: below /proc, where nothing can be made, `recursive` of Node tries the first of them for ever.
 */
export function makeFolder(folder: string, mode?: number): string | undefined {
  // With `..` behind a folder that is not there, the path as it was given would name nothing.
  const path = resolve(folder)
  const missing = missingFolders(path)
  for (const step of missing) makeStep(step, mode)
  for (const step of missing) syncName(step)
  // Fails, and says why, for what is there and no folder.
  if (!statSync(path).isDirectory()) mkdirSync(path)
  return missing[0]
}

/** `folder`, an absolute path, and those above it that are not there, the outermost first. */
export function missingFolders(folder: string): readonly string[] {
  if (existsSync(folder)) return []
  const above = dirname(folder)
  return above === folder ? [folder] : [...missingFolders(above), folder]
}

function syncName(path: string): void {
  try {
    syncFolder(dirname(path))
  } catch (error) {
    // A folder may be one to write to and not to look into: what is made in it has to do as it is.
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
