import type pg from 'pg'
import type { Engine } from '../engine.ts'
import { movedError, type Portable } from '../portable.ts'
import { openStore, type StoreClocks } from './openStore.ts'
import { openPortable, type PortableParts } from './portable.ts'
import { assertDurable } from './schema/assertDurable.ts'
import { databaseFacts } from './schema/databaseFacts.ts'
import { judgeDatabase } from './schema/judgeDatabase.ts'
import {
  ADVISORY_LOCKS,
  APPLICATION_NAME,
  connect,
  migrate,
  schemaOf,
  withConnection,
} from './schema/migrate.ts'
import { MIGRATIONS } from './schema/migrations.ts'
import { renewIdentity } from './schema/renewIdentity.ts'

/** Clocks of an engine, and the check of its database before a start; `assertDurable` when absent. */
export interface PostgresParts extends StoreClocks {
  readonly assertUsable?: typeof assertDurable
}

/** The engine of the PostgreSQL database at `url`. */
export function postgresEngine(
  url: string,
  { assertUsable = assertDurable, ...clocks }: PostgresParts,
): Engine {
  return {
    place: placeOf(url),
    results: { databaseUrl: url },
    schemaVersion: MIGRATIONS.length,
    makesMasterKeys: false,
    exists: () => withConnection(url, async (client) => (await schemaOf(client)) !== undefined),
    schemaNow: () => withConnection(url, async (client) => (await schemaOf(client))?.version),
    open: async (purpose) => {
      await withConnection(url, async (client) => {
        if (purpose === 'serve') {
          await withConnection(url, (other) => assertUsable(client, other, clocks.nowMs))
        }
        await migrate(client)
        await assertNotMoved(client, placeOf(url))
        await renewIdentity(client)
      })
      return await openStore(url, clocks)
    },
    examine: () =>
      withConnection(url, (client) =>
        withConnection(url, async (other) => judgeDatabase(await databaseFacts(client, other, clocks.nowMs))),
      ),
    // Any number of programs serve one database.
    lock: (name) => (name === 'serve' ? Promise.resolve(async () => {}) : lockRotation(url)),
    assertNotMoved: (except) => withConnection(url, (client) => assertNotMoved(client, placeOf(url), except)),
    removeNewFiles: async () => async () => {},
    openPortable: (role, results) =>
      openExclusively(url, { role, results }, (client, other) => assertUsable(client, other, clocks.nowMs)),
  }
}

async function assertNotMoved(client: pg.Client, place: string, except?: string): Promise<void> {
  const { rows: tables } = await client.query(
    "SELECT FROM pg_class WHERE relname = 'moved' AND pg_table_is_visible(oid)",
  )
  if (tables.length === 0) return
  const { rows } = await client.query<{ place: string }>('SELECT place FROM moved')
  const moved = rows[0]?.place
  if (moved === undefined || moved === except) return
  throw movedError(place, moved, 'delete the row of its table "moved"')
}

/** Opens the database for a move. Rejects when another pharos-server is connected: servers take no lock. */
async function openExclusively(
  url: string,
  { role, results }: PortableParts,
  assertUsable: (client: pg.Client, other: pg.Client) => Promise<void>,
): Promise<Portable> {
  const [client, other] = [await connect(url), await connect(url)]
  try {
    if (role === 'target') await assertUsable(client, other)
    await migrate(client)
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = $1 AND pid <> ALL($2::integer[])`,
      [APPLICATION_NAME, await Promise.all([client, other].map(pidOf))],
    )
    if (rows[0]?.count === 0) return await openPortable(client, other, { role, results })
    throw new Error(`${placeOf(url)} is in use by another pharos-server: stop all of them`)
  } catch (error) {
    await Promise.all([client.end(), other.end()])
    throw error
  }
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? 0
}

/** The server and the database that `url` names, without user and password. Pure. */
function placeOf(url: string): string {
  const { host, hostname, pathname, searchParams } = new URL(url)
  const server = hostname === '' ? (searchParams.get('host') ?? 'localhost') : host
  return `PostgreSQL database ${pathname.slice(1)} on ${server}`
}

/**
 * Takes the lock of a rotation, which ends with its connection. It is a lock of a transaction, because a pooler keeps a
 * transaction on one connection. The transaction writes nothing and so gets no id: readers of the outbox do not wait
 * for it.
 */
async function lockRotation(url: string): Promise<() => Promise<void>> {
  // Not APPLICATION_NAME: a move holds this lock while it looks for connections of servers.
  const client = await connect(url, `${APPLICATION_NAME} rotation`)
  try {
    await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0')
    const { rows } = await client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_xact_lock($1, $2) AS taken',
      [ADVISORY_LOCKS.space, ADVISORY_LOCKS.rotation],
    )
    if (rows[0]?.taken !== true) throw new Error('the master key is being rotated by another program')
    return () => client.end()
  } catch (error) {
    await client.end()
    throw error
  }
}
