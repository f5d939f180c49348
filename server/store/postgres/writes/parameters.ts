import type { SqlValue } from '../connections/sql.ts'

/** Most rows of a kind that one write deletes, more than it adds: a backlog is deleted little by little. */
export const FORGOTTEN_AT_ONCE = 1_000

/** A column of rows to be written, and its type in PostgreSQL. */
export type Column = readonly [name: string, type: string]

/** Collects the values of a statement and the names of its parameters. */
export class Parameters {
  readonly values: SqlValue[] = []

  add(value: SqlValue): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** The table `u` of `rows`, with their order as `u.n`; a list of columns is one parameter, whatever the number of rows. */
  table(
    columns: readonly Column[],
    rows: readonly (readonly (string | number | boolean | null | Buffer)[])[],
  ): string {
    const lists = columns.map(
      ([, type], index) => `${this.add(rows.map((row) => row[index] ?? null))}::${type}[]`,
    )
    return `unnest(${lists.join(', ')}) WITH ORDINALITY AS u(${columns.map(([name]) => name).join(', ')}, n)`
  }
}
