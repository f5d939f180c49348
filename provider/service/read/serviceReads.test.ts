import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '../../../api/client/client.ts'
import { Limiter } from '../../../api/client/limiter.ts'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { startServer, type TestServer } from '../../../server/testing/startServer.ts'
import { type RecordingProxy, startRecordingProxy } from '../../testing/recordingProxy.ts'
import { Session } from '../session.ts'
import { CONFIRMATIONS_MAX, ServiceReads } from './serviceReads.ts'

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
const signal = new AbortController().signal

const request: ServiceRequest = {
  name: 'checkout',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

let server: TestServer
let proxy: RecordingProxy
let client: Client
let reads: ServiceReads

beforeEach(async () => {
  server = await startServer({ rateLimit: 'none' })
  proxy = await startRecordingProxy(server.url)
  const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
  client = new Client({ url: proxy.url, apiKey: server.apiKey, userAgent: 'test', limiter })
  reads = new ServiceReads(client, async () => {})
})

afterEach(async () => {
  await client.close()
  await proxy.close()
  await server.close()
})

async function create(count: number): Promise<readonly ServiceResponse[]> {
  const services: ServiceResponse[] = []
  for (let index = 0; index < count; index += 1) {
    services.push(await client.createService({ ...request, name: `service ${index}` }, `key-${index}`))
  }
  proxy.requests()
  return services
}

const known = (id: string): { id: string; orgId: string } => ({ id, orgId: server.orgId })

function readAll(services: readonly ServiceResponse[]): Promise<readonly (ServiceResponse | null)[]> {
  return Promise.all(services.map(({ id }) => reads.read(known(id), signal)))
}

test('two services are read one by one, three with one list request', async () => {
  const services = await create(3)

  const two = await readAll(services.slice(0, 2))
  const requestsOfTwo = proxy.requests()
  reads = new ServiceReads(client, async () => {})
  const three = await readAll(services)

  expect(two).toEqual(services.slice(0, 2))
  expect([...requestsOfTwo].sort()).toEqual(
    services
      .slice(0, 2)
      .map(({ id }) => `GET /v1/services/${id}`)
      .sort(),
  )
  expect(three).toEqual(services)
  expect(proxy.requests()).toEqual(['GET /v1/services'])
})

test('sequential reads request two services one by one, then the list, and nothing more', async () => {
  const services = await create(6)

  for (const { id } of services) await reads.read(known(id), signal)

  expect(proxy.requests().map((line) => line.replace(/[0-9a-f-]{36}/, ':id'))).toEqual([
    'GET /v1/services/:id',
    'GET /v1/services/:id',
    'GET /v1/services',
  ])
})

test('a written service is read from the response to the write, without another request', async () => {
  const [service] = await create(1)
  reads.wrote({ ...service!, name: 'as returned' }, 'changed')

  const read = await reads.read(known(service!.id), signal)
  reads.deleted(service!.id)
  const gone = await reads.read(known(service!.id), signal)

  expect(read?.name).toBe('as returned')
  expect(gone).toBeNull()
  expect(proxy.requests()).toEqual([])
})

test('a write during a list request is newer than the list', async () => {
  const services = await create(3)
  const target = services[0]!

  const reading = readAll(services)
  const listing = reads.list(signal)
  reads.wrote({ ...target, name: 'newer' }, 'changed')

  expect((await reading)[0]?.name).toBe('newer')
  expect((await listing).get(target.id)).toMatchObject({ name: 'newer' })
})

test('a list after a creation is requested again, and a list without a change since is not', async () => {
  await create(1)

  await reads.list(signal)
  await reads.list(signal)
  const created = await client.createService({ ...request, name: 'new' }, 'another')
  reads.wrote(created, 'created')
  proxy.requests()
  const services = await reads.list(signal)

  expect([...services.keys()]).toContain(created.id)
  expect(proxy.requests()).toEqual(['GET /v1/services'])
})

test('a service missing from the list counts as deleted only when a single read confirms it', async () => {
  const services = await create(3)
  await reads.list(signal)
  const late = await client.createService({ ...request, name: 'late' }, 'late')
  proxy.requests()

  const found = await reads.read(known(late.id), signal)
  const absent = await reads.read(known(UNKNOWN_ID), signal)
  await readAll(services)

  expect(found).toEqual(late)
  expect(absent).toBeNull()
  expect(proxy.requests()).toEqual([`GET /v1/services/${late.id}`, `GET /v1/services/${UNKNOWN_ID}`])
})

test('the absence of many services is confirmed by one more list, not by single reads', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => UNKNOWN_ID.replace(/..$/, String(index + 10)))

  // Each call of Terraform has its own signal.
  const reading = ids.map((id) => reads.read(known(id), new AbortController().signal))
  const found = await Promise.all(reading)

  expect(found.every((service) => service === null)).toBe(true)
  expect(proxy.requests().length).toBe(2 + CONFIRMATIONS_MAX)
})

test('with a key of another organisation no service counts as deleted, after two requests', async () => {
  const services = await create(5)
  const foreign = await server.createKey({ orgId: await server.createOrg() })
  const session = new Session({ url: proxy.url, apiKey: foreign, userAgent: 'test' })

  const results = await Promise.allSettled(services.map(({ id }) => session.reads.read(known(id), signal)))

  expect(results.every(({ status }) => status === 'rejected')).toBe(true)
  expect(proxy.requests()).toEqual(['GET /v1/services', 'GET /v1/org'])
  await session.client.close()
})

test('a failed list fails later reads too, without another request', async () => {
  const services = await create(3)
  proxy.refuseNext('GET', /\/services$/, 403, 'not now')

  const together = await Promise.allSettled(services.map(({ id }) => reads.read(known(id), signal)))
  const later = await Promise.allSettled(services.map(({ id }) => reads.read(known(id), signal)))

  expect([...together, ...later].map(({ status }) => status)).toEqual(Array(6).fill('rejected'))
  expect(proxy.requests()).toEqual(['GET /v1/services'])
})

test('a cancelled read does not cancel others', async () => {
  const services = await create(3)
  const impatient = new AbortController()

  const reading = services.map(({ id }, place) =>
    reads.read(known(id), place === 0 ? impatient.signal : signal),
  )
  setImmediate(() => impatient.abort(new Error('given up')))
  const results = await Promise.allSettled(reading)

  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
})
