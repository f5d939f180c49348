import { expect, test } from 'vitest'
import { monotonicMs } from '../../../process/systemEnvironment.ts'
import { sharedCluster } from '../../../testing/postgres/cluster.ts'
import { storeOrg, storeService } from '../../../testing/storedServices.ts'
import { BUS_READER } from '../../store.ts'
import { postgresEngine } from '../postgresEngine.ts'
import { withConnection } from './migrate.ts'

test('a restored dump is another store, whose readers continue with unread commands', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createEmpty()
  const engine = postgresEngine(url, { nowMs: () => 0, monotonicMs, assertUsable: async () => {} })
  const before = await engine.open('serve')
  await before.activateMasterKey('first', 0)
  const orgId = await storeOrg(before)
  await storeService(before, orgId)
  const read = await before.commandsAfter(await before.cursorOf(BUS_READER), 100)
  await before.moveCursor(BUS_READER, '', read.next)
  const unread = JSON.parse((await storeService(before, orgId)).text).id
  await before.close()
  // As an earlier release recorded it.
  await withConnection(url, (client) =>
    client.query(`UPDATE store_identity SET made_in = regexp_replace(made_in, '/[0-9]+$', '')`),
  )
  const again = await engine.open('serve')
  await again.close()

  // What pg_restore leaves in a cluster that has had fewer transactions.
  await withConnection(url, (client) =>
    client.query(
      `UPDATE commands SET xid = (xid::text::bigint + 1000000)::text::xid8;
       UPDATE outbox_readers SET xid = (xid::text::bigint + 1000000)::text::xid8;
       UPDATE store_identity SET made_in = 'elsewhere'`,
    ),
  )
  const restored = await engine.open('serve')
  const pending = await restored.commandsAfter(await restored.cursorOf(BUS_READER), 100)
  const newest = await restored.newestCommand()
  const later = JSON.parse((await storeService(restored, orgId)).text).id
  const changed = await restored.changedServices({
    ...{ after: newest, upTo: await restored.newestCommand(), countMax: 10 },
  })
  await restored.close()
  // As pg_restore --clean does in the database of the dump.
  await withConnection(url, (client) =>
    client.query(
      `CREATE TABLE other AS TABLE store_identity; DROP TABLE store_identity;
       ALTER TABLE other RENAME TO store_identity`,
    ),
  )
  const cleaned = await engine.open('serve')
  await cleaned.close()
  await cluster.drop(url)

  expect(again.storeId).toBe(before.storeId)
  expect(restored.storeId).not.toBe(before.storeId)
  expect(cleaned.storeId).not.toBe(restored.storeId)
  expect(pending.commands.map(({ serviceId }) => serviceId)).toContain(unread)
  expect(changed.map(({ serviceId }) => serviceId)).toEqual([later])
})
