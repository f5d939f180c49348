import { Client, Pool, type PoolClient } from 'pg'
import type { OutageListener } from '../../store.ts'
import { Circuit } from './circuit.ts'
import { DatabaseDisk } from './databaseDisk.ts'
import { connectionError, isLost, NotSent, Retries } from './failures.ts'
import { type Sql, type SqlValue, sqlOf, TYPES } from './sql.ts'

/**
 * Connections of a process. Mutations of an organisation use one writer at a time. Admission has connections of its
 * own, so that requests are admitted while mutations wait for locks.
 */
const WRITERS_MAX = 8
const READERS_MAX = 6
const ADMISSION_MAX = 4
const LONG_READERS_MAX = 2

/** Maximum wait for a connection, new or pooled (milliseconds). */
const CONNECT_MS_MAX = 2_000
/** Maximum wait for the response to a statement (milliseconds): longer than statement_timeout. */
const RESPONSE_MS_MAX = 6_000
/** Maximum number of requests that wait for a connection: more would time out. */
const WAITING_MAX = 1_000

/** Timeouts of a session, so that no statement and no lock outlives its request. */
const SESSION_SETTINGS = [
  "SET statement_timeout = '5s'",
  "SET lock_timeout = '2s'",
  "SET idle_in_transaction_session_timeout = '5s'",
  // Every statement is by key: planning each for its values would cost a quarter of a create.
  'SET plan_cache_mode = force_generic_plan',
  "SET client_encoding = 'UTF8'",
].join('; ')

/** A client reads a snapshot at its own pace. */
const LONG_SETTINGS = `${SESSION_SETTINGS}; SET idle_in_transaction_session_timeout = '10min'`

