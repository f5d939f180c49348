import * as crypto from 'node:crypto'
import { type ClientBase, type CustomTypesConfig, type QueryResultRow, types } from 'pg'

/** A parameter of a statement. An array becomes a PostgreSQL array. */
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

/** Parses 64-bit integers as numbers: none of ours exceeds 2 ** 53. */
export const TYPES: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? Number : types.getTypeParser(oid, format),
}

/** Statements on `client`, one after the other. */
export function sqlOf(client: Pick<ClientBase, 'query'>): Sql {
  return {
    rows: async <Row extends object>(text: string, values: readonly SqlValue[] = []) => {
      // True because each caller names the row of its own statement.
      const result = await client.query<Row & QueryResultRow>({
        name: statementName(text),
        text,
        values: [...values],
      })
      return result.rows
    },
  }
}

/** Names of prepared statements by text. Bounded by the number of texts in this folder. */
const names = new Map<string, string>()

/** The name under which a connection prepares the statement `text`. */
export function statementName(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `pharos_${crypto.hash('sha256', text, 'hex').slice(0, 24)}`
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
