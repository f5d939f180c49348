import type pg from 'pg'
import {
  type Portable,
  type PortableRow,
  type PortableValue,
  RESULTS_PREFIX,
  type RowBatches,
  type TableColumns,
} from '../portable.ts'

/** Rows per fetch: definitions have up to 1 MiB, most a few KiB. */
const FETCHED_ROWS = 200

/** Columns that only PostgreSQL stores have: `complete` computes them. */
const OWN_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  orgs: ['commands_made', 'past_bytes', 'short_answers_made', 'long_answer_bytes', 'revision'],
  remembered_creations: ['long_bytes_up_to'],
  audit: ['write_id'],
}

/** Column types of tables of packed results, which are created during the move. */
const CHUNK_TYPES: Readonly<Record<string, string>> = { place: 'bigint', results: 'bytea' }

/** Running totals of an organisation, computed from the rows that remain. */
const COMPLETE = `
UPDATE remembered_creations r SET long_bytes_up_to = summed.bytes FROM
  (SELECT org_id, key_hash, sum(octet_length(answer)) OVER
     (PARTITION BY org_id ORDER BY created_at_ms, key_hash ROWS UNBOUNDED PRECEDING) AS bytes
   FROM remembered_creations WHERE short_number IS NULL) summed
  WHERE r.org_id = summed.org_id AND r.key_hash = summed.key_hash;
UPDATE orgs o SET
  past_bytes = coalesce((SELECT max(bytes_up_to) FROM past_generations WHERE org_id = o.id), 0),
  short_answers_made = coalesce((SELECT max(short_number) FROM remembered_creations WHERE org_id = o.id), 0),
  long_answer_bytes = coalesce((SELECT max(long_bytes_up_to) FROM remembered_creations WHERE org_id = o.id), 0)`

/** Conversion of a column type from and to the portable form. */
interface Conversion {
  /** Element type of the array parameter. */
  readonly parameter: string
  readonly read: (column: string) => string
  readonly write: (value: string) => string
}

const unchanged = (parameter: string): Conversion => ({
  parameter,
  read: (column) => column,
  write: (value) => value,
})
const listOf = (type: 'uuid' | 'text'): Conversion => ({
  parameter: 'text',
  read: (column) => `array_to_json(${column})::text`,
  // NULL is not an empty list.
  write: (value) =>
    `CASE WHEN ${value} IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(${value}::json)::${type}) END`,
})

const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  text: unchanged('text'),
  integer: unchanged('integer'),
  bigint: unchanged('bigint'),
  smallint: unchanged('smallint'),
  bytea: unchanged('bytea'),
  uuid: { ...unchanged('uuid'), read: (column) => `${column}::text` },
  boolean: {
    parameter: 'integer',
    read: (column) => `${column}::integer`,
    write: (value) => `${value}::boolean`,
  },
  'uuid[]': listOf('uuid'),
  'text[]': listOf('text'),
}

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly isIdentity: boolean
}

/** What a database is opened for, and the schema of its results; without them when that is `null`. */
export interface PortableParts {
  readonly role: 'source' | 'target'
  readonly results: string | null
}

/**
 * The whole database, in one transaction on `client`, which has no other use. `other` is a second connection to the
 * database.
 */
