import pg from 'pg'
import type { Engine } from '../engine.ts'
import { TYPES } from './connections/sql.ts'
import { openStore, type StoreClocks } from './openStore.ts'
import { assertDurable } from './schema/assertDurable.ts'
import { ADVISORY_LOCKS, migrate, schemaOf, withConnection } from './schema/migrate.ts'
import { MIGRATIONS } from './schema/migrations.ts'

/** Clocks of an engine, and the check of the database before it is served; `assertDurable` when absent. */
export interface PostgresParts extends StoreClocks {
  readonly assertUsable?: (client: pg.Client) => Promise<void>
}

/** The engine of the PostgreSQL database at `url`. */
export function postgresEngine(
  url: string,
  { assertUsable = assertDurable, ...clocks }: PostgresParts,
): Engine {
  return {
    place: placeOf(url),
    schemaVersion: MIGRATIONS.length,
    makesMasterKeys: false,
    exists: () => withConnection(url, async (client) => (await schemaOf(client)) !== undefined),
    open: async (purpose) => {
      await withConnection(url, async (client) => {
        if (purpose === 'serve') await assertUsable(client)
        await migrate(client)
      })
      return await openStore(url, clocks)
    },
    // Any number of programs serve one database.
    lock: (name) => (name === 'serve' ? Promise.resolve(async () => {}) : lockRotation(url)),
  }
}

/** The server and the database that `url` names, without user and password. Pure. */
function placeOf(url: string): string {
  const { host, hostname, pathname, searchParams } = new URL(url)
  const server = hostname === '' ? (searchParams.get('host') ?? 'localhost') : host
  return `PostgreSQL database ${pathname.slice(1)} on ${server}`
}

/**
 * Takes the lock of a rotation, which ends with its connection. It is one of a transaction, which a pooler keeps on its
 * connection, and one without a number, so that readers of the outbox do not wait for its end.
 */
async function lockRotation(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url, types: TYPES, application_name: 'pharos-server' })
  client.on('error', () => {})
  await client.connect()
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
