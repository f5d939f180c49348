import type { SqlStatement } from '../../store/postgres/blocking/clientMessages.ts'

/** Rows per statement. Only a few sizes, because each is prepared. */
const GROUP_ROWS = [100, 50, 10, 1]

/** The parts of an upsert statement. */
export interface Upsert {
  /** The text before VALUES. */
  readonly head: string
  readonly columns: number
  /** How many of the first columns are the key. */
  readonly keyColumns: number
  readonly tail: string
}

/** A deferred write; with `upsert` if it is one. */
export interface Write {
  readonly statement: SqlStatement
  readonly upsert: Upsert | undefined
}

const UPSERT = /^(INSERT INTO \S+ \(([^)]*)\)) VALUES \([?, ]*\) (ON CONFLICT \(([^)]*)\) DO UPDATE .*)$/s

/** The parts of a statement of `upsertSql`; `undefined` for other statements. Pure. */
export function upsertOf(sql: string): Upsert | undefined {
  const [, head, columns = '', tail, key = ''] = UPSERT.exec(sql) ?? []
  if (head === undefined || tail === undefined) return undefined
  return { head, tail, columns: columns.split(',').length, keyColumns: key.split(',').length }
}

/**
 * The statements of `writes`, with the same outcome: upserts into a table are combined, and only the last row of each
 * key is kept. Other writes are not reordered. Pure.
 */
export function groupedWrites(writes: readonly Write[]): readonly SqlStatement[] {
  const statements: SqlStatement[] = []
  let groups = new Map<string, { upsert: Upsert; rows: Map<string, SqlStatement> }>()
  const endGroups = (): void => {
    for (const { upsert, rows } of groups.values()) statements.push(...combined(upsert, [...rows.values()]))
    groups = new Map()
  }
  for (const { statement, upsert } of writes) {
    if (upsert === undefined) {
      endGroups()
      statements.push(statement)
      continue
    }
    const group = groups.get(statement.text) ?? { upsert, rows: new Map() }
    groups.set(statement.text, group)
    group.rows.set(JSON.stringify(statement.values?.slice(0, upsert.keyColumns)), statement)
  }
  endGroups()
  return statements
}

function* combined(upsert: Upsert, rows: readonly SqlStatement[]): Generator<SqlStatement> {
  let at = 0
  for (const size of GROUP_ROWS) {
    for (; rows.length - at >= size; at += size) {
      const values = rows.slice(at, at + size).flatMap((row) => row.values ?? [])
      yield { text: textOf(upsert, size), values }
    }
  }
}

function textOf({ head, columns, tail }: Upsert, rows: number): string {
  const row = (index: number): string =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(', ')})`
  return `${head} VALUES ${Array.from({ length: rows }, (_, index) => row(index)).join(', ')} ${tail}`
}
