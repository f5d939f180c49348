import type { ClientBase } from 'pg'
import { listPieces } from '../shared/listPieces.ts'
import type { LongList } from '../store.ts'
import type { Pools } from './connections/pools.ts'
import { sqlOf } from './connections/sql.ts'
import type { Statement } from './writes/guardedWrite.ts'

/** Rows fetched at once: a service has up to 1 MiB. */
const FETCHED_ROWS = 4

/** Bytes of the list of an organisation as one JSON array. */
export const LIST_LENGTH_SQL =
  'SELECT 1 + greatest(1, coalesce(sum(octet_length(response) + 1), 0)) AS length FROM services WHERE org_id = $1'

/** Queries of a long list; each row has its JSON as `text`. */
interface Reading {
  /** Absent when the length is known only at the end. */
  readonly length?: Statement
  readonly rows: Statement
}

/** Opens a list in its own snapshot, without later writes. It occupies a connection until it is closed. */
export async function openLongList(
  connect: Pools['longReader'],
  { length, rows }: Reading,
): Promise<LongList> {
  const client = await connect()
  const sql = sqlOf(client)
  let failure: Error | undefined
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const [known] =
      length === undefined ? [] : await sql.rows<{ length: string | number }>(length.text, length.values)
    await client.query(`DECLARE list NO SCROLL CURSOR FOR ${rows.text}`, [...rows.values])
    const pieces = listPieces(() => rowsOf(client))
    let isClosed = false
    const close = async (): Promise<void> => {
      if (isClosed) return
      isClosed = true
      try {
        await pieces.return()
        await client.query('ROLLBACK')
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error))
      }
      client.release(failure)
    }
    return { ...(known === undefined ? {} : { length: Number(known.length) }), pieces, close }
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** The rows of the cursor of a list. */
async function* rowsOf(client: Pick<ClientBase, 'query'>): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const { rows } = await client.query<{ text: string }>(`FETCH ${FETCHED_ROWS} FROM list`)
    if (rows.length === 0) return
    for (const { text } of rows) yield Buffer.from(text)
  }
}
