import { isDatabaseError } from '../../run/databaseFailure.ts'
import { codeOf } from '../../../api/runtime/errorCode.ts'
import { leaseLost } from '../model/stateError.ts'
import type { Lease } from '../model/store.ts'
import { type Database, openForWriting } from './openDatabase.ts'
import { unusable } from './sqliteFile.ts'
import { leaseOf } from './sqliteRows.ts'

/** A lock that is released by `close`, and by the end of its process. */
export interface ProcessLock {
  close(): unknown
}

type LeaseRow = ReturnType<typeof leaseOf>

/** Acquires the lock of a live holder; `undefined` while another process has it. */
export type TakeLock = () => Promise<ProcessLock | undefined>

/**
 * The lease of one state file. Besides its row the holder has an operating system lock on a file beside the state, which is
 * released however the process ends, so that the next holder need not wait for a crashed one. A stopped process keeps its lock;
 * then the row decides.
 */
export class SqliteLease {
  readonly #database: Database
  readonly #takeLock: TakeLock
  /** Throws StateError `gone` when the file of the database was replaced. */
  readonly requireInPlace: () => void
  #epoch: number | undefined
  #lock: ProcessLock | undefined

  constructor(database: Database, takeLock: TakeLock, requireInPlace: () => void) {
    this.#database = database
    this.#takeLock = takeLock
    this.requireInPlace = requireInPlace
  }

  /** Epoch of the lease of this process. Throws StateError `lost` when it is not the current one, and `gone`. */
  epoch(): number {
    this.requireInPlace()
    if (this.#epoch === undefined || this.#row().epoch !== this.#epoch) throw leaseLost()
    return this.#epoch
  }

  /** The lease; null when it is free. */
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
    // A holder that does not have the lock yet must be able to acquire it, so a mere check does not try it.
    const mayBeFree = seen.holder === null || seen.locks_file || isUnmoved(seen)
    const lock = mayBeFree ? await this.#takeLock() : undefined
    const result = this.#database
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
    if ('heldBy' in result) {
      lock?.close()
      const { holder: other, epoch, renewals } = result.heldBy
      return { heldBy: { holder: other, epoch, renewals } }
    }
    this.#epoch = result.epoch
    this.#lock = lock
    return result
  }

  /**
   * Renews the lease, and acquires the lock if another process was checking it when the lease was acquired: without the lock the
   * next holder would have to wait until the lease expires.
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
      // For example on a full disk: the released lock is sufficient for the next holder.
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
    if (codeOf(error) === 'SQLITE_BUSY') return undefined
    throw unusable(path, error)
  }
}
