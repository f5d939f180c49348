import { statSync } from 'node:fs'
import { StateError } from './stateError.ts'

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
      if (before !== now) throw gone(`${path}${suffix}`)
      // The log comes with the first write.
      if (now !== undefined) opened.set(suffix, now)
    }
  }
}

function gone(file: string): StateError {
  return new StateError(
    `${file} was removed or replaced while it was in use, so nothing more is sent: put it back as it was, or stop this program and start it with the state that is to count`,
    'gone',
  )
}
