import { realpathSync, statSync } from 'node:fs'
import { stateGone } from './stateError.ts'

/**
 * A check that the files of the database at `path` are still those that were opened: what is written to a file that
 * somebody removed is read by nobody again. It throws StateError `gone`.
 */
export function filesInPlace(path: string): () => void {
  const opened = new Map<string, string>()
  const file = realpathSync(path)
  // What SQLite keeps a database in: the file itself, and beside it, wherever a link is, its log and the index of that.
  const parts = [path, `${file}-wal`, `${file}-shm`]
  return () => {
    for (const part of parts) {
      const entry = statSync(part, { throwIfNoEntry: false })
      const now = entry && `${entry.dev}:${entry.ino}`
      const before = opened.get(part) ?? now
      if (before !== now) throw stateGone(part)
      // The log comes with the first write.
      if (now !== undefined) opened.set(part, now)
    }
  }
}
