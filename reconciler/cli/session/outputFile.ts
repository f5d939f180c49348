import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { UnwritableFile } from '../../run/fileFailure.ts'

/** Mode of files that only their owner may read. */
const OWNER_ONLY = 0o600

/** Writes `text` to `file` atomically; a new file gets `mode`. Throws UnwritableFile. */
export function writeOutput(file: string, text: string, mode = OWNER_ONLY): void {
  try {
    const entry = statSync(file, { throwIfNoEntry: false })
    if (entry === undefined) replaceAtOnce(file, text, mode)
    else if (entry.isFile()) replaceAtOnce(realpathSync(file), text, entry.mode)
    // Pipes and terminals are written directly, and a folder fails with its own error.
    else writeFileSync(file, text)
  } catch (error) {
    throw new UnwritableFile(file, error)
  }
}

function replaceAtOnce(place: string, text: string, mode: number): void {
  const temporary = `${place}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, text, { mode, flag: 'wx' })
    renameSync(temporary, place)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
