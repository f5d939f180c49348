import { expect, test } from 'vitest'
import { originOfPerson } from '../../domain/changeOrigin.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../testing/storedServices.ts'
import { openStore } from './openStore.ts'
import { withConnection } from './schema/migrate.ts'

test('the origins of a long definition that persons changed often are read within the limit of a statement', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createMigrated()
  const store = await openStore(url, STOPPED_CLOCKS)
  await store.activateMasterKey('first', 0)
  const orgId = await storeOrg(store)
  const { id } = JSON.parse((await storeService(store, orgId, { name: 'Checkout' })).text)
  const [byCurrent, byPast] = [originOfPerson('current', 1), originOfPerson('past', 0)]
  await withConnection(url, async (client) => {
    await client.query(
      `UPDATE services SET origin = $1, response = replace(response, '"url":"', '"url":"' || repeat('x', 1000000))`,
      [JSON.stringify(byCurrent)],
    )
    await client.query(
      `INSERT INTO past_generations (org_id, service_id, generation, until_ms, origin, bytes_up_to)
       SELECT $1, $2, n, 0, $3, n FROM generate_series(1, 1500) n`,
      [orgId, id, JSON.stringify(byPast)],
    )
  })

  const origins = await store.listOrigins(orgId)
  await store.close()
  await cluster.drop(url)

  const past = Array(1_500).fill(byPast)
  expect(origins).toEqual([{ id, name: 'Checkout', origins: [byCurrent, ...past] }])
})
