import { ApiError } from '../../../../api/contract/apiError.ts'
import { DiskFullError } from '../../shared/diskFullError.ts'
import { sqlStateOf } from './failures.ts'
import type { Sql } from './sql.ts'

const DISK_FULL = '53100'
/** Rows of a temporary file of some 5 MB, the space for one of the largest requests. */
const PROBE_ROWS = 250_000

/** Whether the disk of the database is full, which only a refused statement shows. */
export class DatabaseDisk {
  #isFull = false

  /** The error for the caller of a statement that failed with `error`, which may say that the disk is full. */
  noticed(error: unknown): unknown {
    if (sqlStateOf(error) !== DISK_FULL) return error
    this.#isFull = true
    return new DiskFullError('database', error)
  }

  /**
   * Rejects while the disk is full: until PostgreSQL can write a temporary file. A heartbeat proves nothing, because
   * its row is written in the space of the previous one.
   */
  async assertSpace(inTransaction: <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>) {
    if (!this.#isFull) return
    try {
      await inTransaction(async (sql) => {
        await sql.rows("SET LOCAL work_mem = '64kB'")
        await sql.rows(`SELECT count(*) FROM generate_series(1, ${PROBE_ROWS})`)
      })
    } catch (error) {
      if (!(error instanceof DiskFullError)) throw error
      throw new ApiError('unavailable', 'the disk of the database is full: free some space', { cause: error })
    }
    this.#isFull = false
  }
}
