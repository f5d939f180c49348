import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, sharedCluster } from '../../testing/postgres/cluster.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../testing/storedServices.ts'
import { definitionJson } from '../scripts/definitionJson.ts'
import type { Store } from '../store.ts'
import { openStore } from './openStore.ts'
import { withConnection } from './schema/migrate.ts'

let cluster: Cluster
let url: string
let store: Store
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createMigrated()
  store = await openStore(url, STOPPED_CLOCKS)
  await store.activateMasterKey('first', 0)
})
afterAll(async () => {
  await store.close()
  await cluster.drop(url)
})

const NAME = 'Checkout'

test.each([
  ['U+0000', '\0', '\uFFFD'],
  ['a lone surrogate', '\uD83D', '\uFFFD'],
  ['a surrogate after a backslash', '\\\uDE00', '\\\uFFFD'],
  ['other controls', '\u0001\u001B', '\u0001\u001B'],
  ['what only looks like an escape', '\\n \\x', '\\n \\x'],
  ['a character of two surrogates', '😀', '😀'],
])('a stored definition with %s can be read in PostgreSQL', async (_what, text, expected) => {
  const rows = await withConnection(url, async (client) => {
    const query = `SELECT ${definitionJson('response')} ->> 'name' AS name FROM (SELECT $1 AS response) given`
    return (await client.query(query, [JSON.stringify({ name: text })])).rows
  })

  expect(rows).toEqual([{ name: expected }])
})

test('a definition that release 0.1 accepted stops neither the upkeep nor its organisation', async () => {
  const orgId = await storeOrg(store)
  const { id } = JSON.parse((await storeService(store, orgId, { name: NAME })).text)
  await withConnection(url, (client) =>
    client.query(
      `UPDATE services SET response = replace(response, '"url":"', '"old":"\\u0000 \\ud800","url":"')`,
    ),
  )

  await store.tidy(0)
  const origins = await store.listOrigins(orgId)

  expect(origins.map((service) => [service.id, service.name])).toEqual([[id, NAME]])
})
