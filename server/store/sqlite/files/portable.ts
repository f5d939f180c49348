import type { Database } from 'better-sqlite3'
import {
  type Portable,
  type PortableRow,
  type PortableValue,
  RESULTS_PREFIX,
  type RowBatches,
  type TableColumns,
} from '../../portable.ts'
import { markMoved } from './movedMark.ts'
import { openDatabase } from './openDatabase.ts'

/** Bounds of a batch: rows, and characters or bytes. */
const BATCH_ROWS = 500
const BATCH_SIZE = 4 * 1024 * 1024

/** Mark of results whose definitions are not committed yet, among their facts. */
const UNFINISHED = 'unfinished move'

/** How a table is spelled here where that differs from the form that moves. */
interface Shape {
  /** Columns that other databases have not. */
  readonly own?: readonly string[]
  /** Columns of other databases, as expressions. */
  readonly extra?: Readonly<Record<string, string>>
  /** Statements that store a row, whose columns are named parameters; one INSERT when absent. */
  readonly inserts?: readonly string[]
}

const INCIDENT_COLUMNS = `position, id, org_id, kind, number, title, title_folded, display_id_folded, status, severity,
  created_at, updated_at, resolved_at, auto_managed, starts_at, ends_at`

const SHAPES: Readonly<Record<string, Shape>> = {
  incidents: {
    extra: {
      service_ids: `(SELECT json_group_array(service_id) FROM
        (SELECT service_id FROM incident_services WHERE incident_id = incidents.id ORDER BY place))`,
    },
    inserts: [
      `INSERT INTO incidents (${INCIDENT_COLUMNS}) VALUES (${INCIDENT_COLUMNS.replaceAll(/\w+/g, '@$&')})`,
      `INSERT INTO incident_services (incident_id, place, service_id, position, is_resolved)
       SELECT @id, key, value, iif(@kind = 'incident', @position, NULL), @kind = 'incident' AND @status = 'resolved'
       FROM json_each(@service_ids)`,
    ],
  },
  incident_updates: {
    extra: {
      actor_kind: '(SELECT actor_kind FROM incident_authors WHERE update_id = incident_updates.id)',
      actor: '(SELECT actor FROM incident_authors WHERE update_id = incident_updates.id)',
    },
    inserts: [
      `INSERT INTO incident_updates (incident_id, place, id, body, status_at_update, created_at, is_automatic)
       VALUES (@incident_id, @place, @id, @body, @status_at_update, @created_at, @is_automatic)`,
      'INSERT INTO incident_authors SELECT @id, @actor_kind, @actor WHERE @actor_kind IS NOT NULL',
    ],
  },
  remembered_creations: {
    own: ['long_bytes', 'number'],
    extra: { short_number: 'number' },
    inserts: [
      `INSERT INTO remembered_creations (org_id, key_hash, body_mark, answer, created_at_ms, number, long_bytes)
       VALUES (@org_id, @key_hash, @body_mark, @answer, @created_at_ms, @short_number,
         iif(@short_number IS NULL, octet_length(@answer), NULL))`,
    ],
  },
}

/**
 * Opens the database of `dataDir`, made when there is none, and the file of its results, to move them or to move into them.
 */
