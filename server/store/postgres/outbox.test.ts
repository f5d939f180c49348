import pg from 'pg'
import { expect, test } from 'vitest'
import { createService } from '../../domain/serviceChanges.ts'
import { monotonicMs, systemEnvironment } from '../../process/systemEnvironment.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { openStore } from './openStore.ts'

test('a reader waits for an earlier open transaction, and then gets its commands first', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createMigrated()
  const store = await openStore(url, { nowMs: () => 0, monotonicMs })
  await store.activateMasterKey('first', 0)
  const orgId = systemEnvironment.uuid()
  await store.createOrg({ id: orgId, name: 'Acme', plan: 'business', nowMs: 0 })
  const earlier = new pg.Client({ connectionString: url })
  await earlier.connect()
  const deps = { ...systemEnvironment, nowMs: 0, isBlocked: () => false, seal: () => expect.unreachable() }
  const create = (region: string) =>
    store.createService(orgId, undefined, ({ quota }) =>
      createService(serviceBody({ regions: [region] }), { ...deps, quota }),
    )
  const regionsAfter = async (cursor: string) => {
    const { commands, next } = await store.commandsAfter(cursor, 10)
    return { regions: commands.map(({ region }) => region), next }
  }

  await create('eu-west-1')
  await earlier.query('BEGIN; SELECT pg_current_xact_id()')
  await create('us-east-1')
  const during = await regionsAfter('')
  await earlier.query(
    `INSERT INTO commands (type, region, service_id, generation, org_id, number, created_at_ms)
     VALUES ('EndServiceMonitoring', 'sa-east-1', gen_random_uuid(), 1, $1, 0, 0)`,
    [orgId],
  )
  await earlier.query('COMMIT')
  const after = await regionsAfter(during.next)

  expect([during.regions, after.regions]).toEqual([['eu-west-1'], ['sa-east-1', 'us-east-1']])
  expect((await regionsAfter(after.next)).regions).toEqual([])
  // The log has every command at its sequence, so that pages of it leave none out.
  const logged = await store.listCommands()
  const rest = await store.listCommands({ afterSequence: logged[0]?.sequence ?? 0 })
  expect(logged.map(({ region }) => region)).toEqual(['eu-west-1', 'us-east-1', 'sa-east-1'])
  expect(rest).toEqual(logged.slice(1))
  await earlier.end()
  await store.close()
  await cluster.drop(url)
})
