import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { Agent } from '../../../monitoring/agent/agent.ts'
import { checkLibrary } from '../../../monitoring/agent/checkLibrary.ts'
import { httpsLink } from '../../../monitoring/agent/httpsLink.ts'
import { AGENT_TOKEN_PREFIX } from '../../../monitoring/protocol/agentToken.ts'
import { hashKey } from '../../domain/apiKeys.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { restoreDatabase } from '../../store/sqlite/files/restoreDatabase.ts'
import { type AgentProxy, startAgentProxy } from '../agentProxy.ts'
import { type ApiClient, apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { rootReason } from '../rootReason.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer, type TestServer } from '../startServer.ts'
import { startTarget, type Target } from '../target.ts'
import { useUpSpace } from './useUpSpace.ts'

// These servers use the built threads dist/pharos-server-checks.js and dist/pharos-server-results.js.
const REGION = 'eu-west-1'
const AGENT = 'agent of the test'
const DISK_SIZE = '60m'

let folder: string
let dataDir: string
let server: TestServer
let api: ApiClient
let target: Target
let proxy: AgentProxy
let undo: (() => unknown)[]

const start = (into: string) =>
  startServer({
    ...{ dataDir: into, isMonitoring: true, isRestored: false, plan: 'enterprise', rateLimit: 'none' },
    allowedRanges: ['127.0.0.0/8'],
  })

beforeEach(async () => {
  undo = []
  folder = testFolder()
  target = await startTarget()
  proxy = await startAgentProxy(() => server.agentUrl)
})
afterEach(async () => {
  for (const step of undo.toReversed()) await step()
  proxy.close()
  target.close()
})

async function startAt(into: string): Promise<void> {
  dataDir = into
  server = await start(into)
  undo.push(() => server.close())
  await server.overrideLimits({ intervalSecsMin: 1 })
  api = apiClient(server.url, server.apiKey)
}

/** An agent of REGION, which becomes remote. */
async function startAgent(): Promise<Agent> {
  const token = `${AGENT_TOKEN_PREFIX}${systemEnvironment.randomBytes(32).toString('hex')}`
  const stored = { hash: hashKey(token), last4: token.slice(-4), nowMs: 0 }
  await server.store.createAgentToken({ id: randomUUID(), region: REGION, name: 'dublin-1', ...stored })
  const link = httpsLink({ server: new URL(proxy.url), token })
  const agent = new Agent({
    ...{ link, instance: randomUUID(), version: '0.0.0' },
    library: checkLibrary({ allowedRanges: ['127.0.0.0/8'], userAgent: AGENT }),
    monotonicMs: () => performance.now(),
    wallMs: Date.now,
    onError: () => {},
  })
  undo.push(() => link.close())
  undo.push(() => agent.stop())
  await agent.setRegions([''])
  return agent
}

const body = (path: string, changes: Partial<ServiceRequest> = {}) =>
  serviceBody({
    ...{ interval_secs: 1, regions: [REGION], endpoints: [endpointBody({ url: target.url(path) })] },
    ...changes,
  })

async function create(path: string, changes: Partial<ServiceRequest> = {}): Promise<ServiceResponse> {
  const { json, status, text } = await api.post('/v1/services', body(path, changes))
  if (status !== 201) throw new Error(text)
  // True because the response is a service.
  return json as ServiceResponse
}

/** Results of checks that ran, in the form that the command prints. */
async function resultsOf(id: string): Promise<readonly { readonly at: string; readonly outcome: string }[]> {
  const { stdout } = await runHere(['results', '--service', id, '--data-dir', dataDir, '--json'])
  return JSON.parse(stdout).results.filter(({ reason }: { reason: string }) => reason !== 'not_checked')
}

const wait = (isDone: () => boolean | Promise<boolean>) =>
  vi.waitUntil(isDone, { timeout: 40_000, interval: 250 })
/** The reasons why the server refused results since then. */
const refused = (sinceMs = 0) =>
  proxy.taken
    .filter(({ atMs }) => atMs > sinceMs)
    .flatMap(({ response }) => response.refused.map(([, , refusal]) => refusal))
const visitsOf = (path: string, agent: string) =>
  target.visits(path).filter(({ headers }) => headers['user-agent'] === agent).length

test('an agent takes all definitions again from a server that was restored from an older backup, and its earlier results are refused', async () => {
  await startAt(join(folder, 'first'))
  const { id } = await create('/kept')
  await startAgent()
  await wait(() => visitsOf('/kept', AGENT) > 0)
  const backup = join(folder, 'backup')
  await server.backUp(backup)
  await api.patch(`/v1/services/${id}`, body('/kept-later'))
  await create('/later')
  await wait(() => visitsOf('/kept-later', AGENT) > 0 && visitsOf('/later', AGENT) > 0)

  const before = server.store.storeId
  await server.close()
  const visits = visitsOf('/later', AGENT)
  await wait(() => visitsOf('/later', AGENT) > visits)
  const restored = join(folder, 'second')
  await restoreDatabase(backup, restored)
  copyFileSync(defaultKeyFile(join(folder, 'first')), defaultKeyFile(restored))
  const kept = visitsOf('/kept', AGENT)
  undo.push(() => server.close())
  dataDir = restored
  const restoredMs = Date.now()
  server = await start(restored)
  await wait(() => visitsOf('/kept', AGENT) > kept + 1)
  const ended = [visitsOf('/kept-later', AGENT), visitsOf('/later', AGENT)]
  await wait(() => visitsOf('/kept', AGENT) > kept + 3)
  await wait(async () => (await resultsOf(id)).length > 2)

  expect(server.store.storeId).not.toBe(before)
  expect([visitsOf('/kept-later', AGENT), visitsOf('/later', AGENT)]).toEqual(ended)
  expect(new Set(refused(restoredMs))).toEqual(new Set(['other_store']))
  expect(new Set((await resultsOf(id)).map(({ outcome }) => outcome))).toEqual(new Set(['up']))
})

test('a region that moves from the server to an agent and back keeps its schedule: no result is stored twice, and none is lost', async () => {
  await startAt(join(folder, 'data'))
  const paths = Array.from({ length: 6 }, (_, index) => `/${index}`)
  const endpoints = paths.map((path) => endpointBody({ url: target.url(path) }))
  const { id } = await create('/', { endpoints })
  const ofAgent = () => paths.map((path) => visitsOf(path, AGENT))
  const ofServer = () => paths.map((path) => target.visits(path).length - visitsOf(path, AGENT))
  const moreBy = async (count: () => number[]) => {
    const before = count()
    await wait(() => count().every((visits, index) => visits > (before[index] ?? 0) + 1))
  }
  await moreBy(ofServer)

  await startAgent()
  await moreBy(ofAgent)
  await server.store.setRegionMode(REGION, 'embedded')
  await moreBy(ofServer)
  await server.store.setRegionMode(REGION, 'remote')
  await moreBy(ofAgent)
  await api.post(`/v1/services/${id}/pause`)
  const visits = () => paths.reduce((sum, path) => sum + target.visits(path).length, 0)
  const taken = async () => (await resultsOf(id)).length + refused().length
  // While a region is handed over both may check one slot: the server knows the second result already.
  const known = () => proxy.taken.reduce((sum, { response }) => sum + response.known, 0)
  // If one never comes, the counts say more than the time that passed.
  await wait(async () => (await taken()) + known() >= visits()).catch(() => {})

  // After the pause an agent may check once more before it knows.
  expect(refused().every((refusal) => refusal === 'ended')).toBe(true)
  const counts = { ofServer: ofServer(), ofAgent: ofAgent(), refused: refused().length, known: known() }
  const twice = visits() - (await taken())
  expect(twice, JSON.stringify([counts, await resultsOf(id)])).toBeGreaterThanOrEqual(0)
  expect(twice, JSON.stringify(counts)).toBeLessThanOrEqual(known())
})

test.skipIf(rootReason !== null)(
  `on a full disk results wait at their agent and reads work, and all are stored once there is space${rootReason === null ? '' : ` (${rootReason})`}`,
  async () => {
    const disk = join(folder, 'disk')
    const mount = spawnSync('sh', [
      '-c',
      `mkdir ${disk} && mount -t tmpfs -o size=${DISK_SIZE} pharos ${disk}`,
    ])
    undo.push(() => spawnSync('/bin/umount', [disk]))
    await startAt(join(disk, 'data'))
    const { id } = await create('/full')
    // Else the server and the agent may both make the first check, in the same second.
    await wait(async () => (await resultsOf(id)).length > 0)
    await startAgent()
    await wait(() => visitsOf('/full', AGENT) > 0)

    const filler = join(disk, 'filler')
    await useUpSpace(filler)
    await wait(() => server.logged().includes('results could not be written'))
    const visits = visitsOf('/full', AGENT)
    await wait(() => visitsOf('/full', AGENT) > visits + 1)
    await wait(async () => (await fetch(`${server.adminUrl}/readyz`)).status === 503)
    const read = await api.get(`/v1/services/${id}`)
    const whileFull = await resultsOf(id)
    rmSync(filler)
    await api.post(`/v1/services/${id}/pause`)
    await wait(async () => (await resultsOf(id)).length + refused().length >= target.visits('/full').length)

    expect(mount.status).toBe(0)
    expect(read.status).toBe(200)
    // The thread has tried each second.
    const failures = server.logged().match(/"reason":"[^"]*","msg":"results could not be written"/g) ?? []
    expect(failures).toHaveLength(new Set(failures).size)
    expect(whileFull.length).toBeLessThan(target.visits('/full').length)
    expect((await resultsOf(id)).length + refused().length).toBe(target.visits('/full').length)
  },
)
