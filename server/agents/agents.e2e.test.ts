import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { testAuthority } from '../../monitoring/check/testing/certificates.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { REGIONS } from '../domain/regions.ts'
import { type AgentProcess, startAgentProcess } from '../testing/agentProcess.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { encodedForms } from '../testing/encodedForms.ts'
import { filesBelow } from '../testing/filesBelow.ts'
import { freePort } from '../testing/freePort.ts'
import { type ServerProcess, startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startTarget, type Target } from '../testing/target.ts'

/** How often something is looked at that no event announces (milliseconds). */
const LOOK_MS = 500
/** What each value of a sealed header begins with: where one is found, this is found in the same form. */
const CANARY = 'canary-of-a-sealed-header-'
const CANARIES = Array.from({ length: 200 }, () => `${CANARY}${randomBytes(12).toString('hex')}`)
/** Tokens of regions that no test has had. Their regions are remote before the server starts. */
const tokens: { readonly region: string; readonly id: string; readonly token: string }[] = []

const folder = suiteFolder()
const dataDir = join(folder, 'data')
let target: Target
let server: ServerProcess
let agentPort: number
let agents: AgentProcess[]
let key: string
let region: string
let tokenId: string
let token: string

const admin = async (...args: string[]) => {
  const { stdout, stderr } = await runHere([...args, '--data-dir', dataDir, '--json'])
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)

const startServer = () =>
  startProcess(dataDir, [
    ...['--monitor', 'on', '--allow-ranges', '127.0.0.0/8', '--log-level', 'info'],
    ...['--agent-port', String(agentPort)],
    ...['--agent-tls-cert', join(folder, 'cert.pem'), '--agent-tls-key', join(folder, 'key.pem')],
  ])

/** Starts an agent; `caFile` is a name in the folder. */
function startAgent({ caFile, spool }: { caFile?: string | null; spool?: string } = {}): AgentProcess {
  const ca = caFile === null ? [] : ['--ca-file', join(folder, caFile ?? 'authority.pem')]
  const agent = startAgentProcess([
    ...['--server', `https://127.0.0.1:${agentPort}`, '--token-file', join(folder, 'token')],
    ...['--allow-ranges', '127.0.0.0/8', ...ca, ...(spool === undefined ? [] : ['--spool', spool])],
  ])
  agents.push(agent)
  return agent
}

beforeAll(async () => {
  agentPort = await freePort()
  const { authorities, selfSigned, valid } = testAuthority()
  write('cert.pem', valid.cert)
  write('key.pem', valid.key)
  write('authority.pem', authorities)
  write('other.pem', selfSigned.cert)
  const { id: orgId } = await admin('org', 'create', '--name', 'Acme', '--plan', 'enterprise')
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', '1')
  ;({ key } = await admin('key', 'create', '--org', orgId))
  for (const { code } of REGIONS) {
    tokens.push(await admin('agent', 'create', '--region', code, '--name', 'dublin-1'))
  }
  server = await startServer()
})
afterAll(() => server.stop())

beforeEach(async () => {
  agents = []
  target = await startTarget()
  ;({ region, id: tokenId, token } = tokens.pop() ?? { region: '', id: '', token: '' })
  write('token', token)
})
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.kill()))
  target.close()
})

async function create(path: string, changes: Partial<ServiceRequest> = {}): Promise<ServiceResponse> {
  const api = apiClient(server.url, key)
  const body = { interval_secs: 1, regions: [region], endpoints: [endpointBody({ url: target.url(path) })] }
  const { json, status } = await api.post('/v1/services', serviceBody({ ...body, ...changes }))
  expect(status).toBe(201)
  // True because the response is a service.
  return json as ServiceResponse
}

interface ShownResult {
  readonly at: string
  readonly endpoint_id: string
  readonly outcome: string
  readonly reason: string
}

async function resultsOf(id: string): Promise<readonly ShownResult[]> {
  return (await admin('results', '--service', id)).results
}

/** Outcomes of `results`, without those of checks that a busy machine left out. */
function outcomesOf(results: readonly ShownResult[]): ReadonlySet<string> {
  return new Set(results.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'unknown'))
}

async function until(isDone: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}

/** All that is written below `folder`, and what programs wrote. */
function everythingWritten(): string {
  const files = filesBelow(folder, (name) => name !== 'token').map((file) => file.toString('latin1'))
  return [...files, server.stderr(), ...agents.map((agent) => agent.output())].join('\n')
}

