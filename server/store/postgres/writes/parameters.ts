import type { SqlValue } from '../connections/sql.ts'

/** Maximum number of surplus rows that one write deletes: more than it adds, so that a backlog shrinks. */
export const DELETED_AT_ONCE = 1_000

/** A column to write, with its PostgreSQL type. */
export type Column = readonly [name: string, type: string]

/** The names of `columns` for a statement, each after `prefix`. Pure. */
export function namesOf(columns: readonly Column[], prefix = ''): string {
  return columns.map(([name]) => `${prefix}${name}`).join(', ')
}

/** Assignments to all but the first of `columns`, from the row `source`. Pure. */
export function assignmentsFrom(source: 'excluded' | 'u', columns: readonly Column[]): string {
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
