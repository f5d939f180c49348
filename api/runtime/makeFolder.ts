import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Permission bits of a folder that is its owner's only. */
export const OWNER_ONLY = 0o700

/**
 * Makes `folder` and those above it that are not there, with the permission bits `mode` (as usual when absent), and
 * returns the outermost that it made: `undefined` when all were there. Throws the error of Node for the one that cannot
 * be made, or that is no folder.
 *
 * One by one: below /proc, where nothing can be made, `recursive` of Node tries the first of them for ever.
 */
export function makeFolder(folder: string, mode?: number): string | undefined {
  // With `..` behind a folder that is not there, the path as it was given would name nothing.
  const path = resolve(folder)
  const missing = missingFolders(path)
  for (const step of missing) makeStep(step, mode)
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

function makeStep(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another program made it in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
