import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { connectionError, LOCK_NOT_AVAILABLE, sqlStateOf } from '../connections/failures.ts'
import { TYPES } from '../connections/sql.ts'
import { COMPATIBLE_FROM, MIGRATIONS } from './migrations.ts'

/** Maximum wait of one step for a lock (milliseconds): statements of others queue behind the waiting step. */
const LOCK_MS_MAX = 2_000
/** Pause after a step that could not get a lock (milliseconds), in which queued statements run. */
const LOCK_PAUSE_MS = 2_000
/** Maximum wait for another program's migration, and for the locks of one step (milliseconds). */
const MIGRATION_MS_MAX = 60_000
const CONNECT_MS_MAX = 5_000

/** Keys of the advisory locks of Pharos: the first key, and the second key of each lock. */
export const ADVISORY_LOCKS = { space: 0x50_48, migration: 1, rotation: 2 } as const

/**
 * A schema as migration steps, `null` for one that an earlier step includes. A program must know at least
 * `compatibleFrom` steps to use it.
 */
export interface Schema {
  readonly steps: readonly (string | null)[]
  readonly compatibleFrom: number
}

const NEWEST: Schema = { steps: MIGRATIONS, compatibleFrom: COMPATIBLE_FROM }

/** The version of a database: steps taken, and how many a program must know to use it. */
export interface Version {
  readonly version: number
  readonly compatibleFrom: number
}

/** `application_name` of the connections of servers. */
export const APPLICATION_NAME = 'pharos-server'

/** Connects to the database at `url`. */
export async function connect(url: string, applicationName = APPLICATION_NAME): Promise<Client> {
  const client = new Client({
    connectionString: url,
    types: TYPES,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    application_name: applicationName,
  })
  // The next statement reports a lost connection.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (caught) {
    const error = connectionError(caught)
    // A command says of what it is (databaseConnection.ts): some errors do not.
    throw error instanceof Error ? Object.assign(error, { isOfConnection: true }) : error
  }
}

/** Runs `work` on a connection of its own to the database at `url`. */
export async function withConnection<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
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

/** The schema of the database of `client`; `undefined` without tables of Pharos. */
export async function schemaOf(client: Client): Promise<Version | undefined> {
  // Not to_regclass: within a transaction it may still know that there was no table.
  const { rows: tables } = await client.query(
    "SELECT FROM pg_class WHERE relname = 'meta' AND pg_table_is_visible(oid)",
  )
  if (tables.length === 0) return undefined
  const { rows } = await client.query<Version>(VERSION_QUERY)
  return rows[0]
}

/**
 * Migrates the database of `client` to `schema`, the newest when absent, with one transaction per step. Takes no lock
 * when no step is pending; when several programs start at once, one runs each step and the others wait. A step that
 * cannot lock a table in use is retried for up to MIGRATION_MS_MAX. Rejects when this release cannot read the data of
 * the database.
 */
export async function migrate(client: Client, schema: Schema = NEWEST): Promise<void> {
  const known = await schemaOf(client)
  assertCompatible(known, schema.steps.length)
  if (known !== undefined && schema.steps[known.version] === null)
    throw new Error(`the database has schema ${known.version}, which no release has: use a new one`)
  let version = known?.version ?? 0
  while (version < schema.steps.length) {
    await takeStep(client, schema, version)
    version = versionAfter(schema, version)
  }
}

/** The version after the step after `version`, with the steps that it includes: others never see a part of them. */
function versionAfter({ steps }: Schema, version: number): number {
  const next = steps.findIndex((step, index) => index > version && step !== null)
  return next === -1 ? steps.length : next
}

/** Throws when a program that knows `steps` steps cannot use a database with `version`. */
function assertCompatible(version: Version | undefined, steps: number): void {
  if (version !== undefined && version.compatibleFrom > steps) throw incompatible(version)
}

/** The error for a database that this release cannot use. */
export function incompatible({ version, compatibleFrom }: Version): Error {
  return new Error(
    `the database has schema ${version}, which needs a release that knows schema ${compatibleFrom}, and this release knows ${MIGRATIONS.length}: start the release that migrated it, or a newer one`,
  )
}

/** Runs the step after `version`, unless another program has run it. Retries on lock timeouts. */
async function takeStep(client: Client, schema: Schema, version: number): Promise<void> {
  const deadlineMs = performance.now() + MIGRATION_MS_MAX
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

async function tryStep(client: Client, schema: Schema, version: number): Promise<void> {
  const { steps, compatibleFrom } = schema
  const begin = `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${MIGRATION_MS_MAX}`
  await migrating(client, begin, async () => {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)
    const now = await schemaOf(client)
    assertCompatible(now, steps.length)
    if ((now?.version ?? 0) === version) {
      if (version === 0) await client.query(META)
      await client.query(steps[version] ?? '')
      const after = versionAfter(schema, version)
      await client.query('UPDATE meta SET version = $1, compatible_from = $2', [after, compatibleFrom])
    }
  })
}

/** Runs `work` in a transaction that the statement `begin` starts, while no other program migrates. */
export async function migrating(client: Client, begin: string, work: () => Promise<void>): Promise<void> {
  await client.query(begin)
  try {
    const { space, migration } = ADVISORY_LOCKS
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [space, migration])
    await work()
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
