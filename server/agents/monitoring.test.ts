import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { defaultKeyFile } from '../secrets/keyring.ts'
import { type ApiClient, apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'
import { startTarget, type Target } from '../testing/target.ts'

// The threads of these servers are dist/pharos-server-checks.js and dist/pharos-server-results.js.

/** How often a state is looked at that no event tells of (milliseconds). */
const LOOK_MS = 250

/** Shorter than any plan allows, so that a test sees many slots (seconds). */
const INTERVAL_S = 1

const dataDir = suiteFolder()
let server: TestServer
let target: Target
/** An organisation of each test: the services of the others are deleted. */
let orgId: string
let apiKey: string
let api: ApiClient

const start = (allowedRanges: readonly string[] = ['127.0.0.0/8']) =>
  startServer({ dataDir, isMonitoring: true, isRestored: false, rateLimit: 'none', allowedRanges })

beforeAll(async () => {
  server = await start()
})
afterAll(async () => {
  await server.close()
  rmSync(defaultKeyFile(dataDir))
})

async function startOrg(): Promise<void> {
  orgId = await server.createOrg({ plan: 'enterprise' })
  await server.overrideLimits({ intervalSecsMin: INTERVAL_S }, orgId)
  apiKey = await server.createKey({ orgId })
  api = apiClient(server.url, apiKey)
}

beforeEach(async () => {
  target = await startTarget()
  await startOrg()
})
afterEach(async () => {
  // True because a list is of services.
  const services = (await api.get('/v1/services')).json as readonly ServiceResponse[]
  for (const { id } of services) await api.delete(`/v1/services/${id}`)
  target.close()
})

const body = (path: string, changes: Partial<ServiceRequest> = {}) =>
  serviceBody({ interval_secs: INTERVAL_S, endpoints: [endpointBody({ url: target.url(path) })], ...changes })

async function create(path: string, changes: Partial<ServiceRequest> = {}): Promise<ServiceResponse> {
  const { json, status } = await api.post('/v1/services', body(path, changes))
  expect(status).toBe(201)
  // True because the response is a service.
  return json as ServiceResponse
}

interface ShownResult {
  readonly at: string
  readonly region: string
  readonly outcome: string
  readonly reason: string
}

async function show(...args: string[]) {
  const { stdout, stderr } = await runHere([...args, '--data-dir', dataDir, '--json'])
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const resultsOf = async (id: string): Promise<readonly ShownResult[]> =>
  (await show('results', '--service', id)).results

/** A row of `states --json`. */
interface StateRow {
  readonly service_id: string
  readonly state: string
  readonly reasons: readonly unknown[]
}

/** The row of a service in `states`, as soon as `isWanted` holds of it. */
async function stateWhere(id: string, isWanted: (row: StateRow) => boolean) {
  for (;;) {
    const rows: StateRow[] = await show('states', '--org', orgId)
    const row = rows.find(({ service_id }) => service_id === id)
    if (row !== undefined && isWanted(row)) return row
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

test('a service is checked from each of its regions as soon as it is created, and is up', async () => {
  const token = { value: 'open sesame', sensitive: true }
  const call = { Http: { method: 'GET' as const, timeout: null, headers: { 'X-Token': token } } }
  const service = await create('/made', {
    regions: ['eu-west-1', 'us-east-1'],
    interval_secs: 60,
    endpoints: [endpointBody({ url: target.url('/made'), call })],
  })

  await target.visited('/made', 2)
  const row = await stateWhere(service.id, ({ reasons }) => reasons.length === 0)
  const results = await resultsOf(service.id)

  expect(row).toMatchObject({ name: 'Checkout', state: 'up', reasons: [], certificates: [] })
  expect(results.map(({ region }) => region).sort()).toEqual(['eu-west-1', 'us-east-1'])
  // When the first checks were due is decided by the schedule, not by how busy this machine is.
  for (const { at } of results) {
    expect(Date.parse(at) - Date.parse(service.created_at)).toBeLessThanOrEqual(2_000)
  }
  expect(target.visits('/made')[0]?.headers['x-token']).toBe('open sesame')
})

test('results are stored for a timeout with a fraction of a millisecond', async () => {
  const call = { Http: { method: 'GET' as const, timeout: { secs: 5, nanos: 1 } } }
  const service = await create('/fraction', {
    endpoints: [endpointBody({ url: target.url('/fraction'), call })],
  })

  const row = await stateWhere(service.id, ({ state }) => state !== 'unknown')

  expect(row.state).toBe('up')
})

test('a failing target makes its service down with a reason, and a repaired one up again', async () => {
  const service = await create('/breaks')
  await stateWhere(service.id, ({ state }) => state === 'up')

  target.status = 503
  const down = await stateWhere(service.id, ({ state }) => state === 'down')
  target.status = 200
  await stateWhere(service.id, ({ state }) => state === 'up')
  const { results } = await show('results', '--service', service.id, '--failed')
  const { stdout: table } = await runHere(['results', '--service', service.id, '--data-dir', dataDir])

  expect(table).toMatch(/ up +- +200 /)
  expect(down).toMatchObject({
    reasons: [{ region: 'eu-west-1', reason: 'assertion_status', text: 'status 503, expected < 400' }],
  })
  expect(results.length).toBeGreaterThan(0)
  expect(new Set(results.map(({ status }: { status: number }) => status))).toEqual(new Set([503]))
})

test('pause, replace, resume, a removed region and delete take effect at once', async () => {
  const service = await create('/old', { regions: ['eu-west-1', 'us-east-1'] })
  await target.visited('/old', 2)

  await api.patch(`/v1/services/${service.id}`, body('/new', { regions: ['eu-west-1'] }))
  await target.visited('/new', 1)
  const oldVisits = target.visits('/old').length
  await target.visited('/new', 2)
  await api.post(`/v1/services/${service.id}/pause`)
  await stateWhere(service.id, ({ state }) => state === 'paused')
  await api.post(`/v1/services/${service.id}/resume`)
  const afterPause = target.visits('/new').length
  await target.visited('/new', afterPause + 1)
  await stateWhere(service.id, ({ state }) => state === 'up')
  await api.delete(`/v1/services/${service.id}`)
  const other = await create('/other')
  await target.visited('/other', 2)

  expect(target.visits('/old').length).toBe(oldVisits)
  const states: { service_id: string }[] = await show('states', '--org', orgId)
  expect(states.map(({ service_id }) => service_id)).toEqual([other.id])
})

test('a region that is switched off is not checked, and one that is switched on again is', async () => {
  const service = await create('/modes', { regions: ['eu-west-1', 'us-east-1'] })
  await target.visited('/modes', 2)

  await runHere(['region', 'set', 'us-east-1', '--mode', 'off', '--data-dir', dataDir])
  let whileOff: readonly ShownResult[] = []
  const isOff = () =>
    whileOff.length > 3 && whileOff.slice(0, 4).every(({ region }) => region === 'eu-west-1')
  while (!isOff()) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    whileOff = await resultsOf(service.id)
  }
  const shown = await show('region', 'list')
  await runHere(['region', 'set', 'us-east-1', '--mode', 'embedded', '--data-dir', dataDir])
  for (;;) {
    const newest = (await resultsOf(service.id)).find(({ region }) => region === 'us-east-1')
    if (newest !== undefined && newest.at > (whileOff[0]?.at ?? '')) break
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }

  expect(shown[2]).toEqual({ code: 'us-east-1', city: 'Ashburn', mode: 'off', agents: 0, lastSeenAt: null })
})

test('damaged results are moved aside: the server reports it, starts and continues', async () => {
  const service = await create('/damaged')
  await stateWhere(service.id, ({ state }) => state === 'up')
  await server.close()
  writeFileSync(join(dataDir, 'results.db'), 'no database at all '.repeat(1_000))

  server = await start()
  api = apiClient(server.url, apiKey)
  const visits = target.visits('/damaged').length
  await target.visited('/damaged', visits + 1)
  await stateWhere(service.id, ({ state }) => state === 'up')

  expect(server.logged()).toContain('the results file was damaged and moved aside; history is lost')
})

test('a forbidden address is never contacted, and its service is unknown with that reason', async ({
  onTestFinished,
}) => {
  await server.close()
  server = await start([])
  onTestFinished(async () => {
    await server.close()
    server = await start()
  })
  await startOrg()
  const service = await create('/forbidden')
  const unknown = await stateWhere(
    service.id,
    (row) => 'last_result_at' in row && row.last_result_at !== null,
  )

  const text = expect.stringContaining('--allow-ranges of pharos-server serve')
  expect(unknown).toMatchObject({ state: 'unknown', reasons: [{ reason: 'address_forbidden', text }] })
  expect(target.visits('/forbidden')).toEqual([])
})
