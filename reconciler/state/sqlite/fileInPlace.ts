import { statSync } from 'node:fs'
import { stateGone } from '../model/stateError.ts'

/**
 * A check that the file of the database at `path` is still the one that was opened: what is written to a removed file
 * is lost. It throws StateError `gone`.
 */
export function fileInPlace(path: string): () => void {
  const identity = (): string | undefined => {
    const entry = statSync(path, { throwIfNoEntry: false })
    return entry && `${entry.dev}:${entry.ino}`
  }
  const opened = identity()
  return () => {
    if (identity() !== opened) throw stateGone(path)
  }
}
