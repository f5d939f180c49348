import { statSync } from 'node:fs'
import { stateGone } from './stateError.ts'

/** What SQLite keeps a database in: the file itself, its log and the index of that. */
const SUFFIXES = ['', '-wal', '-shm'] as const

/**
 * A check that the files of the database at `path` are still those that were opened: what is written to a file that
 * somebody removed is read by nobody again. It throws StateError `gone`.
 */
export function filesInPlace(path: string): () => void {
  const opened = new Map<string, string>()
  return () => {
    for (const suffix of SUFFIXES) {
      const entry = statSync(`${path}${suffix}`, { throwIfNoEntry: false })
      const now = entry && `${entry.dev}:${entry.ino}`
      const before = opened.get(suffix) ?? now
      if (before !== now) throw stateGone(`${path}${suffix}`)
      // The log comes with the first write.
      if (now !== undefined) opened.set(suffix, now)
    }
  }
}
