import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EndpointTask, SyncResponse } from '../protocol/messages.ts'
import { gridOf, slotAfter, slotKey } from '../schedule/grid.ts'
import { Agent } from './agent.ts'
import type { LinkSyncRequest } from './link.ts'
import { pending, STORE } from './testing/pendingResults.ts'

const HOUR_MS = 60 * 60 * 1_000
const START_MS = Date.UTC(2026, 10, 22)
const WAIT_MS = 25_000
const { report } = pending(1, 0)

/** A server with configured responses, on the test's clock. */
let server: {
  isUnavailable: boolean
  /** Lead of the server's clock over the test's (milliseconds). */
  aheadMs: number
  readonly requests: LinkSyncRequest[]
  signal: AbortSignal | undefined
}
/** The agent's machine: lead of its wall clock, and time for which its monotonic clock stood still (milliseconds). */
let machine: { wallAheadMs: number; stoodStillMs: number }
/** Seconds of the slots that were checked, in order. */
let checkedS: number[]
let agent: Agent

const TASK: EndpointTask = {
  ...{ id: '0192b1d4-5c1e-7000-9000-000000000001', series: 1, url: 'https://shop.example/', blocked: false },
  assertions: [],
  call: { method: 'GET', timeout_ms: 1_000, redirects: 0, with_dns: false, headers: [], body: null },
}

