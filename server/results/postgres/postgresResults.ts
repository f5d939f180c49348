import { BlockingClient, ConnectionLostError } from '../../store/postgres/blocking/blockingClient.ts'
import type { SqlResult, SqlStatement } from '../../store/postgres/blocking/clientMessages.ts'
import type { LeaseRow } from '../../store/store.ts'
import type { ResultsDatabase, ResultsStatement } from '../database/resultsDatabase.ts'
import { groupedWrites, insertOf, type Write } from './groupedWrites.ts'
import { migrateResults, RESULTS_TABLES } from './migrateResults.ts'

/** `application_name` of connections for results. */
const APPLICATION_NAME = 'pharos-server results'
/** How long the list of tables is cached (milliseconds): other processes create and drop tables. */
const TABLES_CACHED_MS = 5_000
/** Maximum number of deferred writes. */
const WAITING_WRITES_MAX = 1_000

/**
 * Returns the row of the lease `$1` if `$2` holds it, and locks it, so that its holder does not change before the end of
 * the transaction. Renewals do not wait for this lock.
 */
export const LOCK_LEASE = 'SELECT name FROM leases WHERE name = $1 AND holder = $2 FOR KEY SHARE'

/** Another process stores the results now. */
export class ResultsTakenError extends Error {}

/** Options for opening results. */
export interface PostgresResultsParts {
  readonly url: string
  /** The lease that writes require; `null` for none. */
  readonly lease: LeaseRow | null
}

type Value = string | number | null | Buffer
type Columns = SqlResult['rows'][number]

/** A deferred write. */
interface WaitingWrite extends Write {
  /** Number of changed rows, once it was sent. */
  changes: number | undefined
}

/** Opens the results in the PostgreSQL database at `url`, and creates their schema when absent. */
export function openPostgresResults({ url, lease }: PostgresResultsParts): ResultsDatabase {
  return openResultsOn(new BlockingClient(url, APPLICATION_NAME), lease)
}

/** Opens the results on `client`, like openPostgresResults; closing them closes it. */
export function openResultsOn(client: BlockingClient, lease: LeaseRow | null): ResultsDatabase {
  try {
    return new PostgresResults(client, lease, migrateResults(client)).database
  } catch (error) {
    client.close()
    throw error
  }
}

/** Makes or migrates the schema of results in the PostgreSQL database at `url`; its name. */
export function prepareSchema(url: string): string {
  const client = new BlockingClient(url, APPLICATION_NAME)
  try {
    return migrateResults(client)
  } finally {
    client.close()
  }
}

/**
 * Results in PostgreSQL, in their own schema. Within a transaction, writes are deferred and sent with the next read or
 * the commit: most transactions take two round trips.
 */
class PostgresResults {
  readonly #client: BlockingClient
  readonly #lease: PostgresResultsParts['lease']
  readonly #schema: string
  readonly #writes: WaitingWrite[] = []
  #isInTransaction = false
  #schemaVersion = 0
  #tables: { readonly names: readonly string[]; readonly untilMs: number } | undefined

  constructor(client: BlockingClient, lease: PostgresResultsParts['lease'], schema: string) {
    this.#client = client
    this.#lease = lease
    this.#schema = schema
  }

