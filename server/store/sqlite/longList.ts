import type { Database } from 'better-sqlite3'
import { listPieces } from '../shared/listPieces.ts'
import type { LongList } from '../store.ts'

/** Maximum wait of the first read for another process (milliseconds). */
const BUSY_MS_MAX = 5_000
/** Page cache (KiB): each page is read once. */
const CACHE_KIB = 1_024
/** Bytes of the list of an organisation as one JSON array; SQLite reads none of the text for it. */
export const LIST_LENGTH_SQL =
  'SELECT 1 + max(1, coalesce(sum(octet_length(response) + 1), 0)) FROM services WHERE org_id = ?'

/**
 * Opens a connection to the database `file` whose transaction keeps a snapshot: later writes are not in it, and the log
 * of the database grows until it is closed. `read` prepares the query; `rows` starts with the first piece.
 */
export async function openAtInstant<Read extends { readonly rows: () => Iterable<Uint8Array> }>(
  file: string,
  read: (database: Database) => Read,
): Promise<Omit<Read, 'rows'> & Pick<LongList, 'pieces' | 'close'>> {
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file, { timeout: BUSY_MS_MAX, fileMustExist: true })
  try {
    database.pragma('query_only = ON')
    database.pragma(`cache_size = -${CACHE_KIB}`)
    database.exec('BEGIN')
    const { rows, ...known } = read(database)
    const pieces = listPieces(rows)
    const close = async (): Promise<void> => {
      // An unfinished statement keeps its connection open.
      await pieces.return()
      database.close()
    }
    return { ...known, pieces, close }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Opens a snapshot of the list of the services of `orgId` in the database `file`. */
export function openLongList(file: string, orgId: string): Promise<LongList> {
  return openAtInstant(file, (database) => {
    const select = database
      .prepare<[string], Buffer>(
        'SELECT CAST(response AS BLOB) FROM services WHERE org_id = ? ORDER BY position',
      )
      .pluck()
    return {
      length: database.prepare<[string], number>(LIST_LENGTH_SQL).pluck().get(orgId) ?? 0,
      rows: () => select.iterate(orgId),
    }
  })
}
