import { realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UnwritableFile } from '../../run/fileFailure.ts'

/** Mode of files that only their owner may read. */
const OWNER_ONLY = 0o600

/** Throws UnwritableFile when `file` certainly cannot be written; called before requests are spent on its content. */
export function requireOutputPlace(file: string): void {
  try {
    if (!statSync(dirname(file)).isDirectory()) throw systemError('ENOTDIR')
  } catch (error) {
    throw new UnwritableFile(file, error)
  }
  if (entryAt(file)?.isDirectory() === true) throw new UnwritableFile(file, systemError('EISDIR'))
}

/** Writes `text` to `file` atomically; a new file gets `mode`. Throws UnwritableFile. */
export function writeOutput(file: string, text: string, mode = OWNER_ONLY): void {
  try {
    const entry = entryAt(file)
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

function entryAt(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false })
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code })
}
