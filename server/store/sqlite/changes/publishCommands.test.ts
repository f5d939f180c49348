import type { Database } from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ServiceResponse } from '../../../../api/contract/service.ts'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import { REGIONS } from '../../../domain/regions.ts'
import { createService, replaceService } from '../../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../../process/systemEnvironment.ts'
import { endpointBody, serviceBody } from '../../../testing/serviceBodies.ts'
import { type Connections, openDatabase } from '../files/openDatabase.ts'
import { openStore } from '../openStore.ts'
import { preparePublish } from './publishCommands.ts'

const CODES = REGIONS.map(({ code }) => code)

let folder: string
let database: Connections
beforeEach(async () => {
  folder = testFolder()
  database = await openDatabase(folder)
})
afterEach(async () => {
  for (const connection of [database.reader, database.writer]) connection.close()
})

/** Size of the database (bytes). */
function bytesOf(writer: Database): number {
  const [pages, free] = ['page_count', 'freelist_count'].map((name) =>
    Number(writer.pragma(name, { simple: true })),
  )
  return 4_096 * ((pages ?? 0) - (free ?? 0))
}

test('replacing a long service writes a few hundred bytes for each region, not its definition', async () => {
  const store = await openStore(folder, () => 0)
  await store.createOrg({ id: 'org', name: 'x', plan: 'business', nowMs: 0 })
  await store.activateMasterKey('key', 0)
  const uuid = () => systemEnvironment.uuid()
  const seal = (): never => {
    throw new Error('the body has no secret')
  }
  const call = { Http: { method: 'POST' as const, timeout: null, body: { value: 'x'.repeat(15_000) } } }
  const request = serviceBody({ regions: CODES, endpoints: [endpointBody({ call })] })
  const deps = { nowMs: 0, uuid, seal, isBlocked: () => false }
  const { text } = await store.createService('org', undefined, ({ quota }) =>
    createService(request, { ...deps, quota }),
  )
  // True because the text is that of a service.
  const { id } = JSON.parse(text) as ServiceResponse
  const before = bytesOf(database.writer)

  for (let replaced = 0; replaced < 300; replaced += 1) {
    await store.changeService('org', id, (service, { quota }) =>
      replaceService(service, request, { ...deps, quota }),
    )
  }

  expect((bytesOf(database.writer) - before) / (300 * CODES.length)).toBeLessThan(300)
  await store.close()
})

test('only the newest published commands of an organisation are kept, so that days of replaces add nothing', () => {
  const { writer } = database
  const publish = preparePublish(writer, 400)
  const publishAll = writer.prepare(
    "INSERT OR REPLACE INTO outbox_readers SELECT 'bus', max(sequence) FROM commands",
  )
  const change = (orgId: string, generation: number): void => {
    const of = { serviceId: '00000000-0000-4000-8000-000000000001', generation }
    const command = (region: string) => ({ type: 'StartServiceMonitoring' as const, region, ...of })
    publish(orgId, CODES.map(command), 0)
  }
  const rows = (orgId: string) =>
    writer.prepare('SELECT count(*) FROM commands WHERE org_id = ?').pluck().get(orgId)
  const sizes: number[] = []

  change('other', 1)
  for (const days of [1, 2, 3]) {
    writer.transaction(() => {
      for (let made = 0; made < 2_000; made += 1) {
        change('busy', days * 2_000 + made)
        publishAll.run()
      }
    })()
    sizes.push(bytesOf(writer))
  }

  expect([rows('busy'), rows('other')]).toEqual([400, 8])
  expect((sizes[2] ?? 0) - (sizes[0] ?? 0)).toBeLessThan(16_384)
})

test('unpublished commands are kept, however many there are, and deleted little by little after publication', () => {
  const { writer } = database
  const publish = preparePublish(writer, 10)
  const command = {
    type: 'EndServiceMonitoring' as const,
    region: 'eu-west-1',
    serviceId: 'x',
    generation: 1,
  }
  const rows = () => writer.prepare('SELECT count(*) FROM commands').pluck().get()

  writer.transaction(() => publish('org', Array(2_500).fill(command), 0))()
  publish('org', [command], 0)
  const waiting = rows()
  writer.exec("UPDATE outbox_readers SET sequence = 2501 WHERE name = 'bus'")
  const left = [1, 2, 3].map(() => {
    publish('org', [command], 0)
    return rows()
  })

  expect([waiting, left]).toEqual([2_501, [1_502, 503, 10]])
})
