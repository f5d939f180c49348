import { afterAll, beforeAll, expect, test } from 'vitest'
import { monotonicMs } from '../../../process/systemEnvironment.ts'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { postgresEngine } from '../postgresEngine.ts'
import { withConnection } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'

let cluster: Cluster
let url: string
const engine = () => postgresEngine(url, { nowMs: () => 0, monotonicMs, assertUsable: async () => {} })
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createEmpty()
})
afterAll(() => cluster.drop(url))

test('five programs that start at once on an empty database make one store', async () => {
  const stores = await Promise.all([1, 2, 3, 4, 5].map(() => engine().open('serve')))

  expect(new Set(stores.map(({ storeId }) => storeId)).size).toBe(1)
  const versions = await withConnection(url, (client) => client.query('SELECT version FROM meta'))
  expect(versions.rows).toEqual([{ version: MIGRATIONS.length }])
  await Promise.all(stores.map((store) => store.close()))
})

test('C200 a newer schema is used while it is compatible, and refused when it is not', async () => {
  await (await engine().open('serve')).close()
  const set = (version: number, compatibleFrom: number) =>
    withConnection(url, (client) =>
      client.query('UPDATE meta SET version = $1, compatible_from = $2', [version, compatibleFrom]),
    )

  await set(MIGRATIONS.length + 1, MIGRATIONS.length)
  await (await engine().open('serve')).close()
  await set(MIGRATIONS.length + 1, MIGRATIONS.length + 1)
  await expect(engine().open('serve')).rejects.toThrow(`this release knows ${MIGRATIONS.length}`)
  await set(MIGRATIONS.length, 1)
})

test('the place of a database is named without its password', () => {
  const { place } = postgresEngine('postgresql://pharos:hush@db.example:5433/monitoring', {
    ...{ nowMs: () => 0, monotonicMs },
  })

  expect(place).toBe('PostgreSQL database monitoring on db.example:5433')
})

test('a database that could lose what it acknowledged is not served', async () => {
  const strict = postgresEngine(url, { nowMs: () => 0, monotonicMs })

  await expect(strict.open('serve')).rejects.toThrow('the database cannot be used: fsync is off')
})
