import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { monotonicMs } from '../../../process/systemEnvironment.ts'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { postgresEngine } from '../postgresEngine.ts'
import { ADVISORY_LOCKS, connect, migrate, schemaOf, withConnection } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'

let cluster: Cluster
let url: string
const engine = () => postgresEngine(url, { nowMs: () => 0, monotonicMs, assertUsable: async () => {} })
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createEmpty()
})
afterAll(() => cluster.drop(url))

test('five programs that start at once on an empty database create one store', async () => {
  const stores = await Promise.all([1, 2, 3, 4, 5].map(() => engine().open('serve')))

  expect(new Set(stores.map(({ storeId }) => storeId)).size).toBe(1)
  const versions = await withConnection(url, (client) => client.query('SELECT version FROM meta'))
  expect(versions.rows).toEqual([{ version: MIGRATIONS.length }])
  await Promise.all(stores.map((store) => store.close()))
})

test('a program that waits while another one creates the tables finds them', async () => {
  const empty = await cluster.createEmpty()
  const { space, migration } = ADVISORY_LOCKS
  const [other, client] = [await connect(empty), await connect(empty)]
  const rowsOf = async (text: string) => (await other.query(text)).rows
  await other.query('BEGIN')
  await other.query('SELECT pg_advisory_xact_lock($1, $2)', [space, migration])
  const migrated = migrate(client)
  while ((await rowsOf("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).length === 0) {
    await sleep(20)
  }
  await other.query('CREATE TABLE meta (version integer, compatible_from integer)')
  await other.query(`INSERT INTO meta VALUES (${MIGRATIONS.length}, 1)`)
  await other.query('COMMIT')
  await migrated

  expect(await rowsOf("SELECT to_regclass('orgs') AS orgs")).toEqual([{ orgs: null }])
  await Promise.all([other.end(), client.end()])
  await cluster.drop(empty)
})

test('a step is taken together with the steps that it includes, so that no other program sees a schema of no release', async () => {
  const empty = await cluster.createEmpty()
  const noted = `CREATE TABLE seen (version integer);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO seen VALUES (NEW.version); RETURN NEW; END $$;
    CREATE TRIGGER noted AFTER UPDATE ON meta FOR EACH ROW EXECUTE FUNCTION note()`
  const steps = [noted, null, null, 'CREATE TABLE later ()', null]

  const seen = await withConnection(empty, async (client) => {
    await migrate(client, { steps, compatibleFrom: 1 })
    return (await client.query('SELECT version FROM seen')).rows
  })

  expect(seen).toEqual([{ version: 3 }, { version: 5 }])
  await cluster.drop(empty)
})

test('C200 a newer schema is used while it is compatible, and refused when it is not, as one of no release', async () => {
  await (await engine().open('serve')).close()
  const set = (version: number, compatibleFrom: number) =>
    withConnection(url, (client) =>
      client.query('UPDATE meta SET version = $1, compatible_from = $2', [version, compatibleFrom]),
    )

  await set(MIGRATIONS.length + 1, MIGRATIONS.length)
  await (await engine().open('serve')).close()
  await set(MIGRATIONS.length + 1, MIGRATIONS.length + 1)
  await expect(engine().open('serve')).rejects.toThrow(
    `the database has schema ${MIGRATIONS.length + 1}, which needs a release that knows schema ${MIGRATIONS.length + 1}, and this release knows ${MIGRATIONS.length}: start the release that migrated it, or a newer one`,
  )
  await set(3, 1)
  await expect(engine().open('serve')).rejects.toThrow('schema 3, which no release has')
  await set(MIGRATIONS.length, 1)
})

test('a running server that a newer release excludes is not ready, until that is undone', async () => {
  const store = await engine().open('serve')
  const exclude = (from: number) =>
    withConnection(url, (client) => client.query('UPDATE meta SET compatible_from = $1', [from]))
  await store.probeWrite(1)

  await exclude(MIGRATIONS.length + 1)
  const excluded = store.probeWrite(2)
  await expect(excluded).rejects.toThrow('start the release that migrated it, or a newer one')
  await exclude(1)
  await store.probeWrite(3)

  const { rows } = await withConnection(url, (client) => client.query('SELECT beaten_at_ms FROM heartbeat'))
  expect(rows).toEqual([{ beaten_at_ms: 3 }])
  await store.close()
})

test('a migration step that meets a lock does not block others, and runs when the lock is released', async () => {
  const made = await cluster.createMigrated()
  const step = 'ALTER TABLE orgs ADD COLUMN colour text'
  const expanded = { steps: [...MIGRATIONS, step], compatibleFrom: 1 }
  const holder = await connect(made)
  await holder.query('BEGIN; SELECT FROM orgs')
  // Held for longer than a step waits for it.
  const migrated = withConnection(made, (client) => migrate(client, expanded))
  const waits = async (isWaiting: boolean): Promise<void> => {
    for (;;) {
      const found = await holder.query(
        "SELECT FROM pg_locks WHERE NOT granted AND relation = 'orgs'::regclass",
      )
      if (found.rows.length > 0 === isWaiting) return
      await sleep(20)
    }
  }
  await waits(true)
  await waits(false)
  await withConnection(made, (client) => client.query('SELECT FROM orgs'))
  await holder.query('COMMIT')
  await migrated

  const schema = await withConnection(made, schemaOf)
  expect(schema).toEqual({ version: MIGRATIONS.length + 1, compatibleFrom: 1 })
  await holder.end()
  await cluster.drop(made)
})

test('the location of a database is named without its password', () => {
  const { place } = postgresEngine('postgresql://pharos:hush@db.example:5433/monitoring', {
    ...{ nowMs: () => 0, monotonicMs },
  })

  expect(place).toBe('PostgreSQL database monitoring on db.example:5433')
})

test('a database that could lose acknowledged writes is refused', async () => {
  const strict = postgresEngine(url, { nowMs: () => 0, monotonicMs })

  await expect(strict.open('serve')).rejects.toThrow('the database cannot be used: fsync is off')
})
