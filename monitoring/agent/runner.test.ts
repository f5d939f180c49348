import { afterEach, expect, test, vi } from 'vitest'
import type { EndpointTask } from '../protocol/messages.ts'
import { type CheckReport, skippedCheck } from './checkReport.ts'
import { Runner } from './runner.ts'
import { pending, STORE } from './testing/pendingResults.ts'

const REFUSED: CheckReport = {
  ...skippedCheck('connect_refused', 'connection refused by 192.0.2.1:443 (IPv4)'),
  ...{ outcome: 'down', attempts: 2 },
}

const task = (series: number, host: string): EndpointTask => ({
  ...{
    id: `0192b1d4-5c1e-7000-9000-${String(series).padStart(12, '0')}`,
    series,
    blocked: false,
    assertions: [],
  },
  url: `https://${host}.example/`,
  call: { method: 'GET', timeout_ms: 1_000, redirects: 0, with_dns: false, headers: [], body: null },
})
const service = (generation: number, endpoints: EndpointTask[]) => ({
  ...{ service: STORE, org: STORE, generation, interval_s: 1, first: false, endpoints },
})

afterEach(() => vi.useRealTimers())

test('an agent suspects its own network only while it checks at least five hosts, however many endpoints it has', async () => {
  vi.useFakeTimers()
  const reasons: string[] = []
  const runner = new Runner({
    ...{ nowMs: () => Date.now(), monotonicMs: () => Date.now(), onSuspect: () => {} },
    onLocalFault: () => {},
    prepare: () => ({ run: async () => REFUSED }),
    onResult: ({ report }) => reasons.push(report.reason),
  })
  /** The reasons of all results within three seconds. */
  const found = async () => {
    reasons.splice(0)
    await vi.advanceTimersByTimeAsync(3_000)
    return [...new Set(reasons)]
  }

  runner.start(
    'eu-west-1',
    service(
      1,
      ['a', 'b', 'c', 'd', 'e'].map((host, at) => task(at, host)),
    ),
    STORE,
  )
  const ofFive = await found()
  runner.start('eu-west-1', service(2, [task(0, 'b')]), STORE)
  const ofFour = await found()
  runner.start('eu-west-1', service(3, [task(0, 'f')]), STORE)
  const ofFiveAgain = await found()
  runner.end([1])
  const ofFourAgain = await found()
  runner.stop()

  expect([ofFive, ofFour, ofFiveAgain, ofFourAgain]).toEqual([
    ['agent_suspect'],
    ['connect_refused'],
    ['agent_suspect'],
    ['connect_refused'],
  ])
})

test('a check that fails inside the agent is unknown, and others continue', async () => {
  vi.useFakeTimers()
  const results: (readonly [series: number, reason: string])[] = []
  const faults = new Set<string>()
  const runner = new Runner({
    ...{ nowMs: () => Date.now(), monotonicMs: () => Date.now(), onSuspect: () => {} },
    onLocalFault: (text) => faults.add(text),
    prepare: ({ series }) => ({
      run: async () => (series === 0 ? Promise.reject(new RangeError('secret')) : pending(1, 0).report),
    }),
    onResult: ({ series, report }) => results.push([series, report.reason]),
  })
  runner.start('eu-west-1', service(1, [task(0, 'a'), task(1, 'b')]), STORE)
  await vi.advanceTimersByTimeAsync(3_000)
  runner.stop()

  expect(new Set(results.map(String))).toEqual(new Set(['0,agent_local', '1,none']))
  expect([...faults]).toEqual(['not checked: the agent could not run the check (RangeError)'])
})

test('hosts that fail at the same time of every minute are down', async () => {
  vi.useFakeTimers()
  vi.setSystemTime(0)
  const reasons: string[] = []
  const runner = new Runner({
    ...{ nowMs: () => Date.now(), monotonicMs: () => Date.now(), onSuspect: () => {} },
    onLocalFault: () => {},
    prepare: () => ({ run: async () => (Date.now() % 60_000 < 20_000 ? REFUSED : pending(1, 0).report) }),
    onResult: ({ report }) => reasons.push(report.reason),
  })
  const endpoints = Array.from({ length: 60 }, (_, at) => task(at, `host-${at}`))
  runner.start('eu-west-1', { ...service(1, endpoints), interval_s: 60 }, STORE)
  await vi.advanceTimersByTimeAsync(60_000)
  const ofFirst = new Set(reasons.splice(0))
  await vi.advanceTimersByTimeAsync(60_000)
  runner.stop()

  expect(ofFirst).toContain('agent_suspect')
  expect(new Set(reasons)).toEqual(new Set(['connect_refused', 'none']))
})

test('a check that waits for half its interval, because too many checks of its host are running, is unknown', async () => {
  vi.useFakeTimers()
  const results: object[] = []
  const runner = new Runner({
    ...{ nowMs: () => Date.now(), monotonicMs: () => Date.now(), onSuspect: () => {} },
    onLocalFault: () => {},
    prepare: () => ({ run: () => new Promise(() => {}) }),
    onResult: ({ series, report }) =>
      results.push([series, report.outcome, report.reason, report.detail?.text]),
  })
  const endpoints = Array.from({ length: 9 }, (_, at) => task(at, 'shop'))
  runner.start('eu-west-1', { ...service(1, endpoints), interval_s: 10 }, STORE)
  await vi.advanceTimersByTimeAsync(15_000)
  const { in_flight } = runner.load
  runner.stop()

  expect(in_flight).toBe(8)
  expect(results[0]).toEqual([
    expect.any(Number),
    ...['unknown', 'agent_busy', 'not checked: the agent had too many checks under way'],
  ])
})

test('checks that never end leave slots of their host to another organisation', async () => {
  vi.useFakeTimers()
  const outcomes = new Set<string>()
  const runner = new Runner({
    ...{ nowMs: () => Date.now(), monotonicMs: () => Date.now(), onSuspect: () => {} },
    onLocalFault: () => {},
    prepare: ({ series }) => ({ run: series < 100 ? () => new Promise(() => {}) : async () => REFUSED }),
    onResult: ({ series, report }) => series >= 100 && outcomes.add(report.reason),
  })
  const slow = Array.from({ length: 20 }, (_, at) => task(at, 'shop'))
  runner.start('eu-west-1', { ...service(1, slow), interval_s: 10 }, STORE)
  runner.start('eu-west-1', { ...service(2, [task(100, 'shop')]), org: 'other', interval_s: 10 }, STORE)
  await vi.advanceTimersByTimeAsync(60_000)
  runner.stop()

  expect([...outcomes]).toEqual([REFUSED.reason])
})
