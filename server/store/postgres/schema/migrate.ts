import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { sqlStateOf } from '../connections/failures.ts'
import { TYPES } from '../connections/sql.ts'
import { COMPATIBLE_FROM, MIGRATIONS } from './migrations.ts'

/** Longest wait for a lock of one step (milliseconds): statements queue behind a step that waits. */
const LOCK_MS_MAX = 2_000
/** Pause after a step that met a lock, in which the statements behind it pass (milliseconds). */
const LOCK_PAUSE_MS = 2_000
/** Longest wait for another program's migration, and for the locks of one step (milliseconds). */
const TURN_MS_MAX = 60_000
/** SQLSTATE of a lock that was not had in time. */
const LOCK_NOT_AVAILABLE = '55P03'
const CONNECT_MS_MAX = 5_000

/** The two halves of the number of an advisory lock of Pharos: which of them. */
export const ADVISORY_LOCKS = { space: 0x50_48, migration: 1, rotation: 2 } as const

/** The steps to a schema, and the oldest number of them with which a program can use it. */
export interface Schema {
  readonly steps: readonly string[]
  readonly compatibleFrom: number
}

const NEWEST: Schema = { steps: MIGRATIONS, compatibleFrom: COMPATIBLE_FROM }

/** The steps that were taken in a database, and the oldest number of them that a program may know and still use it. */
export interface Version {
  readonly version: number
  readonly compatibleFrom: number
}

/** How connections of Pharos are called among those of a database. */
export const APPLICATION_NAME = 'pharos-server'

/** Connects to the database at `url`. */
export async function connect(url: string, applicationName = APPLICATION_NAME): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    types: TYPES,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    application_name: applicationName,
  })
  // Its statements report an end of the connection.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Runs `work` on a connection of its own to the database at `url`. */
export async function withConnection<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect(url)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** A query for the Version of a migrated database. */
export const VERSION_QUERY = 'SELECT version, compatible_from AS "compatibleFrom" FROM meta'

/** The schema of the database at `url`; `undefined` for one without tables of ours. */
export async function schemaOf(client: pg.Client): Promise<Version | undefined> {
  const { rows: tables } = await client.query<{ found: string | null }>("SELECT to_regclass('meta') AS found")
  if (tables[0]?.found == null) return undefined
  const { rows } = await client.query<Version>(VERSION_QUERY)
  return rows[0]
}

/**
 * Migrates the database of `client` to `schema`, the newest when absent, one transaction for each step. Without pending
 * steps no lock is taken; of several programs that start at once one runs each step, and the others wait. A step that meets
 * the lock of a program that uses the data is repeated, at most for TURN_MS_MAX. Rejects when the database is of a release
 * whose data this one would not understand.
 */
export async function migrate(client: pg.Client, schema: Schema = NEWEST): Promise<void> {
  const known = await schemaOf(client)
  assertCompatible(known, schema.steps.length)
  for (let version = known?.version ?? 0; version < schema.steps.length; version += 1) {
    await takeStep(client, schema, version)
  }
}

/** Throws when a program that knows `steps` steps cannot use a database with `version`. */
function assertCompatible(version: Version | undefined, steps: number): void {
  if (version !== undefined && version.compatibleFrom > steps) throw incompatible(version)
}

/** The error for a database that this release would not understand. */
export function incompatible({ version, compatibleFrom }: Version): Error {
  return new Error(
    `the database has schema ${version}, which needs a release that knows schema ${compatibleFrom}, and this release knows ${MIGRATIONS.length}: start the release that migrated it, or a newer one`,
  )
}

/** Runs the step after `version`, unless another program does first; again while it meets a lock. */
async function takeStep(client: pg.Client, schema: Schema, version: number): Promise<void> {
  const deadlineMs = performance.now() + TURN_MS_MAX
  for (;;) {
    try {
      await tryStep(client, schema, version)
      return
    } catch (error) {
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE || performance.now() > deadlineMs) throw error
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

async function tryStep(client: pg.Client, { steps, compatibleFrom }: Schema, version: number): Promise<void> {
  await client.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${TURN_MS_MAX}`)
  try {
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [
      ADVISORY_LOCKS.space,
      ADVISORY_LOCKS.migration,
    ])
    await client.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)
    const now = await schemaOf(client)
    assertCompatible(now, steps.length)
    if ((now?.version ?? 0) === version) {
      if (version === 0) await client.query(META)
      await client.query(steps[version] ?? '')
      await client.query('UPDATE meta SET version = $1, compatible_from = $2', [version + 1, compatibleFrom])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

const META = `
CREATE TABLE meta (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Steps that were taken.
  version integer NOT NULL,
  -- The oldest number of steps that a program may know and still use this database.
  compatible_from integer NOT NULL
);
INSERT INTO meta (version, compatible_from) VALUES (0, 0)`
