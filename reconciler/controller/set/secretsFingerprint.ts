import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Most files of secrets that are looked at. */
const FILES_MAX = 2_000
/** Deepest folder below the folder of secrets. */
const DEPTH_MAX = 4

/**
 * Something that changes when a file below `folder` does, without reading any: a set is compiled anew then,
 * although its commit is the same. Empty where there is no such folder.
 */
export function secretsFingerprint(folder: string): string {
  const files: string[] = []
  const visit = (directory: string, depth: number): void => {
    for (const entry of entriesOf(directory)) {
      if (files.length >= FILES_MAX) return
      const path = join(directory, entry.name)
      if (entry.isDirectory() && depth < DEPTH_MAX) visit(path, depth + 1)
      else files.push(`${path} ${fingerprintOf(path)}`)
    }
  }
  visit(folder, 0)
  return files.join('\n')
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    // Not there, or not ours to read: then no manifest can take anything from it either.
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

/** Follows links: what mounts secrets swaps the target of one. */
function fingerprintOf(path: string): string {
  const entry = statSync(path, { throwIfNoEntry: false })
  return entry === undefined ? 'gone' : `${entry.ino} ${entry.size} ${entry.mtimeMs}`
}
