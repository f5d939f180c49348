import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder, OWNER_ONLY } from '../../../api/runtime/makeFolder.ts'
import { StateError } from '../model/stateError.ts'
import { takeFileLock } from './sqliteLease.ts'

/** Most folders of one kind that are in use at a time, by all programs of a user. */
const FOLDERS_MAX = 10_000

/** A folder of this process, empty at first. */
export interface WorkFolder {
  readonly path: string
  /** Removes it with all that is in it. */
  readonly remove: () => void
}

/**
 * An empty folder for work of one `kind`, which no other user of this machine can read. It is the first that no living
 * process has: what a killed one left is used again instead of staying for ever. Throws StateError.
 */
export async function takeWorkFolder(kind: string): Promise<WorkFolder> {
  const parent = parentOf(kind)
  for (let number = 0; number < FOLDERS_MAX; number += 1) {
    const lock = await takeFileLock(join(parent, `${number}.lock`))
    if (lock === undefined) continue
    const path = join(parent, String(number))
    const empty = (): void => rmSync(path, { recursive: true, force: true })
    empty()
    mkdirSync(path, { mode: 0o700 })
    return {
      path,
      remove: () => {
        empty()
        lock.close()
      },
    }
  }
  throw new StateError(`${parent} has ${FOLDERS_MAX} folders in use: end some of the programs that have them`)
}

/** Where all folders of a kind are. Another user's folder of that name is not used: its owner could exchange what is in it. */
function parentOf(kind: string): string {
  // Not by name: a container may run as a user that has none.
  const user = process.getuid?.()
  const parent = join(tmpdir(), `pharos-${kind}-${user ?? 'own'}`)
  makeFolder(parent, OWNER_ONLY)
  const entry = lstatSync(parent)
  const isOurs = user === undefined || (entry.uid === user && (entry.mode & 0o077) === 0)
  return entry.isDirectory() && isOurs ? parent : mkdtempSync(`${parent}-`)
}
