import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Maximum of files in the fingerprint. */
const FILES_MAX = 2_000
/** Maximum depth of folders below the folder of secrets. */
const DEPTH_MAX = 4

/**
 * A text that changes with any file below `folder`, derived without reading the files: a change compiles the set again
 * although its commit is the same. Empty when the folder does not exist.
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
    // A missing or unreadable folder: manifests cannot read secrets from it either.
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

/** Follows symbolic links, because Kubernetes replaces the target of one when a mounted secret changes. */
function fingerprintOf(path: string): string {
  const entry = statSync(path, { throwIfNoEntry: false })
  return entry === undefined ? 'gone' : `${entry.ino} ${entry.size} ${entry.mtimeMs}`
}
