/**
 * The measured process of checks.ts: makes checks with the library of the agents, and stores each result as the results
 * thread does. Orders come over IPC, one at a time; each is answered when it is done.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Assertion } from '../../api/contract/assertion.ts'
import { checkLibrary } from '../../monitoring/agent/checkLibrary.ts'
import type { CheckReport } from '../../monitoring/agent/checkReport.ts'
import { Runner } from '../../monitoring/agent/runner.ts'
import type { EndpointTask } from '../../monitoring/protocol/messages.ts'
import { seriesNumber } from '../../server/domain/regions.ts'
import { monitoredService, openedResults, STORE } from '../../server/results/testing/openedResults.ts'
import type { CheckerAnswer, CheckerOrder } from './checkerOrder.ts'

const REGION = 'eu-west-1'
const SERIES = 500
/** Checks under way at a time in a closed loop. */
const IN_FLIGHT = 64
/** Results of one transaction. */
const BATCH = 500
/** How often a bare timer fires beside a schedule (milliseconds). */
const TIMER_MS = 10
const INTERVAL_S = 10

/** Five assertions, a regular expression on the body among them. */
const ASSERTIONS: readonly Assertion[] = [
  { StatusCode: { expected: { Eq: 200 } } },
  { Latency: { l_type: 'TotalLatency', expected: { LessThan: { secs: 5, nanos: 0 } } } },
  { Header: { name: 'content-type', matcher: { StartsWith: 'text/plain' } } },
  { Body: { matcher: { Contains: 'ready' } } },
  { Body: { matcher: { Regex: 'version [0-9]+\\.[0-9]+' } } },
]

const folder = mkdtempSync(join(tmpdir(), 'pharos-checker-'))
const results = openedResults(folder)
const startS = Math.floor(Date.now() / 1_000)
let passS = startS
results.update(
  Array.from({ length: SERIES }, (_, index) => monitoredService(index + 1)),
  startS,
)

function taskOf(url: string, number: number): EndpointTask {
  const id = `0192b1d4-5c1e-7000-9000-${String(number).padStart(12, '0')}`
  const call = {
    method: 'GET' as const,
    timeout_ms: 10_000,
    redirects: 10,
    with_dns: false,
    headers: [],
    body: null,
  }
  return {
    id,
    series: seriesNumber(number, REGION),
    url,
    blocked: false,
    assertions: [...ASSERTIONS],
    call,
  } as const
}

const libraryOf = (authorities: string | undefined) =>
  checkLibrary({
    allowedRanges: ['127.0.0.0/8'],
    userAgent: 'pharos-bench',
    ...(authorities === undefined ? {} : { authorities }),
  })

/** Checks `count` times, as fast as it goes or at `perSecond`, and stores every result. */
async function runChecks({ url, count, authorities, perSecond }: Extract<CheckerOrder, { kind: 'checks' }>) {
  const prepare = libraryOf(authorities)
  const checks = Array.from({ length: SERIES }, (_, index) => prepare(taskOf(url, index + 1)))
  let waiting: { readonly series: number; readonly totalUs: number }[] = []
  const totals: number[] = []
  let failed = 0
  let started = 0
  const store = (): void => {
    passS += 1
    results.send(
      waiting.map((one) => ({ ...one, dueS: passS })),
      passS,
    )
    waiting = []
  }
  const one = async (): Promise<void> => {
    const number = started % SERIES
    started += 1
    const report: CheckReport | undefined = await checks[number]?.run({ slot: started, nextDueMs: 0 })
    if (report?.outcome !== 'up') failed += 1
    totals.push(report?.totalUs ?? 0)
    waiting.push({ series: seriesNumber(number + 1, REGION), totalUs: Math.round(report?.totalUs ?? 0) })
    if (waiting.length === BATCH) store()
  }
  const before = process.cpuUsage()
  if (perSecond === undefined) {
    const worker = async (): Promise<void> => {
      while (started < count) await one()
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  } else await atRate(perSecond, count, one)
  if (waiting.length > 0) store()
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: (user + system) / count, failed, totalsUs: totals }
}

/** Starts `count` times at a fixed rate, whatever is still under way. */
async function atRate(perSecond: number, count: number, start: () => Promise<void>): Promise<void> {
  const startedMs = performance.now()
  const underWay: Promise<void>[] = []
  while (underWay.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - startedMs) * perSecond) / 1_000))
    while (underWay.length < due) underWay.push(start())
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.all(underWay)
}

/** How late checks of `endpoints` start in `seconds`, beside a bare timer: 99th percentiles (milliseconds). */
async function runSchedule({ url, endpoints, seconds }: Extract<CheckerOrder, { kind: 'schedule' }>) {
  const lateMs: number[] = []
  const runner = new Runner({
    nowMs: () => performance.timeOrigin + performance.now(),
    prepare: libraryOf(undefined),
    onResult: (result) => lateMs.push(result.lateMs),
  })
  const tasks = Array.from({ length: endpoints }, (_, index) => taskOf(url, index + 1))
  const service = { service: STORE, org: STORE, generation: 1, interval_s: INTERVAL_S, first: false }
  const timerMs: number[] = []
  let dueMs = performance.now() + TIMER_MS
  let isOver = false
  const tick = (): void => {
    timerMs.push(Math.max(0, performance.now() - dueMs))
    dueMs = performance.now() + TIMER_MS
    if (!isOver) setTimeout(tick, TIMER_MS)
  }
  setTimeout(tick, TIMER_MS)
  runner.start(REGION, { ...service, endpoints: tasks }, STORE)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  runner.stop()
  isOver = true
  return { lateMs: p99(lateMs), timerMs: p99(timerMs), checks: lateMs.length }
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
}

process.on('message', (order: CheckerOrder) => {
  const answering = order.kind === 'checks' ? runChecks(order) : runSchedule(order)
  void answering.then((answer: CheckerAnswer) => process.send?.(answer))
})
process.on('disconnect', () => {
  rmSync(folder, { recursive: true })
  process.exit(0)
})
