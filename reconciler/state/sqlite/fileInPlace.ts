import { statSync } from 'node:fs'
import { stateGone } from '../model/stateError.ts'

/**
 * A check that `path` is still the file that was opened, because writes to a removed file are lost. It throws StateError
 * `gone`.
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
