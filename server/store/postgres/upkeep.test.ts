import { expect, test } from 'vitest'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { sharedCluster } from '../../testing/postgres/cluster.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../testing/storedServices.ts'
import { BUS_READER } from '../store.ts'
import { openStore } from './openStore.ts'
import { withConnection } from './schema/migrate.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

test('clean-up keeps unpublished commands, the newest 100,000 audit entries of an organisation, and none older than 400 days', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createMigrated()
  const store = await openStore(url, STOPPED_CLOCKS)
  const orgId = systemEnvironment.uuid()
  await store.createOrg({ id: orgId, name: 'Acme', plan: 'business', nowMs: 0 })
  const query = (text: string) => withConnection(url, async (client) => (await client.query(text)).rows)
  const insertCommands = (from: number, to: number) =>
    query(
      `INSERT INTO commands (type, region, service_id, generation, org_id, number, created_at_ms)
       SELECT 'EndServiceMonitoring', 'eu-west-1', gen_random_uuid(), 1, '${orgId}', n, 0
       FROM generate_series(${from}, ${to}) n`,
    )
  await insertCommands(1, 2_500)
  await store.moveCursor(BUS_READER, '', (await store.commandsAfter('', 5_000)).next)
  await insertCommands(2_501, 2_503)
  await query(
    `DELETE FROM audit; INSERT INTO audit (org_id, at, actor_kind, action, target_kind, target_id, detail)
     SELECT '${orgId}', '2026-01-01T00:00:00.000Z', 'cli', 'key.create', 'key', n, '{}'
     FROM generate_series(1, 102025) n`,
  )
  const kept = async (nowMs: number) => {
    await store.tidy(nowMs)
    const select = `SELECT (SELECT min(number) FROM commands) AS command, count(*) AS entries,
      min(target_id::integer) AS entry FROM audit`
    return await query(select)
  }
  const lastMs = Date.UTC(2026, 0, 1) + 400 * DAY_MS

  expect(await kept(lastMs)).toEqual([{ command: 2_501, entries: 100_000, entry: 2_026 }])
  expect(await kept(lastMs + 1)).toEqual([{ command: 2_501, entries: 0, entry: null }])
  await store.close()
  await cluster.drop(url)
})

test('clean-up skips gaps in the numbers of endpoints, and a definition that cannot be read stops nothing else', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createMigrated()
  const store = await openStore(url, STOPPED_CLOCKS)
  const query = (text: string) => withConnection(url, async (client) => (await client.query(text)).rows)
  const insertNotice = () =>
    query("INSERT INTO certificate_notices SELECT gen_random_uuid(), 'host', 443, 'print', 1, -1_000_000_000")
  await store.activateMasterKey('first', 0)
  const orgId = await storeOrg(store)
  await storeService(store, orgId)
  await query(
    `INSERT INTO numbered_endpoints (number, endpoint_id, service_id) OVERRIDING SYSTEM VALUE
     SELECT n * 1_000_000_000_000, gen_random_uuid(), s.id FROM services s, generate_series(1, 2) n`,
  )

  await store.tidy(5)
  const ended = await query('SELECT ended_at_ms FROM numbered_endpoints')
  await insertNotice()
  await query("UPDATE services SET response = 'no JSON'")
  const failed = await store.tidy(5).catch((error: unknown) => String(error))
  const notices = await query('SELECT 1 FROM certificate_notices')
  await store.close()
  await cluster.drop(url)

  expect(ended).toEqual([{ ended_at_ms: 5 }, { ended_at_ms: 5 }])
  expect(failed).toContain('json')
  expect(notices).toEqual([])
})