export async function openPortable(dataDir: string, resultsFile: string | null): Promise<Portable> {
  const { reader, writer } = await openDatabase(dataDir)
  reader.close()
  writer.exec('BEGIN IMMEDIATE')
  const results = resultsFile === null ? undefined : await openResultsOf(resultsFile)
  /** The database that has `table`, and its name there. */
  const find = (table: string): readonly [Database, string] =>
    results !== undefined && table.startsWith(RESULTS_PREFIX)
      ? [results, table.slice(RESULTS_PREFIX.length)]
      : [writer, table]
  const execute = (sqlOf: (name: string) => string, table: string): void => {
    const [database, name] = find(table)
    database.exec(sqlOf(name))
  }
  return {
    columns: async () =>
      new Map([
        ...columnsOf(writer, ''),
        ...(results === undefined ? [] : columnsOf(results, RESULTS_PREFIX)),
      ]),
    count: async (table, where = 'true') => {
      const [database, name] = find(table)
      return database.prepare<[], number>(`SELECT count(*) FROM ${name} WHERE ${where}`).pluck().get() ?? 0
    },
    exportRows: (table) => exportRows(...find(table.name), table),
    importRows: (table, rows) => importRows(...find(table.name), table, rows),
    clear: async (table) => execute((name) => `DELETE FROM ${name}`, table),
    createChunkTable: async (table) =>
      execute(
        (name) => `CREATE TABLE ${name} (place INTEGER PRIMARY KEY, results BLOB NOT NULL) STRICT`,
        table,
      ),
    // Triggers have counted the rows when they were stored.
    complete: async () => {},
    commit: async () => {
      results?.exec(`INSERT OR REPLACE INTO meta VALUES ('${UNFINISHED}', ''); COMMIT`)
      writer.exec('COMMIT')
      results?.exec(`DELETE FROM meta WHERE key = '${UNFINISHED}'`)
    },
    markMoved: async (place) => markMoved(dataDir, place),
    close: async () => {
      // Rolls back what was not committed.
      results?.close()
      writer.close()
    },
  }
}

/**
 * The results in `file`, in a transaction. Two files do not commit at once: results without their definitions, of a move that
 * was interrupted between both, are removed.
 */
async function openResultsOf(file: string): Promise<Database> {
  const { default: Sqlite } = await import('better-sqlite3')
  const results = new Sqlite(file)
  results.pragma('synchronous = FULL')
  results.exec('BEGIN IMMEDIATE')
  if (results.prepare('SELECT 1 FROM meta WHERE key = ?').get(UNFINISHED) === undefined) return results
  for (const table of tablesOf(results)) {
    const kept = table === 'meta' ? "WHERE key <> 'file id'" : ''
    results.exec(table.startsWith('chunks_') ? `DROP TABLE ${table}` : `DELETE FROM ${table} ${kept}`)
  }
  return results
}

function tablesOf(database: Database): readonly string[] {
  return database
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )
    .pluck()
    .all()
}

function columnsOf(database: Database, prefix: string): ReadonlyMap<string, readonly string[]> {
  const columns = database.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck()
  return new Map(
    tablesOf(database).map((table) => {
      const { own = [], extra = {} } = SHAPES[`${prefix}${table}`] ?? {}
      const shared = columns.all(table).filter((column) => !own.includes(column))
      return [`${prefix}${table}`, [...shared, ...Object.keys(extra)].sort()]
    }),
  )
}

async function* exportRows(
  database: Database,
  table: string,
  { name, columns, key, where = 'true' }: TableColumns,
): RowBatches {
  const { extra = {} } = SHAPES[name] ?? {}
  const values = columns.map((column) => extra[column] ?? column)
  const rows = database
    .prepare<[], PortableRow>(
      `SELECT ${values.join(', ')} FROM ${table} WHERE ${where} ORDER BY ${key.join(', ')}`,
    )
    .raw()
    .iterate()
  let batch: PortableRow[] = []
  let size = 0
  for (const stored of rows) {
    const row = stored.map(withoutNull)
    batch.push(row)
    for (const value of row) size += sizeOf(value)
    if (batch.length < BATCH_ROWS && size < BATCH_SIZE) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}

/** `value` without U+0000, which texts of release 0.1 may contain, and which PostgreSQL cannot store. Pure. */
function withoutNull(value: PortableValue): PortableValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

function sizeOf(value: PortableValue): number {
  return value === null || typeof value === 'number' ? 8 : value.length
}

async function importRows(
  database: Database,
  table: string,
  { name, columns }: TableColumns,
  rows: RowBatches,
): Promise<void> {
  const plain = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`
  const inserts = (SHAPES[name]?.inserts ?? [plain]).map((text) => database.prepare(text))
  for await (const batch of rows) {
    for (const row of batch) {
      const named = Object.fromEntries(columns.map((column, index) => [column, row[index]]))
      for (const insert of inserts) insert.run(named)
    }
  }
}
