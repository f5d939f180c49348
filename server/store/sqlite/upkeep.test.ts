import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { createService, deleteService, replaceService } from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { BUS_READER, type Store } from '../store.ts'
import { openDatabase } from './files/openDatabase.ts'
import { openStore } from './openStore.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const WEEK_MS = 7 * DAY_MS
/** Retention of hourly counts in the plan `business`. */
const HOURS_MS = 396 * DAY_MS

let folder: string
let store: Store

beforeEach(async () => {
  folder = testFolder()
  store = await openStore(folder, () => 0)
})

afterEach(() => store.close())

test('clean-up removes every published command older than a week, and requests are served in between', async () => {
  const { writer, reader } = await openDatabase(folder)
  const insert = writer.prepare(
    "INSERT INTO commands (type, region, service_id, generation, created_at_ms) VALUES ('EndServiceMonitoring', 'eu-west-1', ?, 1, ?)",
  )
  writer.transaction(() => {
    for (let made = 0; made < 4_500; made += 1) insert.run('old', 0)
    for (const name of ['recent', 'unpublished']) insert.run(name, name === 'recent' ? WEEK_MS : 0)
  })()
  expect(await store.moveCursor(BUS_READER, '', `${store.storeId}.0.4501`)).toBe(true)

  const done: string[] = []
  const tidying = store.tidy(WEEK_MS + 1).then(() => done.push('tidying'))
  await store.createOrg({ id: 'org', name: 'x', plan: 'business', nowMs: 0 }).then(() => done.push('create'))
  await tidying

  expect(done).toEqual(['create', 'tidying'])
  expect((await store.listCommands()).map(({ serviceId }) => serviceId)).toEqual(['recent', 'unpublished'])
  for (const database of [writer, reader]) database.close()
})

test('numbers of ended endpoints are removed after their history, and none is assigned again', async () => {
  await store.activateMasterKey('first', 0)
  await store.createOrg({ id: 'org', name: 'Acme', plan: 'business', nowMs: 0 })
  const deps = {
    ...{ ...systemEnvironment, nowMs: 0, isBlocked: () => false },
    seal: () => {
      throw new Error('the body has no secret')
    },
  }
  const body = serviceBody({
    endpoints: ['/a', '/b'].map((path) => endpointBody({ url: `https://shop.example${path}` })),
  })
  const create = async () => {
    const { text } = await store.createService('org', undefined, ({ quota }) =>
      createService(body, { ...deps, quota }),
    )
    const { id, endpoints } = JSON.parse(text)
    await store.numberEndpoints(
      endpoints.map((endpoint: { id: string }) => ({ id: endpoint.id, serviceId: id })),
    )
    return String(id)
  }
  const [deleted, shortened, kept] = [await create(), await create(), await create()]
  const counts = async () =>
    Promise.all([deleted, shortened, kept].map(async (id) => (await store.endpointNumbers([id])).size))

  await store.changeService('org', deleted, deleteService)
  await store.changeService('org', shortened, (service, { quota }) =>
    replaceService(service, { ...body, endpoints: body.endpoints.slice(0, 1) }, { ...deps, quota }),
  )
  const found = []
  for (const nowMs of [0, WEEK_MS, WEEK_MS + 1, HOURS_MS + WEEK_MS, HOURS_MS + WEEK_MS + 1]) {
    await store.tidy(nowMs)
    found.push(await counts())
  }
  await store.changeService('org', kept, deleteService)
  await store.tidy(2 * HOURS_MS)
  await store.tidy(3 * HOURS_MS)
  const next = await create()

  expect(found).toEqual([
    [2, 2, 2],
    [2, 2, 2],
    [0, 2, 2],
    [0, 2, 2],
    [0, 1, 2],
  ])
  expect(await counts()).toEqual([0, 1, 0])
  expect([...(await store.endpointNumbers([next])).values()]).toEqual([7, 8])
})

test('an entry of the audit log is kept for 400 days, and the newest 100,000 of each organisation are kept', async () => {
  const { writer, reader } = await openDatabase(folder)
  const insert = writer.prepare(
    `INSERT INTO audit (org_id, at, actor_kind, action, target_kind, target_id, detail)
     SELECT ?, '2026-01-01T00:00:00.000Z', 'cli', 'key.create', 'key', value, '{}' 
     FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT ?) SELECT value FROM n)`,
  )
  for (const id of ['acme', 'other']) await store.createOrg({ id, name: id, plan: 'business', nowMs: 0 })
  writer.exec('DELETE FROM audit')
  insert.run('acme', 102_025)
  insert.run('other', 10)
  const kept = async (nowMs: number) => {
    await store.tidy(nowMs)
    const select = 'SELECT org_id, count(*), min(CAST(target_id AS INTEGER)) FROM audit GROUP BY org_id'
    return reader.prepare(select).raw().all()
  }
  const lastMs = Date.UTC(2026, 0, 1) + 400 * DAY_MS

  expect(await kept(lastMs)).toEqual([
    ['acme', 100_000, 2_026],
    ['other', 10, 1],
  ])
  expect(await kept(lastMs + 1)).toEqual([])
  for (const database of [writer, reader]) database.close()
})
