import { hash } from 'node:crypto'
import pg from 'pg'

/** A value of a statement. An array is one of PostgreSQL's. */
export type SqlValue =
  | string
  | number
  | boolean
  | null
  | Buffer
  | readonly (string | number | boolean | null | Buffer)[]

/** Runs one statement, which is prepared once on each connection. */
export interface Sql {
  readonly rows: <Row extends object>(text: string, values?: readonly SqlValue[]) => Promise<readonly Row[]>
}

/** Type of 64-bit integers, as PostgreSQL numbers types. */
const INT8 = 20

/** Reads 64-bit integers as numbers: none of ours exceeds 2 ** 53. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
}

/** Statements on `client`, one after the other. */
export function sqlOf(client: Pick<pg.ClientBase, 'query'>): Sql {
  return {
    rows: async <Row extends object>(text: string, values: readonly SqlValue[] = []) => {
      // True because each caller names the row of its own statement.
      const result = await client.query<Row & pg.QueryResultRow>({
        name: nameOf(text),
        text,
        values: [...values],
      })
      return result.rows
    },
  }
}

/** Names of the statements so far. Their number is that of the texts in this folder. */
const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `pharos_${hash('sha256', text, 'hex').slice(0, 24)}`
  names.set(text, name)
  return name
}

/** The only row of a statement; `undefined` when there is none. */
export async function rowOf<Row extends object>(
  sql: Sql,
  text: string,
  values: readonly SqlValue[],
): Promise<Row | undefined> {
  const [row] = await sql.rows<Row>(text, values)
  return row
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** `id` if it can be one of ours; `null`, which no row has, for any other text: PostgreSQL would refuse to compare it. Pure. */
export function uuidOrNull(id: string): string | null {
  return UUID.test(id) ? id : null
}

/** Those of `ids` that can be ours. Pure. */
export function uuidsIn(ids: Iterable<string>): readonly string[] {
  return [...new Set(ids)].filter((id) => UUID.test(id))
}
