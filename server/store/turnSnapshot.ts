import type { Database } from 'better-sqlite3'

/** One view of the database for the reads of one turn of the event loop. */
export interface TurnSnapshot {
  /**
   * Makes the read that follows part of this turn's view. The number is another one when anything was
   * committed since, by whomever: what was read under the same number still holds.
   */
  readonly join: () => number
  /** Ends the view: what is read next sees everything that is committed. */
  readonly end: () => void
}

/**
 * Reads on `reader` that come together share one read transaction: taking and giving back the locks of one
 * costs more than most of the reads. Whoever commits has to end the view, so that nobody reads what was
 * before their own write.
 */
export function turnSnapshot(reader: Database): TurnSnapshot {
  const begin = reader.prepare('BEGIN')
  const commit = reader.prepare('COMMIT')
  const dataVersion = reader.prepare<[], number>('PRAGMA data_version').pluck()
  let version = 0
  const end = (): void => {
    if (reader.open && reader.inTransaction) commit.run()
  }
  return {
    join: () => {
      if (!reader.inTransaction) {
        begin.run()
        version = dataVersion.get() ?? version + 1
        setImmediate(end)
      }
      return version
    },
    end,
  }
}
