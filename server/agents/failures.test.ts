import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { checkLibrary } from '../../monitoring/agent/checkLibrary.ts'
import type { LinkError } from '../../monitoring/agent/link.ts'
import { type AgentProxy, startAgentProxy } from '../testing/agentProxy.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startTarget, type Target } from '../testing/target.ts'
import { LOST_MS } from './members.ts'
import { type AgentHarness, REGION, startHarness } from './testing/agentHarness.ts'

let harness: AgentHarness
let target: Target
let proxy: AgentProxy
let passedMs: number
beforeEach(async () => {
  passedMs = 0
  target = await startTarget()
  harness = await startHarness(() => performance.now() + passedMs)
  proxy = await startAgentProxy(() => harness.url)
})
afterEach(async () => {
  proxy.restore()
  await harness.close()
  proxy.close()
  target.close()
})

async function create(
  paths: readonly string[],
  changes: Partial<ServiceRequest> = {},
): Promise<ServiceResponse> {
  const endpoints = paths.map((path) => endpointBody({ url: target.url(path) }))
  const body = serviceBody({ interval_secs: 1, regions: [REGION], endpoints, ...changes })
  const { json, status } = await harness.api.post('/v1/services', body)
  expect(status).toBe(201)
  // True because the response is a service.
  return json as ServiceResponse
}

const wait = (isDone: () => boolean) => vi.waitUntil(isDone, { timeout: 60_000, interval: 20 })
const members = () => harness.hub.members.instancesOf(REGION)
/** Due times of the results that agents handed over so far. */
const handedOver = () =>
  harness.handedOver.flatMap(({ request }) => request.results.map(([, , dueS]) => dueS))
const reported = (instance: string) =>
  harness.handedOver.filter(({ request }) => request.instance === instance).length

test('a disconnected agent is lost, continues to check, and delivers its results later, each slot once', async () => {
  const { token } = await harness.createToken()
  harness.startAgent('one', harness.networkLink(token, proxy.url))
  const { id: serviceId } = await create(['/cut'])
  await wait(() => handedOver().length > 0)

  proxy.cut()
  const cutS = Date.now() / 1_000
  await target.visited('/cut', target.visits('/cut').length + 3)
  const mendedS = Date.now() / 1_000
  passedMs += LOST_MS
  harness.hub.checkMembers()
  const whileCut = members()
  proxy.restore()
  await wait(() => handedOver().some((dueS) => dueS > mendedS))
  await wait(() => members().length === 1)

  const results = await harness.measurements.results({ serviceId, limit: 1_000 })
  const checked = results.filter(({ reason }) => reason !== 'not_checked').map(({ atS }) => atS)
  expect(whileCut).toEqual([])
  expect(harness.logged()).toContain('the region has no agent')
  expect(checked.filter((atS) => atS > cutS && atS < mendedS).length).toBeGreaterThan(1)
  expect(new Set(handedOver()).size).toBe(checked.length)
})

test('an agent with the instance of another is refused 409, and checks nothing until that one has left', async () => {
  const { token } = await harness.createToken()
  const instance = randomUUID()
  const one = harness.startAgent('one', harness.networkLink(token), { instance })
  await wait(() => members().length === 1)
  const refusals: LinkError[] = []
  harness.startAgent('two', harness.networkLink(token), {
    instance,
    // True because a link that got a response rejects with nothing else.
    onError: (error) => refusals.push(error as LinkError),
  })
  await create(['/twice'])
  await target.visited('/twice', 3)
  await wait(() => refusals.length > 0)
  const visitors = new Set(target.visits('/twice').map(({ headers }) => headers['user-agent']))

  await one.stop()
  await wait(() => target.visits('/twice').some(({ headers }) => headers['user-agent'] === 'two'))

  expect(visitors).toEqual(new Set(['one']))
  expect(refusals[0]).toMatchObject({ status: 409 })
})

test('when one of three agents goes silent, only that one is lost, and the others take its endpoints', async () => {
  // Ids are random, and so is who checks an endpoint: of these, each agent gets some.
  const paths = Array.from({ length: 60 }, (_, index) => `/${index}`)
  const { token } = await harness.createToken()
  const instances = [randomUUID(), randomUUID(), randomUUID()] as const
  const addresses = [harness.url, harness.url, proxy.url]
  for (const [index, instance] of instances.entries()) {
    harness.startAgent(String(index), harness.networkLink(token, addresses[index]), { instance })
  }
  await wait(() => members().length === 3)
  for (let first = 0; first < paths.length; first += 20) await create(paths.slice(first, first + 20))
  await wait(() => instances.every((instance) => reported(instance) > 0))

  proxy.cut()
  passedMs += LOST_MS - 1_000
  const before = instances.map(reported)
  // What was on its way counts for the time before.
  await wait(() => [0, 1].every((index) => reported(instances[index] ?? '') > (before[index] ?? 0) + 1))
  passedMs += 1_000
  harness.hub.checkMembers()
  const left = members()
  const silent = (path: string) =>
    target.visits(path).filter(({ headers }) => headers['user-agent'] === '2').length
  const own = paths.filter((path) => silent(path) > 0)
  const others = (path: string) => target.visits(path).length - silent(path)
  await wait(() => own.every((path) => others(path) > 0))

  expect(left).toEqual([instances[0], instances[1]].toSorted())
  expect(own.length).toBeGreaterThan(0)
})

test('a repeated, duplicated or late announcement restarts nothing', async () => {
  const prepared: string[] = []
  const library = checkLibrary({ allowedRanges: ['127.0.0.0/8'], userAgent: 'one' })
  harness.startAgent('one', harness.portLink(), {
    library: {
      ...library,
      prepare: (task, org) => {
        prepared.push(task.url)
        return library.prepare(task, org)
      },
    },
  })
  const { id } = await create(['/old'])
  await target.visited('/old', 1)
  await harness.api.patch(
    `/v1/services/${id}`,
    serviceBody({
      ...{ interval_secs: 1, regions: [REGION] },
      endpoints: [endpointBody({ url: target.url('/new') })],
    }),
  )
  await target.visited('/new', 1)
  const oldVisits = target.visits('/old').length

  for (let times = 0; times < 20; times += 1)
    await Promise.all([harness.hub.publish(), harness.hub.publish()])
  await create(['/next'])
  await target.visited('/next', 2)

  expect(prepared).toEqual(['/old', '/new', '/next'].map(target.url))
  expect(target.visits('/old').length).toBe(oldVisits)
})
