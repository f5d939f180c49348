import type { Database } from 'better-sqlite3'
import type { LongList } from '../store.ts'

/** Maximum wait of the first read for another process (milliseconds). */
const BUSY_MS_MAX = 5_000
/** Page cache (KiB): each page is read once. */
const CACHE_KIB = 1_024
/** Minimum size of a piece except the last (bytes): many small services share one piece. */
const PIECE_BYTES = 256 * 1_024

const OPENING = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSING = Buffer.from(']')

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
    const pieces = piecesOf(rows)
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

/** The JSON array of `rows` in pieces; reading the rows starts with the first piece. */
async function* piecesOf(rows: () => Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let gathered: Uint8Array[] = [OPENING]
  let bytes = 0
  let isFirst = true
  for (const row of rows()) {
    if (!isFirst) gathered.push(COMMA)
    isFirst = false
    gathered.push(row)
    bytes += row.length
    if (bytes < PIECE_BYTES) continue
    yield Buffer.concat(gathered)
    gathered = []
    bytes = 0
  }
  gathered.push(CLOSING)
  yield Buffer.concat(gathered)
}