  get database(): ResultsDatabase {
    return {
      prepare: ((sql: string) => this.#prepare(sql)) as ResultsDatabase['prepare'],
      exec: (sql) => {
        this.#execute({ text: this.#qualified(sql) })
        this.#forgetTables()
      },
      transact: (work) => this.#transact('BEGIN', work),
      onSnapshot: (work) => this.#transact('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
      insertNew: (table, columns, otherTable) => this.#prepareInsert(table, columns, otherTable),
      createChunkTable: (name) => {
        this.#execute({
          text: `CREATE TABLE ${this.#schema}.${name} (place bigint PRIMARY KEY, results bytea NOT NULL)`,
        })
        this.#forgetTables()
      },
      chunksAt: (table, places) => {
        const text = `SELECT place, results FROM ${this.#schema}.${table} WHERE place = ANY ($1::bigint[])`
        const values = [
          bigintArray(
            places.map((place) => [place]),
            0,
          ),
        ]
        return this.#execute({ text, values }).rows.map(({ place, results }) => ({
          place: Number(place),
          // True because of the type of the column.
          results: bytesAsBuffer(results) as Buffer,
        }))
      },
      tablesWith: (prefix) => this.#tableNames().filter((name) => name.startsWith(prefix)),
      schemaVersion: () => {
        this.#tableNames()
        return this.#schemaVersion
      },
      keyOf: (table) => this.#prepare<string>(KEY_OF).pluck().all(`${this.#schema}.${table}`),
      close: () => this.#client.close(),
    }
  }

  #prepare<Row>(sql: string): ResultsStatement<readonly unknown[], Row> {
    const { text, valuesOf } = numbered(this.#qualified(sql))
    const insert = insertOf(this.#qualified(sql))
    const rowsOf = (given: readonly unknown[]) => this.#execute({ text, values: valuesOf(given) }).rows
    // True because the caller names the row of its own statement.
    const statement = (read: (row: Columns) => unknown): ResultsStatement<readonly unknown[], Row> => ({
      get: (...given) => rowsOf(given).slice(0, 1).map(read)[0] as Row | undefined,
      all: (...given) => rowsOf(given).map(read) as Row[],
      run: (...given) => this.#write({ statement: { text, values: valuesOf(given) }, insert }),
      pluck: () => statement((row) => bytesAsBuffer(Object.values(row)[0])),
    })
    return statement((row) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, bytesAsBuffer(value)])),
    )
  }

  #prepareInsert(table: string, columns: readonly string[], otherTable: string | undefined) {
    const names = columns.join(', ')
    const arrays = columns.map((_, index) => `$${index + 1}::bigint[]`)
    const unlessInOther =
      otherTable === undefined
        ? ''
        : `WHERE NOT EXISTS (SELECT 1 FROM ${this.#schema}.${otherTable} AS other
             WHERE other.due_s = given.due_s AND other.series = given.series)`
    // Nearly always all rows are new, and a list of them would cost as much as a fifth of the insert.
    const text = `WITH inserted AS (
        INSERT INTO ${this.#schema}.${table} (${names})
        SELECT * FROM unnest(${arrays.join(', ')}) AS given (${names}) ${unlessInOther}
        ON CONFLICT DO NOTHING RETURNING series, due_s)
      SELECT CASE WHEN (SELECT count(*) FROM inserted) < cardinality(${arrays[0]})
        THEN ARRAY(SELECT series || ' ' || due_s FROM inserted) END AS keys`
    const places = [columns.indexOf('series'), columns.indexOf('due_s')] as const
    return (rows: readonly (readonly number[])[]): readonly boolean[] => {
      if (rows.length === 0) return []
      const values = columns.map((_, column) => bigintArray(rows, column))
      // True because of the column in the statement.
      const keys = this.#execute({ text, values }).rows[0]?.keys as readonly string[] | null | undefined
      if (keys == null) return rows.map(() => true)
      const isNew = new Set(keys)
      // Of two equal rows in one call, the first is new.
      return rows.map((row) => isNew.delete(`${row[places[0]]} ${row[places[1]]}`))
    }
  }

  /** `sql` with qualified table names: behind a pooler, a connection cannot set its search_path. */
  #qualified(sql: string): string {
    return sql.replace(
      /\b(FROM|JOIN|INTO|UPDATE|TABLE) ([a-z][a-z_0-9]*)\b/g,
      (whole, word: string, name: string) =>
        RESULTS_TABLES.has(name) || name.startsWith('chunks_') ? `${word} ${this.#schema}.${name}` : whole,
    )
  }

  /** Executes `statement` after the deferred writes. */
  #execute(statement: SqlStatement): SqlResult {
    const results = this.#send([statement])
    return results[0] ?? { rows: [], changes: 0 }
  }

  /** Sends the deferred writes, then `statements`; returns the results of `statements`. */
  #send(statements: readonly SqlStatement[]): readonly SqlResult[] {
    const writes = this.#writes.splice(0)
    if (writes.length + statements.length === 0) return []
    const grouped = groupedWrites(writes)
    const results = this.#client.execute([...grouped, ...statements])
    const changesOf = new Map(grouped.map((statement, index) => [statement, results[index]?.changes]))
    // A combined insert changes one row.
    for (const write of writes) write.changes = changesOf.get(write.statement) ?? 1
    return results.slice(grouped.length)
  }

  #write(write: Write): { readonly changes: number } {
    if (!this.#isInTransaction) return this.#execute(write.statement)
    const waiting: WaitingWrite = { ...write, changes: undefined }
    this.#writes.push(waiting)
    if (this.#writes.length >= WAITING_WRITES_MAX) this.#send([])
    const flush = () => this.#send([])
    return {
      get changes() {
        if (waiting.changes === undefined) flush()
        return waiting.changes ?? 0
      },
    }
  }

  #transact<Result>(begin: string, work: () => Result): Result {
    const isWriting = begin === 'BEGIN'
    try {
      const held = this.#send([{ text: begin }, ...(isWriting ? this.#leaseCheck() : [])])
      if (isWriting && this.#lease !== null && held[1]?.rows.length !== 1) {
        throw new ResultsTakenError('another process stores the results')
      }
      this.#isInTransaction = true
      const result = work()
      this.#send([{ text: 'COMMIT' }])
      return result
    } catch (error) {
      this.#writes.splice(0)
      this.#forgetTables()
      if (!(error instanceof ConnectionLostError)) this.#client.execute([{ text: 'ROLLBACK' }])
      throw error
    } finally {
      this.#isInTransaction = false
    }
  }

  #leaseCheck(): readonly SqlStatement[] {
    if (this.#lease === null) return []
    const { name, holder } = this.#lease
    return [{ text: LOCK_LEASE, values: [name, holder] }]
  }

  #forgetTables(): void {
    this.#tables = undefined
  }

  #tableNames(): readonly string[] {
    const nowMs = performance.now()
    if (this.#tables !== undefined && nowMs < this.#tables.untilMs) return this.#tables.names
    const names = this.#prepare<string>(TABLES).pluck().all(this.#schema)
    if (names.join() !== this.#tables?.names.join()) this.#schemaVersion += 1
    this.#tables = { names, untilMs: nowMs + TABLES_CACHED_MS }
    return names
  }
}

