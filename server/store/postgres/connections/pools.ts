import pg from 'pg'
import { type Sql, sqlOf, TYPES } from './sql.ts'

/** Connections of a process: for statements of mutations, for reads, and for lists too long for memory. */
const WRITERS_MAX = 8
const READERS_MAX = 8
const LONG_READERS_MAX = 2

/** Longest wait for a connection, a new one or one in use (milliseconds). */
const CONNECT_MS_MAX = 2_000
/** Longest wait for the answer to a statement: longer than the server lets one run (milliseconds). */
const ANSWER_MS_MAX = 6_000
/** Most requests that wait for a connection: more could not be answered in time. */
const WAITING_MAX = 1_000

/** Bounds of a session, so that no statement and no lock outlives its request. */
const SESSION_SETTINGS = [
  "SET statement_timeout = '5s'",
  "SET lock_timeout = '2s'",
  "SET idle_in_transaction_session_timeout = '5s'",
  // Every statement is by key: planning each for its values would cost a quarter of a create.
  'SET plan_cache_mode = force_generic_plan',
  "SET client_encoding = 'UTF8'",
].join('; ')

/** A snapshot is read at the pace of its client. */
const LONG_SETTINGS = `${SESSION_SETTINGS}; SET idle_in_transaction_session_timeout = '10min'`

/** Connections to one database. */
export interface Pools {
  /** A statement that writes: it is a transaction of its own. */
  readonly write: Sql
  readonly read: Sql
  /** Runs `work` in a transaction of the writers. */
  readonly inTransaction: <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>
  /** A connection for a snapshot; the caller releases it. */
  readonly longReader: () => Promise<pg.PoolClient>
  readonly close: () => Promise<void>
}

/** Connects to the database at `url`; connections are made when they are needed. */
export function openPools(url: string): Pools {
  const writers = poolOf(url, WRITERS_MAX, SESSION_SETTINGS)
  const readers = poolOf(url, READERS_MAX, SESSION_SETTINGS)
  const longReaders = poolOf(url, LONG_READERS_MAX, LONG_SETTINGS)
  return {
    write: boundedSql(writers),
    read: boundedSql(readers),
    inTransaction: (work) => inTransaction(writers, work),
    longReader: () => longReaders.connect(),
    close: async () => {
      await Promise.all([writers.end(), readers.end(), longReaders.end()])
    },
  }
}

function poolOf(url: string, max: number, settings: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types: TYPES,
    application_name: 'pharos-server',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    // Sent before the connection is given to anybody: a statement without bounds would be the first one.
    verify: (client, done) => {
      client.query(settings).then(
        () => done(),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      )
    },
  })
  // An unused connection that ends is replaced when it is needed.
  pool.on('error', () => {})
  return pool
}

function boundedSql(pool: pg.Pool): Sql {
  const sql = sqlOf(pool)
  return {
    rows: async (text, values) => {
      if (pool.waitingCount >= WAITING_MAX) throw new Error('too many requests wait for the database')
      return await sql.rows(text, values)
    },
  }
}

async function inTransaction<Result>(pool: pg.Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(sqlOf(client))
    await client.query('COMMIT')
    return result
  } catch (error) {
    // A connection that cannot roll back is closed, which does the same.
    failure = await client.query('ROLLBACK').then(
      () => undefined,
      (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason))),
    )
    throw error
  } finally {
    client.release(failure)
  }
}