function responseTo({ instance, cursor }: LinkSyncRequest): SyncResponse {
  const service = { service: STORE, org: STORE, generation: 1, interval_s: 60, first: false }
  return {
    ...{ protocol: 1, store: STORE, region: 'eu-west-1', now_ms: Date.now() + server.aheadMs },
    ...{ waited_ms: cursor === null ? 0 : WAIT_MS, epoch: 1, members: [instance], cursor: `${STORE}.1` },
    ...{ whole: cursor === null, more: false, end: [], sealing: null, inventory: 'same' },
    start: cursor === null ? [{ ...service, endpoints: [TASK] }] : [],
    ...{ ranges_allowed: [], server_addresses: [] },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.setSystemTime(START_MS)
  server = { isUnavailable: false, aheadMs: 0, requests: [], signal: undefined }
  machine = { wallAheadMs: 0, stoodStillMs: 0 }
  checkedS = []
  agent = new Agent({
    link: {
      sync: async (_region, request, signal) => {
        server.signal = signal
        if (server.isUnavailable) throw new Error('no connection')
        if (request.leaving) return responseTo(request)
        server.requests.push(request)
        if (request.cursor !== null) await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
        return responseTo(request)
      },
      results: async ({ batch, results }) => {
        checkedS.push(...results.map(([, , dueS]) => dueS))
        return { batch, stored: results.length, known: 0, refused: [], now_ms: Date.now() }
      },
    },
    ...{ instance: STORE, version: '0.0.0', onError: () => {} },
    library: { prepare: () => ({ run: async () => report }), restrict: () => {} },
    wallMs: () => Date.now() + machine.wallAheadMs,
    // True for a clock that only runs forward, as long as no test sets the faked one back.
    monotonicMs: () => Date.now() - START_MS - machine.stoodStillMs,
  })
  void agent.setRegions(['eu-west-1'])
})
afterEach(async () => {
  server.isUnavailable = false
  const stopped = agent.stop()
  await vi.runAllTimersAsync()
  await stopped
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('checks stop 24 h after the last response of the server, and resume with the next one', async () => {
  await pass(HOUR_MS)
  server.isUnavailable = true
  const before = checkedS.length
  await pass(23 * HOUR_MS)
  const within = checkedS.length - before
  await pass(2 * HOUR_MS)
  const atEnd = checkedS.length
  await pass(4 * HOUR_MS)
  const afterEnd = checkedS.length
  server.isUnavailable = false
  server.requests.splice(0)
  await pass(2 * 60_000)

  expect(within).toBe(23 * 60)
  expect([atEnd - before <= 24 * 60 + 1, afterEnd - atEnd]).toEqual([true, 0])
  expect(server.requests[0]).toMatchObject({ cursor: null, inventory: { count: 0 } })
  expect(checkedS.length).toBeGreaterThan(afterEnd)
})

test('a server whose clock is set back by ten minutes gets no slot twice, and the schedule continues at the next due slot', async () => {
  await pass(10 * 60_000)
  server.aheadMs = -10 * 60_000
  await pass(5 * 60_000)
  const inGap = checkedS.length
  await pass(60 * 60_000)

  expect(inGap).toBeLessThanOrEqual(11)
  expect(checkedS.length).toBeGreaterThan(inGap + 25)
  expect(checkedS).toEqual([...new Set(checkedS)].toSorted((a, b) => a - b))
})

test.each([
  ['an hour', HOUR_MS],
  ['a month', 30 * 24 * HOUR_MS],
])(
  'the checks of a server whose clock was %s ahead continue at once when it is corrected',
  async (_, aheadMs) => {
    server.aheadMs = aheadMs
    await pass(10 * 60_000)
    server.aheadMs = 0
    await pass(WAIT_MS)
    const before = checkedS.length
    await pass(10 * 60_000)

    expect(checkedS.length - before).toBe(10)
    expect(checkedS.at(-1)).toBeLessThanOrEqual(Date.now() / 1_000)
  },
)

test('an agent adopts a changed server clock with the next response', async () => {
  await pass(10 * 60_000)
  server.aheadMs = HOUR_MS
  await pass(WAIT_MS + 90_000)

  const last = checkedS.at(-1) ?? 0
  expect(last * 1_000 - (START_MS + HOUR_MS)).toBeGreaterThan(10 * 60_000)
  expect(agent.stats.clock_ahead_ms).toBe(-HOUR_MS)
})

test.each([HOUR_MS, -HOUR_MS])(
  'a wall clock set %d ms ahead moves no slot, and the agent reports the offset',
  async (wallAheadMs) => {
    await pass(10 * 60_000)
    machine.wallAheadMs = wallAheadMs
    await pass(10 * 60_000)

    const grid = gridOf(TASK.id, 'eu-west-1', 60)
    const first = slotKey(slotAfter(grid, START_MS))
    expect(checkedS).toEqual(checkedS.map((_, index) => first + 60 * index))
    expect(checkedS.length).toBeGreaterThanOrEqual(19)
    expect(agent.stats.clock_ahead_ms).toBe(wallAheadMs)
  },
)

test('an agent on a machine that was suspended for two hours continues with the newest slot', async () => {
  await pass(10 * 60_000)
  const before = checkedS.length
  vi.setSystemTime(Date.now() + 2 * HOUR_MS)
  machine.stoodStillMs = 2 * HOUR_MS
  // The response to the request in progress, or to the next one, has the server's time.
  await pass(WAIT_MS + 60_000)

  const wokenS = START_MS / 1_000 + 2 * 3_600 + 600
  const late = checkedS.slice(before)
  expect(late.filter((dueS) => dueS < wokenS - 60).length).toBeLessThanOrEqual(1)
  expect([1, 2]).toContain(late.filter((dueS) => dueS >= wokenS - 60).length)
  expect(checkedS).toEqual([...new Set(checkedS)].toSorted((a, b) => a - b))
  expect(agent.stats.skipped).toBeGreaterThanOrEqual(118)
})

test('an agent that did not run for two hours checks only the newest slot, and counts the others as missed', async () => {
  await pass(10 * 60_000)
  const before = checkedS.length
  vi.setSystemTime(Date.now() + 2 * HOUR_MS)
  await pass(60_000)

  const late = checkedS.slice(before)
  expect(late.length).toBeLessThanOrEqual(2)
  expect(late.every((dueS) => dueS * 1_000 > START_MS + 2 * HOUR_MS + 9 * 60_000)).toBe(true)
  expect(agent.stats.skipped).toBeGreaterThanOrEqual(118)
})

test('an agent that fails to reach its server for days leaks no listener', async () => {
  server.isUnavailable = true
  await pass(2 * HOUR_MS)

  const { signal } = server
  expect(signal === undefined ? undefined : getEventListeners(signal, 'abort').length).toBe(1)
})