const TABLES = `SELECT relname AS name FROM pg_class
  WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?) ORDER BY 1`
const KEY_OF = `SELECT a.attname AS name FROM pg_index i
  CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
  WHERE i.indisprimary AND i.indrelid = to_regclass(?) ORDER BY k.place`

function bytesAsBuffer(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value
}

/** A column of `rows` in PostgreSQL's binary form of bigint[], twice as fast as text. Pure. */
function bigintArray(rows: readonly (readonly number[])[], column: number): Buffer {
  const bytes = Buffer.allocUnsafe(20 + 12 * rows.length)
  // Header: one dimension, no nulls, element type 20, number of elements, index of the first.
  for (const [index, value] of [1, 0, 20, rows.length, 1].entries()) bytes.writeInt32BE(value, 4 * index)
  let at = 20
  for (const row of rows) {
    const value = row[column] ?? 0
    bytes.writeInt32BE(8, at)
    const high = Math.floor(value / 2 ** 32)
    bytes.writeInt32BE(high, at + 4)
    bytes.writeUInt32BE(value - high * 2 ** 32, at + 8)
    at += 12
  }
  return bytes
}

/** `sql` with numbered parameters, and a function that orders the given values. Pure. */
function numbered(sql: string): {
  readonly text: string
  readonly valuesOf: (given: readonly unknown[]) => readonly Value[]
} {
  const names: string[] = []
  const text = sql.replace(/\?|@([A-Za-z]+)/g, (_, name: string | undefined) => {
    const known = name === undefined ? -1 : names.indexOf(name)
    return `$${known === -1 ? names.push(name ?? '') : known + 1}`
  })
  const isNamed = names.some((name) => name !== '')
  // True because callers pass only values that SQLite accepts too.
  const valuesOf = (given: readonly unknown[]) =>
    (isNamed
      ? names.map((name) => (given[0] as Record<string, Value>)[name] ?? null)
      : given) as readonly Value[]
  return { text, valuesOf }
}
