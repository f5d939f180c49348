import { statSync } from 'node:fs'

/**
 * A function that throws while the open database `file` is no longer at its path: SQLite would continue to write to a
 * file that the next start does not find.
 */
export function fileGuard(file: string): () => void {
  const opened = statSync(file)
  return () => {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.ino === opened.ino && found.dev === opened.dev) return
    throw new Error(`${file} was removed or replaced while it was open: put it back, or restart without it`)
  }
}
