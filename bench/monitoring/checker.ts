/**
 * The measured process of checks.ts. It runs checks with the library of the agents, and stores each result as the
 * results thread does. Orders arrive over IPC, one at a time, and get a reply when done.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Assertion } from '../../api/contract/assertion.ts'
import { checkLibrary } from '../../monitoring/agent/checkLibrary.ts'
import type { PreparedCheck } from '../../monitoring/agent/checkReport.ts'
import { Runner } from '../../monitoring/agent/runner.ts'
import type { EndpointTask } from '../../monitoring/protocol/messages.ts'
import { seriesNumber } from '../../server/domain/regions.ts'
import { monitoredService, openedResults, STORE } from '../../server/results/testing/openedResults.ts'
import { axiosCheck } from './axiosCheck.ts'
import { bareExchange } from './bareExchange.ts'
import type { CheckerReply, CheckerOrder } from './checkerOrder.ts'

const REGION = 'eu-west-1'
const SERIES = 500
/** Number of concurrent checks in a closed loop. */
const IN_FLIGHT = 64
/** Maximum number of results in one transaction, and the maximum wait of a result for it (milliseconds). */
const BATCH = 500
const BATCH_MS = 200
/** Interval of a bare timer beside a schedule (milliseconds). */
const TIMER_MS = 10
const INTERVAL_S = 10
const ENDPOINTS_OF_ORG = 100
/** Number of values for a 99th percentile. */
const VALUES_KEPT = 20_000

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

const settings = { allowedRanges: ['127.0.0.0/8'], userAgent: 'pharos-bench' }
const prepared = new Map<string, readonly PreparedCheck[]>()

/**
 * The checks of some targets, prepared once: an agent prepares them when it receives a definition, and runs them for
 * months.
 */
function checksOf(urls: readonly string[], authorities: string | undefined): readonly PreparedCheck[] {
  const { prepare } = checkLibrary(authorities === undefined ? settings : { ...settings, authorities })
  const key = urls.join()
  const checks =
    prepared.get(key) ??
    Array.from({ length: SERIES }, (_, index) => prepare(taskOf(turnOf(urls, index), index + 1), 'bench'))
  prepared.set(key, checks)
  return checks
}

const turnOf = (urls: readonly string[], turn: number): string => urls[turn % urls.length] ?? ''

/** Stores results as the results thread does. */
function resultStore() {
  let waiting: { readonly series: number; readonly totalUs: number }[] = []
  let storing: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(storing)
    storing = undefined
    passS += 1
    results.send(
      waiting.map((one) => ({ ...one, dueS: passS })),
      passS,
    )
    waiting = []
  }
  const push = (number: number, totalUs: number): void => {
    waiting.push({ series: seriesNumber(number + 1, REGION), totalUs: Math.round(totalUs) })
    if (waiting.length === BATCH) flush()
    else storing ??= setTimeout(flush, BATCH_MS)
  }
  return { push, flush }
}

/**
 * Runs check number `started` of an order. Resolves with the time of the target (microseconds), or `undefined` when it
 * was not up.
 */
type CheckOnce = (started: number) => Promise<number | undefined>

function checkOnce(
  { urls, authorities, by }: ChecksOrder,
  { push }: ReturnType<typeof resultStore>,
): CheckOnce {
  if (by === 'bare socket')
    return async (started) => ((await bareExchange(turnOf(urls, started))) ? 0 : undefined)
  if (by === 'axios')
    return async (started) => ((await axiosCheck(turnOf(urls, started), authorities)) ? 0 : undefined)
  const checks = checksOf(urls, authorities)
  return async (started) => {
    const number = started % SERIES
    const report = await checks[number]?.run({ slot: started, nextDueMs: 0 })
    if (report?.outcome !== 'up') return undefined
    if (by === 'ours') push(number, report.phases.total)
    return report.phases.total
  }
}

type ChecksOrder = Extract<CheckerOrder, { kind: 'checks' }>

/** Runs `count` checks, as fast as possible or at `perSecond`. */
async function runChecks(order: ChecksOrder) {
  const { count, perSecond } = order
  const store = resultStore()
  const check = checkOnce(order, store)
  const totalsUs: number[] = []
  let started = 0
  const one = async (): Promise<void> => {
    started += 1
    const totalUs = await check(started)
    if (totalUs !== undefined) totalsUs.push(totalUs)
  }
  const before = process.cpuUsage()
  if (perSecond === undefined) {
    const worker = async (): Promise<void> => {
      while (started < count) await one()
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  } else await atRate(perSecond, count, one)
  store.flush()
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: (user + system) / count, failed: count - totalsUs.length, totalsUs }
}

/** Calls `start` `count` times at a fixed rate, regardless of unfinished calls. */
async function atRate(perSecond: number, count: number, start: () => Promise<void>): Promise<void> {
  const startedMs = performance.now()
  const underWay: Promise<void>[] = []
  for (let due = 0; due < count; due += 1) {
    const waitMs = startedMs + (due * 1_000) / perSecond - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    underWay.push(start())
  }
  await Promise.all(underWay)
}

/**
 * Delays of the starts of checks of `endpoints` during `seconds`, and of a bare timer: 99th percentiles (milliseconds).
 */
async function runSchedule({ urls, endpoints, seconds }: Extract<CheckerOrder, { kind: 'schedule' }>) {
  const lateMs = newest()
  const timerMs = newest()
  let [checks, failed] = [0, 0]
  const reasons: Record<string, number> = {}
  const runner = new Runner({
    nowMs: () => performance.timeOrigin + performance.now(),
    monotonicMs: () => performance.now(),
    onSuspect: () => {},
    onLocalFault: () => {},
    prepare: checkLibrary(settings).prepare,
    onResult: (result) => {
      lateMs.add(result.lateMs)
      checks += 1
      const { outcome, reason } = result.report
      if (outcome === 'up') return
      failed += 1
      reasons[reason] = (reasons[reason] ?? 0) + 1
    },
  })
  const tasks = Array.from({ length: endpoints }, (_, index) => taskOf(turnOf(urls, index), index + 1))
  const service = { service: STORE, generation: 1, interval_s: INTERVAL_S, first: false }
  let dueMs = performance.now() + TIMER_MS
  let isOver = false
  const tick = (): void => {
    timerMs.add(Math.max(0, performance.now() - dueMs))
    dueMs = performance.now() + TIMER_MS
    if (!isOver) setTimeout(tick, TIMER_MS)
  }
  setTimeout(tick, TIMER_MS)
  // With many organisations, because the number of concurrent checks of each is limited.
  for (let made = 0; made < endpoints; made += ENDPOINTS_OF_ORG) {
    const ofOne = tasks.slice(made, made + ENDPOINTS_OF_ORG)
    runner.start(REGION, { ...service, org: `organisation ${made}`, endpoints: ofOne }, STORE)
  }
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  runner.stop()
  isOver = true
  return { lateMs: lateMs.p99(), timerMs: timerMs.p99(), checks, failed, reasons }
}

/** Keeps the newest values of a long series. */
function newest() {
  const values: number[] = []
  let count = 0
  return {
    add: (value: number): void => {
      values[count % VALUES_KEPT] = value
      count += 1
    },
    p99: () => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0,
  }
}

process.on('message', (order: CheckerOrder) => {
  const result = order.kind === 'checks' ? runChecks(order) : runSchedule(order)
  void result.then((reply: CheckerReply) => process.send?.(reply))
})
process.on('disconnect', () => {
  rmSync(folder, { recursive: true })
  process.exit(0)
})
