import type { SqlValue } from '../connections/sql.ts'

/** Maximum number of surplus rows that one write deletes: more than it adds, so that a backlog shrinks. */
export const DELETED_AT_ONCE = 1_000

type Value = string | number | boolean | null | Buffer

/** A column to write: its name, its PostgreSQL type, and its value in a row. */
export type Column<Row> = readonly [name: string, type: string, pick: (row: Row) => Value]

/** Assignments to all but the first of `columns`, from the row `source`. Pure. */
export function assignmentsFrom<Row>(source: 'excluded' | 'u', columns: readonly Column<Row>[]): string {
  return columns
    .slice(1)
    .map(([name]) => `${name} = ${source}.${name}`)
    .join(', ')
}

/** Collects the values of a statement and the names of its parameters. */
export class Parameters {
  readonly values: SqlValue[] = []

  add(value: SqlValue): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /**
   * The table `u` of `rows`, with their order as `u.n`. Each column is one array parameter, so the text does not depend
   * on the number of rows.
   */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
    const lists = columns.map(([, type, pick]) => `${this.add(rows.map(pick))}::${type}[]`)
    return `unnest(${lists.join(', ')}) WITH ORDINALITY AS u(${columns.map(([name]) => name).join(', ')}, n)`
  }

  /** The part of a write that inserts `rows` into `table`, in their order. Columns of `own` have an SQL expression. */
  insert<Row>(
    table: string,
    { columns, rows, own = {} }: { columns: readonly Column<Row>[]; rows: readonly Row[]; own?: OwnColumns },
  ): string {
    const values = {
      ...own,
      ...Object.fromEntries(columns.map(([name]) => [name, own[name] ?? `u.${name}`])),
    }
    return `INSERT INTO ${table} (${Object.keys(values).join(', ')}) SELECT ${Object.values(values).join(', ')}
      FROM o, ${this.table(columns, rows)} ORDER BY u.n`
  }
}

type OwnColumns = Readonly<Record<string, string>>

/** For tables with the rows of all organisations. */
export const OF_ORG: OwnColumns = { org_id: 'o.id' }

/** For tables of services: their rows are ids. */
export const SERVICE_ID: readonly Column<string>[] = [['service_id', 'uuid', (id) => id]]