test('an agent checks its region, keeps results while the server is unreachable, and delivers them once', async () => {
  const spool = join(folder, 'spool')
  const agent = startAgent({ spool })
  const endpoints = ['/', '/1', '/2', '/3', '/4', '/5', '/6', '/7'].map((path, place) => {
    const values = CANARIES.slice(25 * place, 25 * (place + 1))
    const headers = Object.fromEntries(
      values.map((value, index) => [`X-Token-${index}`, { value, sensitive: true }]),
    )
    const call = { Http: { method: 'GET' as const, timeout: null, headers } }
    // Its thread must not outlive the agent.
    const assertions = [{ Body: { matcher: { Regex: '^' } } }]
    return endpointBody({ url: target.url(path), call, assertions })
  })
  const service = await create('/', { endpoints })
  const endpointId = service.endpoints[0]?.id
  await target.visited('/', 2)

  await server.kill()
  const killedAt = new Date().toISOString()
  // Results wait for five seconds before they go to disk.
  await until(() => readdirSync(spool).some((name) => name.endsWith('.jsonl')))
  const spooled = everythingWritten()
  // The first one may have been due before.
  await target.visited('/', target.visits('/').length + 5)
  server = await startServer()
  const startedAt = new Date().toISOString()
  let results: readonly ShownResult[] = []
  await until(async () => {
    results = await resultsOf(service.id)
    return (
      results.some(({ at }) => at > startedAt) && !readdirSync(spool).some((name) => name.endsWith('.jsonl'))
    )
  })
  const all = await resultsOf(service.id)
  results = all.filter(({ endpoint_id }) => endpoint_id === endpointId)
  const code = await agent.stop()

  const ofTheGap = results.filter(({ at, outcome }) => at > killedAt && at < startedAt && outcome === 'up')
  expect(ofTheGap.length).toBeGreaterThan(3)
  expect(outcomesOf(results)).toEqual(new Set(['up']))
  expect(new Set(results.map(({ at }) => at)).size).toBe(results.length)
  expect(code).toBe(0)
  const written = Buffer.from([spooled, everythingWritten(), JSON.stringify(all)].join('\n'), 'latin1')
  const found = [CANARY, token].filter((text) => encodedForms(text).some((form) => written.includes(form)))
  expect(Object.values(target.visits('/')[0]?.headers ?? {})).toEqual(
    expect.arrayContaining(CANARIES.slice(0, 25)),
  )
  expect(found).toEqual([])
})

test('a region is shared by two agents, taken over when one leaves, and checked by the server when it is embedded', async () => {
  const endpoints = Array.from({ length: 6 }, (_, index) => endpointBody({ url: target.url(`/${index}`) }))
  const paths = endpoints.map((_, index) => `/${index}`)
  const [one, two] = [startAgent(), startAgent()]
  await Promise.all([one.wrote('connected'), two.wrote('connected')])
  const service = await create('/', { endpoints })
  const visitedAgain = () => {
    const counts = paths.map((path) => target.visits(path).length)
    return Promise.all(paths.map((path, index) => target.visited(path, (counts[index] ?? 0) + 2)))
  }
  await visitedAgain()

  await one.stop()
  await visitedAgain()
  await admin('region', 'set', region, '--mode', 'embedded')
  await visitedAgain()
  await two.stop()
  await visitedAgain()
  await admin('region', 'set', region, '--mode', 'remote')
  startAgent()
  await visitedAgain()

  expect(outcomesOf(await resultsOf(service.id))).toEqual(new Set(['up']))
})

test('agent list and region list show the agents of a token before, while and after they run', async () => {
  const tokenOf = async () => {
    const tokens: readonly { readonly id: string }[] = await admin('agent', 'list')
    return Object(tokens.find(({ id }) => id === tokenId))
  }
  const regionOf = async () =>
    (await admin('region', 'list')).find(({ code }: { readonly code: string }) => code === region)
  const untilState = async (state: string, agentCount: number) => {
    let shown = await tokenOf()
    await until(async () => {
      shown = await tokenOf()
      return shown.state === state && shown.agents === agentCount
    })
    return shown
  }

  const unused = await tokenOf()
  const [one, two] = [startAgent(), startAgent()]
  const connected = await untilState('connected', 2)
  const shared = await regionOf()
  await Promise.all([one.stop(), two.stop()])
  const away = await untilState('away', 0)

  const nothing = { version: null, clockAheadMs: null, spooled: null, checksInFlight: null }
  expect(unused).toMatchObject({ state: 'unused', agents: 0, lastSeenAt: null, ...nothing })
  expect(connected).toMatchObject({ id: tokenId, name: 'dublin-1', revokedAt: null, spooled: 0 })
  expect(connected.version).toBe(packageJson.version)
  expect(Math.abs(connected.clockAheadMs)).toBeLessThan(30_000)
  expect(shared).toMatchObject({ mode: 'remote', agents: 2 })
  expect(away).toMatchObject({ version: packageJson.version, checksInFlight: 0 })
  expect(away.lastSeenAt >= connected.lastSeenAt && away.lastSeenAt > unused.createdAt).toBe(true)
})

test('an agent whose token is revoked ends at once, and says so', async () => {
  const agent = startAgent()
  await agent.wrote('connected')

  await admin('agent', 'revoke', '--id', tokenId)
  const code = await agent.exited

  expect(code).toBe(3)
  expect(agent.output()).toContain('the agent token is unknown or revoked')
  const shown = { region, last4: token.slice(-4), state: 'revoked', agents: 0 }
  expect(await admin('agent', 'list')).toContainEqual(expect.objectContaining(shown))
})

test('an agent trusts only the CA of its --ca-file, and names the setting to check', async () => {
  const service = await create('/')

  const refused = [startAgent({ caFile: 'other.pem' }), startAgent({ caFile: null })]
  const advice = `the certificate of 127.0.0.1:${agentPort} is from an untrusted authority`
  await Promise.all(refused.map((agent) => agent.wrote(advice)))
  const before = target.visits('/').length
  startAgent()
  await target.visited('/', 2)

  await until(async () => (await resultsOf(service.id)).length > 0)
  expect(before).toBe(0)
  for (const agent of refused) {
    expect(agent.output()).toContain('name the authority with --ca-file')
    expect(agent.output()).not.toContain('"connected"')
  }
})
