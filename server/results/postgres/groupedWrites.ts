import type { SqlStatement } from '../../store/postgres/blocking/clientMessages.ts'

/** Rows per statement. Only a few sizes, because each is prepared. */
const GROUP_ROWS = [100, 50, 10, 1]

/** The parts of a statement that inserts a row. */
export interface Insert {
  /** The text before VALUES. */
  readonly head: string
  readonly columns: number
  /** How many of the first columns are the key of an upsert; 0 for a statement that only inserts. */
  readonly keyColumns: number
  readonly tail: string
}

/** A deferred write; with `insert` if it can be combined with others. */
export interface Write {
  readonly statement: SqlStatement
  readonly insert: Insert | undefined
}

const INSERT =
  /^(INSERT INTO \S+ \(([^)]*)\)) VALUES \([?, ]*\)(?: (ON CONFLICT \(([^)]*)\) DO UPDATE .*))?$/s

/** The parts of a statement of `upsertSql`, or of one that only inserts; `undefined` for other statements. Pure. */
export function insertOf(sql: string): Insert | undefined {
  const [, head, columns = '', tail = '', key] = INSERT.exec(sql) ?? []
  if (head === undefined) return undefined
  return { head, tail, columns: columns.split(',').length, keyColumns: key?.split(',').length ?? 0 }
}

/**
 * The statements of `writes`, with the same outcome: inserts into a table are combined, in their order, and of upserts
 * only the last row of each key is kept. Other writes are not reordered. Pure.
 */
export function groupedWrites(writes: readonly Write[]): readonly SqlStatement[] {
  const statements: SqlStatement[] = []
  let groups = new Map<string, { insert: Insert; rows: Map<string, SqlStatement> }>()
  const endGroups = (): void => {
    for (const { insert, rows } of groups.values()) statements.push(...combined(insert, [...rows.values()]))
    groups = new Map()
  }
  for (const { statement, insert } of writes) {
    if (insert === undefined) {
      endGroups()
      statements.push(statement)
      continue
    }
    const group = groups.get(statement.text) ?? { insert, rows: new Map() }
    groups.set(statement.text, group)
    const key = statement.values?.slice(0, insert.keyColumns)
    group.rows.set(insert.keyColumns === 0 ? String(group.rows.size) : JSON.stringify(key), statement)
  }
  endGroups()
  return statements
}

function* combined(insert: Insert, rows: readonly SqlStatement[]): Generator<SqlStatement> {
  let at = 0
  for (const size of GROUP_ROWS) {
    for (; rows.length - at >= size; at += size) {
      const values = rows.slice(at, at + size).flatMap((row) => row.values ?? [])
      yield { text: textOf(insert, size), values }
    }
  }
}

function textOf({ head, columns, tail }: Insert, rows: number): string {
  const row = (index: number): string =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(', ')})`
  return `${head} VALUES ${Array.from({ length: rows }, (_, index) => row(index)).join(', ')} ${tail}`.trimEnd()
}
