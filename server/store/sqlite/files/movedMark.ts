import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../../../../api/runtime/syncFolder.ts'
import { movedError } from '../../portable.ts'
import { ownAsFolder } from './ownAsFolder.ts'

/** Beside the database, with the place to which its data was moved. */
const MOVED_FILE = 'moved'

/** Records durably that the data of `dataDir` was moved to `place`; `null` undoes this. */
export function markMoved(dataDir: string, place: string | null): void {
  const file = join(dataDir, MOVED_FILE)
  if (place === null) rmSync(file, { force: true })
  else {
    const descriptor = openSync(file, 'w', 0o600)
    writeSync(descriptor, `${place}\n`)
    fsyncSync(descriptor)
    closeSync(descriptor)
    ownAsFolder(file)
  }
  syncFolder(dataDir)
}

/** Throws when the data of `dataDir` was moved to a place other than `except`. */
export function assertNotMoved(dataDir: string, except?: string): void {
  const file = join(dataDir, MOVED_FILE)
  if (!existsSync(file)) return
  const place = readFileSync(file, 'utf8').trim()
  if (place !== except) throw movedError(dataDir, place, `remove ${file}`)
}
