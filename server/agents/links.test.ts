import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import type { Link, LinkError } from '../../monitoring/agent/link.ts'
import { IDLE_SYNC } from '../../monitoring/agent/testing/idleSync.ts'
import { readSyncResponse } from '../../monitoring/protocol/messageProblem.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startTarget, type Target } from '../testing/target.ts'
import { LOST_MS } from './members.ts'
import { type AgentHarness, REGION, SERVER_ADDRESS, startHarness } from './testing/agentHarness.ts'

let harness: AgentHarness
let target: Target
let passedMs: number
beforeEach(async () => {
  passedMs = 0
  target = await startTarget()
  harness = await startHarness(() => performance.now() + passedMs)
})
afterEach(async () => {
  await harness.close()
  target.close()
})

const body = (path: string, changes: Partial<ServiceRequest> = {}) =>
  serviceBody({
    ...{ interval_secs: 1, regions: [REGION] },
    endpoints: [endpointBody({ url: target.url(path) })],
    ...changes,
  })

async function create(path: string, changes: Partial<ServiceRequest> = {}): Promise<ServiceResponse> {
  const { json, status } = await harness.api.post('/v1/services', body(path, changes))
  expect(status).toBe(201)
  // True because the response is a service.
  return json as ServiceResponse
}

/** Resolves when results of `count` different slots are stored. */
async function stored(count: number): Promise<void> {
  while (harness.handedOver.reduce((sum, { response }) => sum + response.stored, 0) < count) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Which agents checked the path so far, by the names that they give themselves. */
const agentsAt = (path: string) =>
  [...new Set(target.visits(path).map(({ headers }) => headers['user-agent']))].sort()

describe.each(['within the server', 'over the network'])('an agent %s', (place) => {
  async function link(): Promise<Link> {
    if (place === 'within the server') return harness.portLink()
    return harness.networkLink((await harness.createToken()).token)
  }

  test('checks existing and new services, sends secrets, and reports results', async () => {
    const secret = { value: 'hush', sensitive: true }
    const call = {
      Http: { method: 'POST' as const, timeout: null, headers: { 'X-Token': secret }, body: secret },
    }
    await create('/before', { endpoints: [endpointBody({ url: target.url('/before'), call })] })
    harness.startAgent('one', await link())
    await target.visited('/before', 1)
    await create('/after')
    await target.visited('/after', 2)
    await stored(3)

    expect(target.visits('/before')[0]?.headers['x-token']).toBe('hush')
    const [first] = harness.handedOver
    expect(first?.request.results[0]?.slice(4, 7)).toEqual([1, 0, 200])
    expect(JSON.stringify(harness.handedOver)).not.toContain('hush')
  })

  test('follows replace, pause, resume and delete, and reaches the inventory of the server', async () => {
    const agent = harness.startAgent('one', await link())
    const { id } = await create('/old')
    await target.visited('/old', 1)
    await harness.api.patch(`/v1/services/${id}`, body('/new'))
    await target.visited('/new', 1)
    const oldVisits = target.visits('/old').length
    await harness.api.post(`/v1/services/${id}/pause`)
    await create('/other')
    await target.visited('/other', 1)
    const pausedVisits = target.visits('/new').length
    await target.visited('/other', 3)
    const visitsWhilePaused = target.visits('/new').length - pausedVisits
    await harness.api.post(`/v1/services/${id}/resume`)
    await target.visited('/new', pausedVisits + 2)
    await harness.api.delete(`/v1/services/${id}`)
    await target.visited('/other', target.visits('/other').length + 2)
    const afterDelete = target.visits('/new').length
    await target.visited('/other', target.visits('/other').length + 2)

    expect(target.visits('/old').length).toBe(oldVisits)
    expect(visitsWhilePaused).toBe(0)
    expect(target.visits('/new').length).toBe(afterDelete)
    expect(agent.stats).toMatchObject({ spooled: 0, dropped: 0, refused: expect.any(Number) })
  })
})

test('invalid results are refused over both links with a status, so that they are not sent again', async () => {
  const links = [harness.portLink(), harness.networkLink((await harness.createToken()).token)]
  const { instance } = IDLE_SYNC
  const batch = {
    protocol: 1,
    store: instance,
    instance,
    batch: 1,
    sent_ms: 0,
    details: [],
    certificates: [],
  }
  const refusals = await Promise.all(
    // Not what the type allows: an agent that is broken sends it.
    links.map((link) => link.results({ ...batch, results: [['canary']] as never }).catch((error) => error)),
  )

  expect(refusals).toMatchObject([
    { status: 400, message: 'results[0]: must have at least 15 items' },
    { status: 400, message: 'the server responded with 400: results[0]: must have at least 15 items' },
  ])
})

test('a service created before the first agent connects is checked at once when it does, and not again at once by the next agent', async () => {
  const { id } = await create('/', { interval_secs: 86_400 })
  const request = { ...IDLE_SYNC, wait_ms: 0, public_key: null }
  const everything = async () => {
    for (;;) {
      const { start } = await harness.hub.sync({ region: REGION }, request, new AbortController().signal)
      if (start.length > 0) return start
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  const early = await everything()
  harness.startAgent('one', harness.portLink())
  await target.visited('/', 1)
  let late = await everything()
  while (late[0]?.first === true) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    late = await everything()
  }

  expect(early).toMatchObject([{ service: id, first: true }])
  expect(late).toMatchObject([{ service: id, first: false }])
})

test('agents of a region divide its endpoints, and take over those of an agent that leaves or is lost', async () => {
  const paths = Array.from({ length: 8 }, (_, index) => `/${index}`)
  const { token } = await harness.createToken()
  const [one, two] = [harness.startAgent('one', harness.networkLink(token)), harness.networkLink(token)]
  const agentTwo = harness.startAgent('two', two)
  while (harness.hub.members.instancesOf(REGION).length < 2)
    await new Promise((resolve) => setTimeout(resolve, 20))
  await create('/', { endpoints: paths.map((path) => endpointBody({ url: target.url(path) })) })
  await Promise.all(paths.map((path) => target.visited(path, 3)))
  const shared = paths.map(agentsAt)

  await one.stop()
  const visited = paths.map((path) => target.visits(path).length)
  await Promise.all(paths.map((path, index) => target.visited(path, (visited[index] ?? 0) + 2)))
  const taken = paths.map((path, index) => {
    const [, ...last] = target.visits(path).slice(visited[index])
    return new Set(last.map(({ headers }) => headers['user-agent']))
  })
  two.close()
  passedMs += LOST_MS
  harness.hub.checkMembers()

  expect(shared.every((agents) => agents.length === 1)).toBe(true)
  expect(new Set(shared.flat())).toEqual(new Set(['one', 'two']))
  expect(taken).toEqual(paths.map(() => new Set(['two'])))
  // It is silent for too long by then, and comes back with its next request.
  expect(harness.hub.members.instancesOf(REGION)).toEqual([])
  await agentTwo.stop()
})

test('a region that loses its last agent is logged once, and once when it has one again', async () => {
  const { token } = await harness.createToken()
  const timesLogged = (text: string) => harness.logged().split(text).length - 1
  /** Looks until `text` is logged, and then some more. */
  const lookFor = async (text: string): Promise<void> => {
    for (let more = 3; more > 0; more -= timesLogged(text)) {
      harness.hub.checkMembers()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const [lost, back] = ['the region has no agent', 'the region has an agent']
  harness.hub.checkMembers()
  passedMs += LOST_MS
  await lookFor(lost)
  harness.startAgent('one', harness.networkLink(token))
  await lookFor(back)

  expect([timesLogged(lost), timesLogged(back)]).toEqual([1, 1])
})

test('agents of a region that stops being remote lose their endpoints and definitions, and get them back with remote', async () => {
  const { token } = await harness.createToken()
  harness.startAgent('one', harness.networkLink(token))
  await create('/')
  await target.visited('/', 1)

  await harness.server.store.setRegionMode(REGION, 'off')
  await harness.readModes()
  const other = harness.networkLink(token)
  const response = await other.sync(REGION, IDLE_SYNC, new AbortController().signal)
  // It would share the region otherwise.
  await other.sync(REGION, { ...IDLE_SYNC, leaving: true }, new AbortController().signal)
  await harness.server.store.setRegionMode(REGION, 'remote')
  await harness.readModes()
  const before = target.visits('/').length
  await target.visited('/', before + 2)

  expect(response).toMatchObject({ start: [], members: [], inventory: 'same' })
})

test("results for a series of another region are refused and logged, and those of the agent's region are stored", async () => {
  const { token } = await harness.createToken('us-east-1')
  await harness.createToken()
  const service = await create('/', { regions: [REGION, 'us-east-1'] })
  const link = harness.networkLink(token)
  let series: number | undefined
  while (series === undefined) {
    const response = await link.sync('', IDLE_SYNC, new AbortController().signal)
    series = readSyncResponse(response).start[0]?.endpoints[0]?.series
  }
  const dueS = Math.floor(Date.now() / 1_000)
  const row = (of: number, generation = 1) => [of, generation, dueS, 1, 1, 0, 200, 1, 0, 5, 0, 1, 0, 3, 1]

  const results = [row(series), row(series - 2)] as never
  const sent = {
    protocol: 1,
    store: harness.server.store.storeId,
    instance: service.id,
    batch: 1,
    sent_ms: 0,
    results,
  }
  const taken = await link.results({ ...sent, details: [], certificates: [] })

  expect([taken.stored, taken.refused]).toEqual([1, [[series - 2, dueS, 'unknown_series']]])
  expect(harness.logged()).toContain(
    '"region":"us-east-1","results":1,"msg":"results of another region were refused"',
  )
})

test('an agent that lost a service gets it again, because its inventory differs from that of the server', async () => {
  const link = harness.networkLink((await harness.createToken()).token)
  await create('/')
  let lost = 0
  /** Loses the services of the first response that has any. */
  const losing: Link = {
    ...link,
    sync: async (...asked) => {
      const response = readSyncResponse(await link.sync(...asked))
      if (lost > 0 || response.start.length === 0) return response
      lost = response.start.length
      return { ...response, start: [] }
    },
  }
  harness.startAgent('one', losing)
  while (target.visits('/').length === 0) {
    // The server responds at once instead of after 25 s.
    harness.hub.renewMembers()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  expect(lost).toBe(1)
})

test('a revoked token ends waiting requests, and the agent drops all definitions', async () => {
  const { id, token } = await harness.createToken()
  const refusals: LinkError[] = []
  harness.startAgent('one', harness.networkLink(token), { onRefused: (error) => refusals.push(error) })
  await create('/')
  await target.visited('/', 1)

  await harness.server.store.revokeAgentToken(id, 0)
  while (refusals.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const members = harness.hub.members.instancesOf(REGION)
  const visits = target.visits('/').length
  harness.startAgent('two', harness.networkLink((await harness.createToken()).token))
  await target.visited('/', visits + 2)

  expect(refusals[0]).toMatchObject({ status: 401 })
  expect(members).toEqual([])
  const names = target
    .visits('/')
    .slice(visits)
    .map(({ headers }) => headers['user-agent'])
  expect(new Set(names)).toEqual(new Set(['two']))
})

test('an agent checks no private address that the server does not allow, and not the server itself', async () => {
  const { token } = await harness.createToken()
  harness.hubRanges.splice(0)
  await create('/')
  const link = harness.networkLink(token)
  const response = await link.sync('', { ...IDLE_SYNC, leaving: true }, new AbortController().signal)
  harness.startAgent('one', link)
  await stored(1)

  expect(response).toMatchObject({ ranges_allowed: [], server_addresses: [SERVER_ADDRESS] })
  expect(harness.handedOver[0]?.request.results[0]?.slice(4, 6)).toEqual([4, 80])
  expect(target.visits('/')).toEqual([])
})

test('an agent that reaches none of its hosts reports it, and marks none of them as down', async () => {
  const { token } = await harness.createToken()
  const paths = [1, 2, 3, 4, 5].map((host) => target.url('/').replace('127.0.0.1', `127.0.0.${host + 10}`))
  await create('/', { endpoints: paths.map((url) => endpointBody({ url })) })
  const agent = harness.startAgent('one', harness.networkLink(token))
  await stored(10)

  const outcomes = new Set(
    harness.handedOver.flatMap(({ request }) =>
      request.results.map(([, , , , outcome, reason]) => `${outcome} ${reason}`),
    ),
  )
  // It reports with its next request.
  harness.hub.renewMembers()
  while (!harness.logged().includes('an agent reaches almost none of its hosts')) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  expect(outcomes).toEqual(new Set(['4 84']))
  expect(agent.stats.suspect).toBe(true)
})
