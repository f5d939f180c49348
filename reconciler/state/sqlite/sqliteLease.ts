import { isDatabaseError } from '../../run/databaseFailure.ts'
import { leaseLost } from '../model/stateError.ts'
import type { Lease } from '../model/store.ts'
import { type Database, openForWriting } from './openDatabase.ts'
import { unusable } from './sqliteFile.ts'
import { leaseOf } from './sqliteRows.ts'

/** A lock that is given back when it is closed, and when its process ends. */
export interface ProcessLock {
  close(): unknown
}

type LeaseRow = ReturnType<typeof leaseOf>

/** Takes the lock that says that a holder lives; `undefined` while another process has it. */
export type TakeLock = () => Promise<ProcessLock | undefined>

/**
 * The lease of one state file. Besides its row the holder keeps a lock of the operating system on a file
 * beside the state, which is given back however the process ends: the next one need not wait for a holder
 * that is gone. One that only stands still keeps its lock; it is the row that decides.
 */
export class SqliteLease {
  readonly #database: Database
  readonly #takeLock: TakeLock
  /** Throws StateError `gone` when the files of the database are not those that were opened. */
  readonly requireInPlace: () => void
  #epoch: number | undefined
  #lock: ProcessLock | undefined

  constructor(database: Database, takeLock: TakeLock, requireInPlace: () => void) {
    this.#database = database
    this.#takeLock = takeLock
    this.requireInPlace = requireInPlace
  }

  /** Number of the lease that this process took; throws StateError `lost` when it is not the present one, and `gone`. */
  epoch(): number {
    this.requireInPlace()
    if (this.#epoch === undefined || this.#row().epoch !== this.#epoch) throw leaseLost()
    return this.#epoch
  }

  /** Who has the lease; null when it is free. */
  read(): Lease | null {
    const { holder, epoch, renewals } = this.#row()
    return holder === null ? null : { holder, epoch, renewals }
  }

  async acquire(
    holder: string,
    unmoved: Lease | undefined,
  ): Promise<{ readonly epoch: number } | { readonly heldBy: Lease }> {
    this.requireInPlace()
    const isUnmoved = (row: LeaseRow): boolean =>
      row.epoch === unmoved?.epoch && row.renewals === unmoved.renewals
    const seen = this.#row()
    // The lock of a holder that has none yet is left for it: a look that has it in hand would keep the holder from it.
    const mayBeFree = seen.holder === null || seen.locks_file || isUnmoved(seen)
    const lock = mayBeFree ? await this.#takeLock() : undefined
    const answer = this.#database
      .transaction(() => {
        const row = this.#row()
        const isDead = lock !== undefined && row.locks_file
        if (row.holder !== null && !isDead && !isUnmoved(row))
          return { heldBy: { ...row, holder: row.holder } }
        const epoch = row.epoch + 1
        this.#database
          .prepare('UPDATE lease SET holder = ?, epoch = ?, renewals = 0, locks_file = ?')
          .run(holder, epoch, Number(lock !== undefined))
        return { epoch }
      })
      .immediate()
    if ('heldBy' in answer) {
      lock?.close()
      const { holder: other, epoch, renewals } = answer.heldBy
      return { heldBy: { holder: other, epoch, renewals } }
    }
    this.#epoch = answer.epoch
    this.#lock = lock
    return answer
  }

  /**
   * Shows that the holder lives. One that took the lease while another process looked at the lock takes the lock now:
   * without it the next one would have to wait for the whole time of a lease, however this process ends.
   */
  async renew(): Promise<void> {
    if (this.#epoch !== undefined && this.#lock === undefined) {
      const lock = await this.#takeLock()
      if (this.#epoch === undefined) lock?.close()
      else this.#lock ??= lock
    }
    this.#database
      .transaction(() => {
        this.epoch()
        const locksFile = Number(this.#lock !== undefined)
        this.#database.prepare('UPDATE lease SET renewals = renewals + 1, locks_file = ?').run(locksFile)
      })
      .immediate()
  }

  release(): void {
    const epoch = this.#epoch
    this.#epoch = undefined
    try {
      if (epoch !== undefined) {
        this.#database.prepare('UPDATE lease SET holder = NULL, locks_file = 0 WHERE epoch = ?').run(epoch)
      }
    } catch (error) {
      // On a full disk, say: that the lock is free tells the next one as much.
      if (!isDatabaseError(error)) throw error
    } finally {
      this.#lock?.close()
      this.#lock = undefined
    }
  }

  #row(): LeaseRow {
    return leaseOf(this.#database.prepare('SELECT * FROM lease').get())
  }
}

/** The lock of the file `path`; `undefined` while another process has it. */
export async function takeFileLock(path: string): Promise<ProcessLock | undefined> {
  let lock: Database | undefined
  try {
    lock = await openForWriting(path)
    lock.pragma('busy_timeout = 0')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    const isHeld = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
    if (isHeld) return undefined
    throw unusable(path, error)
  }
}