export async function openPortable(
  client: pg.Client,
  other: pg.Client,
  { role, results }: PortableParts,
): Promise<Portable> {
  const isolation = role === 'source' ? 'REPEATABLE READ READ ONLY' : 'READ COMMITTED'
  await client.query(
    `SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL ${isolation}`,
  )
  const found = await readColumns(client, results)
  /** The table as statements name it. */
  const named = (table: string): string =>
    table.startsWith(RESULTS_PREFIX) ? `${results}.${table.slice(RESULTS_PREFIX.length)}` : table
  const conversionOf = (table: string, column: string): Conversion => {
    const type =
      found.find((each) => each.table === table && each.column === column)?.type ?? CHUNK_TYPES[column] ?? ''
    const conversion = CONVERSIONS[type]
    if (conversion === undefined)
      throw new Error(`${table}.${column} has the type ${type}, which does not move`)
    return conversion
  }
  return {
    columns: async () => columnsOf(found),
    count: async (table, where = 'true') => {
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::bigint AS count FROM ${named(table)} WHERE ${where}`,
      )
      return rows[0]?.count ?? 0
    },
    exportRows: (table) => exportRows(client, { ...table, named: named(table.name), conversionOf }),
    importRows: (table, rows) =>
      importRows(client, { ...table, named: named(table.name), conversionOf }, rows),
    clear: async (table) => {
      await client.query(`DELETE FROM ${named(table)}`)
    },
    createChunkTable: async (table) => {
      await client.query(`CREATE TABLE ${named(table)} (place bigint PRIMARY KEY, results bytea NOT NULL)`)
    },
    complete: async () => {
      await client.query(COMPLETE)
      for (const { table, column } of found.filter(({ isIdentity }) => isIdentity)) {
        await client.query(
          `SELECT setval(pg_get_serial_sequence('${named(table)}', '${column}'), max(${column})) FROM ${named(table)} HAVING max(${column}) IS NOT NULL`,
        )
      }
    },
    commit: async () => {
      await client.query('COMMIT')
    },
    markMoved: async (place) => {
      await other.query('DELETE FROM moved')
      if (place !== null) await other.query('INSERT INTO moved (place) VALUES ($1)', [place])
    },
    close: async () => {
      await Promise.all([client.end(), other.end()])
    },
  }
}

/** Of the store, and of its results behind their prefix. */
async function readColumns(client: pg.Client, results: string | null): Promise<readonly Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT CASE n.nspname WHEN $1 THEN $2 ELSE '' END || c.relname AS table, a.attname AS column,
       format_type(a.atttypid, NULL) AS type, a.attidentity <> '' AS "isIdentity"
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN (current_schema(), $1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname, a.attname COLLATE "C"`,
    [results, RESULTS_PREFIX],
  )
  return rows
}

function columnsOf(found: readonly Column[]): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, string[]>()
  for (const { table, column } of found) {
    const columns = tables.get(table) ?? []
    if (OWN_COLUMNS[table]?.includes(column) !== true) columns.push(column)
    tables.set(table, columns)
  }
  return new Map([...tables].map(([table, columns]) => [table, columns.sort()]))
}

type ConversionOf = (table: string, column: string) => Conversion

/** A table with its name in statements, and the conversions of its columns. */
interface Converted extends TableColumns {
  readonly named: string
  readonly conversionOf: ConversionOf
}

async function* exportRows(
  client: pg.Client,
  { name, named, columns, key, where = 'true', conversionOf }: Converted,
): RowBatches {
  const values = columns.map((column) => conversionOf(name, column).read(column))
  const order = key.map((column) =>
    conversionOf(name, column).parameter === 'text' ? `${column} COLLATE "C"` : column,
  )
  await client.query(
    `DECLARE moving NO SCROLL CURSOR FOR SELECT ${values.join(', ')} FROM ${named} WHERE ${where} ORDER BY ${order.join(', ')}`,
  )
  for (;;) {
    const { rows } = await client.query<PortableValue[]>({
      text: `FETCH ${FETCHED_ROWS} FROM moving`,
      rowMode: 'array',
    })
    if (rows.length === 0) break
    yield rows
  }
  await client.query('CLOSE moving')
}

async function importRows(
  client: pg.Client,
  { name, named, columns, conversionOf }: Converted,
  rows: RowBatches,
): Promise<void> {
  const conversions = columns.map((column) => conversionOf(name, column))
  const types = conversions.map(({ parameter }, index) => `$${index + 1}::${parameter}[]`)
  const values = columns.map((column, index) => conversions[index]?.write(`u.${column}`))
  const text = `INSERT INTO ${named} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${values.join(', ')} FROM unnest(${types.join(', ')}) AS u (${columns.join(', ')})`
  for await (const batch of rows) {
    const parameters = columns.map((_, index) => batch.map((row: PortableRow) => row[index]))
    await client.query({ name: `import_${name}`, text, values: parameters })
  }
}
