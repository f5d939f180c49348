import type { SqlValue } from '../connections/sql.ts'

/** Maximum number of surplus rows that one write deletes: more than it adds, so that a backlog shrinks. */
export const DELETED_AT_ONCE = 1_000

type Value = string | number | boolean | null | Buffer

/** A column to write: its name, its PostgreSQL type, and the field of its value in a row. */
export interface Column<Row> {
  readonly name: string
  readonly type: string
  readonly field: keyof Row
}

/** The columns of these fields of a row, whose names are those of the fields in snake case, by their types. Pure. */
export function columnsOf<Row>(
  types: {
    readonly [Field in keyof Row as Row[Field] extends Value ? Field : never]?: string
  },
): readonly Column<Row>[] {
  return Object.entries(types).map(([field, type]) => ({
    name: field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    type: String(type),
    // True because Object.entries gives the keys of `types`.
    field: field as keyof Row,
  }))
}

/** Assignments to all but the first of `columns`, from the row `source`. Pure. */
export function assignmentsFrom<Row>(source: 'excluded' | 'u', columns: readonly Column<Row>[]): string {
  return columns
    .slice(1)
    .map(({ name }) => `${name} = ${source}.${name}`)
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
    const lists = columns.map(({ type, field }) => {
      // True because columnsOf takes only fields with such values.
      const values = rows.map((row) => row[field] as Value)
      return `${this.add(values)}::${type}[]`
    })
    return `unnest(${lists.join(', ')}) WITH ORDINALITY AS u(${columns.map(({ name }) => name).join(', ')}, n)`
  }

  /** The part of a write that inserts `rows` into `table`, in their order. Columns of `own` have an SQL expression. */
  insert<Row>(
    table: string,
    { columns, rows, own = {} }: { columns: readonly Column<Row>[]; rows: readonly Row[]; own?: OwnColumns },
  ): string {
    const values = {
      ...own,
      ...Object.fromEntries(columns.map(({ name }) => [name, own[name] ?? `u.${name}`])),
    }
    return `INSERT INTO ${table} (${Object.keys(values).join(', ')}) SELECT ${Object.values(values).join(', ')}
      FROM o, ${this.table(columns, rows)} ORDER BY u.n`
  }
}

type OwnColumns = Readonly<Record<string, string>>

/** For tables with the rows of all organisations. */
export const OF_ORG: OwnColumns = { org_id: 'o.id' }

/** For tables of services. */
export const SERVICE_ID = columnsOf<{ readonly serviceId: string }>({ serviceId: 'uuid' })
