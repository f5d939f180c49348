import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { gridOf } from '../../monitoring/schedule/grid.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { type ServerProcess, startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startTarget, type Target } from '../testing/target.ts'

/** Shorter than any plan allows, so that a test sees many slots (seconds). */
const INTERVAL_S = 2

/** How often results are looked at (milliseconds). */
const LOOK_MS = 500

let dataDir: string
let target: Target
let server: ServerProcess
let api: ReturnType<typeof apiClient>
let orgId: string
let apiKey: string

const ARGS = ['--monitor', 'on', '--allow-ranges', '127.0.0.0/8']

beforeEach(async () => {
  dataDir = testFolder()
  target = await startTarget()
  server = await startProcess(dataDir, ARGS)
  const admin = async (...args: string[]) =>
    JSON.parse((await runHere([...args, '--data-dir', dataDir, '--json'])).stdout)
  orgId = (await admin('org', 'create', '--name', 'Acme', '--plan', 'enterprise')).id
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', String(INTERVAL_S))
  apiKey = (await admin('key', 'create', '--org', orgId)).key
  api = apiClient(server.url, apiKey)
})
afterEach(async () => {
  if (server.child.exitCode === null && server.child.signalCode === null) await server.stop()
  target.close()
  rmSync(`${dataDir}.master-key`, { force: true })
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

test('a killed server repeats no slot, keeps every stored result, and shows missed slots as unknown', async () => {
  const service = await create('/killed')
  await target.visited('/killed', 2)
  const before = await resultsOf(service.id)
  await server.kill()
  const { id: endpointId } = service.endpoints[0] ?? { id: '' }
  const { intervalMs } = gridOf(endpointId, 'eu-west-1', INTERVAL_S)
  // Three intervals without a server: slots are missed, whatever their place on the grid.
  await sleep(3 * intervalMs)
  const visits = target.visits('/killed').length

  server = await startProcess(dataDir, ARGS)
  await target.visited('/killed', visits + 3)
  // Missed slots are reported once their results cannot come any more.
  let missed: readonly ShownResult[] = []
  let results: readonly ShownResult[] = []
  while (missed.length === 0) {
    await sleep(LOOK_MS)
    results = await resultsOf(service.id)
    missed = results.filter(({ reason }) => reason === 'not_checked')
  }

  const checked = results.filter(({ reason }) => reason !== 'not_checked').map(({ at }) => at)
  expect(new Set(checked).size).toBe(checked.length)
  expect(checked).toEqual(expect.arrayContaining(before.map(({ at }) => at)))
  expect(missed.map(({ outcome }) => outcome)).toContain('unknown')
})
