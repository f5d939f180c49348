import type { LinkStatement } from '../../store/postgres/waiting/linkMessages.ts'

/** Rows of one statement; few sizes, because each is prepared. */
const GROUP_ROWS = [100, 50, 10, 1]

/** A statement that inserts or replaces a row, in its parts. */
export interface Replacing {
  /** What precedes the values. */
  readonly head: string
  readonly columns: number
  /** How many of the first columns are the key. */
  readonly keyColumns: number
  readonly tail: string
}

/** A write that waits; `replacing` when it is of that kind. */
export interface Write {
  readonly statement: LinkStatement
  readonly replacing: Replacing | undefined
}

const REPLACE = /^(INSERT INTO \S+ \(([^)]*)\)) VALUES \([?, ]*\) (ON CONFLICT \(([^)]*)\) DO UPDATE .*)$/s

/** The parts of what `replaceSql` gave; `undefined` for another statement. Pure. */
export function replacingOf(sql: string): Replacing | undefined {
  const [, head, columns = '', tail, key = ''] = REPLACE.exec(sql) ?? []
  if (head === undefined || tail === undefined) return undefined
  return { head, tail, columns: columns.split(',').length, keyColumns: key.split(',').length }
}

/**
 * The statements of `writes`, in an order with the same outcome: rows that replace others of their tables go together, the last
 * one of each key. Other writes stay where they are among them. Pure.
 */
export function groupedWrites(writes: readonly Write[]): readonly LinkStatement[] {
  const statements: LinkStatement[] = []
  let groups = new Map<string, { replacing: Replacing; rows: Map<string, LinkStatement> }>()
  const endGroups = (): void => {
    for (const { replacing, rows } of groups.values())
      statements.push(...together(replacing, [...rows.values()]))
    groups = new Map()
  }
  for (const { statement, replacing } of writes) {
    if (replacing === undefined) {
      endGroups()
      statements.push(statement)
      continue
    }
    const group = groups.get(statement.text) ?? { replacing, rows: new Map() }
    groups.set(statement.text, group)
    group.rows.set(JSON.stringify(statement.values?.slice(0, replacing.keyColumns)), statement)
  }
  endGroups()
  return statements
}

function* together(replacing: Replacing, rows: readonly LinkStatement[]): Generator<LinkStatement> {
  let at = 0
  for (const size of GROUP_ROWS) {
    for (; rows.length - at >= size; at += size) {
      const values = rows.slice(at, at + size).flatMap((row) => row.values ?? [])
      yield { text: textOf(replacing, size), values }
    }
  }
}

function textOf({ head, columns, tail }: Replacing, rows: number): string {
  const row = (index: number): string =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(', ')})`
  return `${head} VALUES ${Array.from({ length: rows }, (_, index) => row(index)).join(', ')} ${tail}`
}
