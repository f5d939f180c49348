import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder, OWNER_ONLY } from '../../../api/runtime/makeFolder.ts'
import { StateError } from '../model/stateError.ts'
import { takeFileLock } from './sqliteLease.ts'

/** Maximum of folders of one kind in use by all programs of a user. */
const FOLDERS_MAX = 10_000

/** A temporary folder of this process. */
export interface WorkFolder {
  readonly path: string
  /** Removes it with its content. */
  readonly remove: () => void
}

/**
 * An empty folder for one `kind` of work, which no other user of this machine can read. The first folder without a live owner
 * is reused, so that folders of killed processes do not accumulate. Throws StateError.
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
  throw new StateError(`${parent} has ${FOLDERS_MAX} folders in use: stop some of the programs that use them`)
}

/** The parent of all folders of a kind. A folder of another user is not used, because its owner could replace its content. */
function parentOf(kind: string): string {
  // By number, because a container may run as a user without a name.
  const user = process.getuid?.()
  const parent = join(tmpdir(), `pharos-${kind}-${user ?? 'own'}`)
  makeFolder(parent, OWNER_ONLY)
  const entry = lstatSync(parent)
  const isOurs = user === undefined || (entry.uid === user && (entry.mode & 0o077) === 0)
  return entry.isDirectory() && isOurs ? parent : mkdtempSync(`${parent}-`)
}