/** Connections to one database. */
export interface Pools {
  /** Statements that write, each in its own transaction. */
  readonly write: Sql
  /** As `write`, repeated when the connection was lost: for statements that may be executed twice. */
  readonly writeRepeatedly: Sql
  /** Repeats a statement whose connection was lost. */
  readonly read: Sql
  /** As `read`, for statements that may be executed twice. */
  readonly admission: Sql
  /** Runs `work` in a transaction, on a connection of the writers. */
  readonly inTransaction: <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>
  /** A connection for a snapshot; the caller releases it. */
  readonly longReader: () => Promise<PoolClient>
  /** See `UpkeepStore.onOutage`. */
  readonly onOutage: (listener: OutageListener) => void
  /** See `UpkeepStore.assertDiskSpace`. */
  readonly assertDiskSpace: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Pools of the database at `url`, which connect on demand. `nowMs` is a monotonic clock. */
export function openPools(url: string, nowMs: () => number): Pools {
  const listeners: OutageListener[] = []
  const circuit = new Circuit({
    nowMs,
    probe: () => probe(url),
    onEnd: () => {
      for (const listener of listeners) listener(null)
    },
    onOpen: (error) => {
      for (const listener of listeners) listener(errorOf(error).message)
      for (const pool of pools) pool.renew()
      // A client may take long to read a snapshot, and its connection may be alive.
      for (const pool of [writers, readers, admission]) pool.dropConnectionsInUse()
    },
  })
  const disk = new DatabaseDisk()
  const parts = { url, circuit, disk, nowMs }
  const writers = new WatchedPool({ ...parts, max: WRITERS_MAX, settings: SESSION_SETTINGS })
  const readers = new WatchedPool({ ...parts, max: READERS_MAX, settings: SESSION_SETTINGS })
  const admission = new WatchedPool({ ...parts, max: ADMISSION_MAX, settings: SESSION_SETTINGS })
  const longReaders = new WatchedPool({ ...parts, max: LONG_READERS_MAX, settings: LONG_SETTINGS })
  const pools = [writers, readers, admission, longReaders]
  return {
    write: writers.sql,
    writeRepeatedly: repeating(writers.sql, nowMs),
    read: repeating(readers.sql, nowMs),
    admission: repeating(admission.sql, nowMs),
    inTransaction: (work) => inTransaction(writers, work),
    assertDiskSpace: () => disk.assertSpace((work) => inTransaction(writers, work)),
    longReader: () => longReaders.connect(),
    onOutage: (listener) => listeners.push(listener),
    close: async () => {
      circuit.stop()
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

interface PoolParts {
  readonly url: string
  readonly max: number
  /** Statements that start a session. */
  readonly settings: string
  readonly circuit: Circuit
  readonly disk: DatabaseDisk
  readonly nowMs: () => number
}

/** A pool that reports successes and losses to a circuit breaker. */
class WatchedPool {
  readonly #parts: PoolParts
  #pool: Pool
  readonly #inUse = new Set<PoolClient>()
  readonly #ended: Promise<void>[] = []

  constructor(parts: PoolParts) {
    this.#parts = parts
    this.#pool = this.#open()
  }

  /** Statements, each on the next free connection. */
  readonly sql: Sql = {
    rows: async <Row extends object>(text: string, values?: readonly SqlValue[]) => {
      const client = await this.connect()
      return await released(client, this.#watched(sqlOf(client).rows<Row>(text, values)))
    },
  }

  /** The next free connection. Rejects with NotSent when there is none in time. */
  async connect(): Promise<PoolClient> {
    this.#parts.circuit.assertSendable()
    if (this.#pool.waitingCount >= WAITING_MAX) throw new Error('too many requests wait for the database')
    const begunAtMs = this.#parts.nowMs()
    const isFull = this.#pool.totalCount >= this.#parts.max
    try {
      return await this.#pool.connect()
    } catch (caught) {
      const error = connectionError(caught)
      // A full pool says nothing about the database.
      if (!isFull) this.#parts.circuit.lost(begunAtMs, error)
      throw new NotSent(error)
    }
  }

  /** See `DatabaseDisk.noticed`. */
  noticed(error: unknown): unknown {
    return this.#parts.disk.noticed(error)
  }

  /** Replaces all connections: after an outage, old ones may be dead without a sign. */
  renew(): void {
    this.#ended.push(this.#pool.end())
    this.#pool = this.#open()
  }

  /** Ends statements under way as lost, which would otherwise wait for their own timeouts. */
  dropConnectionsInUse(): void {
    // With a statement under way, this closes the socket.
    for (const client of this.#inUse) void client.end().catch(() => {})
  }

  #open(): Pool {
    const pool = poolOf(this.#parts)
    pool.on('acquire', (client) => this.#inUse.add(client))
    pool.on('release', (_, client) => this.#inUse.delete(client))
    return pool
  }

  async end(): Promise<void> {
    await Promise.all([...this.#ended, this.#pool.end()])
  }

  async #watched<Result>(pending: Promise<Result>): Promise<Result> {
    const { circuit, disk, nowMs } = this.#parts
    const begunAtMs = nowMs()
    try {
      const result = await pending
      circuit.responded()
      return result
    } catch (error) {
      if (isLost(error)) circuit.lost(begunAtMs, error)
      else circuit.responded()
      throw disk.noticed(error)
    }
  }
}

function poolOf({ url, max, settings }: PoolParts): Pool {
  const pool = new Pool({
    connectionString: url,
    max,
    types: TYPES,
    application_name: 'pharos-server',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: RESPONSE_MS_MAX,
    keepAlive: true,
    // Sent before the connection is used: otherwise its first statement would run without timeouts.
    verify: (client, done) => {
      client.query(settings).then(
        () => done(),
        (error: unknown) => done(errorOf(error)),
      )
    },
  })
  // An idle connection that ends is replaced on demand; on a busy one the statement reports the error.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Resolves when the database at `url` responds on a new connection. */
async function probe(url: string): Promise<void> {
  const bounds = { connectionTimeoutMillis: CONNECT_MS_MAX, query_timeout: CONNECT_MS_MAX }
  const client = new Client({ connectionString: url, application_name: 'pharos-server', ...bounds })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
  } catch (error) {
    throw connectionError(error)
  } finally {
    // Not awaited: a connection whose peer does not respond never ends.
    void client.end().catch(() => {})
  }
}

/** The result of `work` on `client`, which then returns to its pool, or is closed if it was lost. */
async function released<Result>(client: PoolClient, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work
    client.release()
    return result
  } catch (error) {
    client.release(isLost(error) ? errorOf(error) : undefined)
    throw error
  }
}

/** Statements of `sql`, retried while connections are lost. */
function repeating(sql: Sql, nowMs: () => number): Sql {
  return {
    rows: async (text, values) => {
      const retries = new Retries(nowMs)
      for (;;) {
        try {
          return await sql.rows(text, values)
        } catch (error) {
          if (!(await retries.shouldRetry(error))) throw error
        }
      }
    },
  }
}

async function inTransaction<Result>(
  pool: WatchedPool,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  const run = async (): Promise<Result> => {
    await client.query('BEGIN')
    const result = await work(sqlOf(client))
    await client.query('COMMIT')
    return result
  }
  try {
    const result = await run()
    client.release()
    return result
  } catch (error) {
    // A connection that is lost or cannot roll back is closed, which rolls back too.
    const failure = isLost(error)
      ? errorOf(error)
      : await client.query('ROLLBACK').then(() => undefined, errorOf)
    client.release(failure)
    throw pool.noticed(error)
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
