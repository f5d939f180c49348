/**
 * Cost of a check, compared with a real blackbox_exporter and axios in the same run, delay of the start of checks, and
 * accuracy of their measurements. Medians of interleaved rounds. BENCH_ROUNDS and BENCH_CHECKS make the run longer.
 *
 * node --import tsx bench/monitoring/checks.ts
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { apiClient } from '../../server/testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'
import { runLoad } from '../server/load.ts'
import { bundle, startSubject } from '../server/processes.ts'
import type { Row } from '../server/row.ts'
import { blackboxMissing, startBlackbox } from './blackbox.ts'
import type { CheckerReply, CheckerOrder } from './checkerOrder.ts'
import { startTargets } from './startTargets.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const CHECKS = Number(process.env.BENCH_CHECKS ?? 3_000)
/** A TLS handshake costs ten times as much. */
const TLS_CHECKS = Math.ceil(CHECKS / 5)
/** Warm-up checks for the compiler, in rounds, because programs with checks run for months. */
const WARM_UP = 4
const [HTTP_RATE, TLS_RATE] = [333, 83]
/** Delays of targets before their response (milliseconds). */
const SLEEPS_MS = [50, 100, 500]
const SCHEDULE_SECONDS = 11
/** Maximum delay of a bare timer at which the machine is quiet enough to judge ours (milliseconds). */
const QUIET_TIMER_MS = 10
/** B6: number of endpoints of a server, in services of 100. */
const SERVED_ENDPOINTS = 1_000
const RSS_MB_MAX = 200
const LOOK_MS = 100

type Checks = Extract<CheckerReply, { readonly cpuUs: number }>
type Schedule = Extract<CheckerReply, { readonly lateMs: number }>

const targets = await startTargets()
const { urls, tlsUrl, authorities } = targets
const [url = ''] = urls
const checker = fork(await bundle(new URL('./checker.ts', import.meta.url)), { execArgv: [] })

async function ask(order: CheckerOrder): Promise<unknown> {
  const reply = once(checker, 'message')
  checker.send(order)
  return (await reply)[0]
}

type ChecksOrder = Omit<Extract<CheckerOrder, { kind: 'checks' }>, 'kind'>

// True because the checker has one kind of reply for each kind of order.
const check = async (order: ChecksOrder): Promise<Checks> =>
  (await ask({ kind: 'checks', ...order })) as Checks

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0
}

/** A side of a comparison: CPU time of a check (microseconds), and number of failures. */
type Side = () => Promise<{ readonly cpuUs: number; readonly failed: number }>

/**
 * CPU time of a check by `ours` as a ratio to `theirs`, round by round. With a `floor`, only the time beyond it counts.
 */
async function compare(
  what: string,
  barAtMost: number,
  { ours, theirs, floor }: { readonly ours: Side; readonly theirs: Side; readonly floor?: Side },
): Promise<Row> {
  const us: [number[], number[], number[]] = [[], [], []]
  let failed = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const [own, their, least] = [await ours(), await theirs(), await floor?.()]
    us[0].push(own.cpuUs)
    us[1].push(their.cpuUs)
    if (least !== undefined) us[2].push(least.cpuUs)
    failed += own.failed + their.failed
  }
  const [own, their, least] = [median(us[0]), median(us[1]), median(us[2])]
  const ratio = (own - least) / (their - least)
  const above = floor === undefined ? '' : ` above ${Math.round(least)} µs of a bare socket`
  return {
    what,
    measured: `${ratio.toFixed(2)} × (${Math.round(own)} against ${Math.round(their)} µs${above}, ${failed} failed)`,
    bar: `≤ ${barAtMost} ×`,
    holds: ratio <= barAtMost && failed === 0,
  }
}

const HTTP = { urls, count: CHECKS } as const
const TLS = { urls: [tlsUrl], authorities, count: TLS_CHECKS } as const
const by =
  (who: ChecksOrder['by'], order: Omit<ChecksOrder, 'by'>): Side =>
  () =>
    check({ ...order, by: who })

async function besideBlackbox(): Promise<readonly Row[]> {
  const missing = blackboxMissing()
  if (missing !== undefined) {
    console.log(`B1 and B2 are skipped: ${missing}`)
    return []
  }
  const blackbox = await startBlackbox(authorities)
  console.log(`beside ${blackbox.version}`)
  // A failed probe ends the run.
  const probes =
    ({ urls: probed, count, perSecond }: Omit<ChecksOrder, 'by'>): Side =>
    async () => ({ cpuUs: await blackbox.probe(probed, count, perSecond), failed: 0 })
  const row = (what: string, bar: number, order: Omit<ChecksOrder, 'by'>): Promise<Row> =>
    compare(what, bar, { ours: by('ours', order), theirs: probes(order) })
  try {
    return [
      await row('B1 plain HTTP, five assertions, stored: CPU of a check', 0.5, HTTP),
      await row(`B1 the same at ${HTTP_RATE} a second`, 0.5, {
        ...HTTP,
        count: CHECKS / 2,
        perSecond: HTTP_RATE,
      }),
      await row('B2 HTTPS: CPU of a check', 1, TLS),
      await row(`B2 the same at ${TLS_RATE} a second`, 1, {
        ...TLS,
        count: TLS_RATE * 4,
        perSecond: TLS_RATE,
      }),
    ]
  } finally {
    await blackbox.stop()
  }
}

async function besideAxios(): Promise<readonly Row[]> {
  const sides = (order: Omit<ChecksOrder, 'by'>) => ({
    ours: by('ours, not stored', order),
    theirs: by('axios', order),
  })
  const what = 'nothing stored, against axios as Uptime Kuma uses it'
  return [
    // Most of a plain exchange is the system's work for the connection, which is the same for both.
    await compare(`B3 plain HTTP, ${what}`, 0.33, { ...sides(HTTP), floor: by('bare socket', HTTP) }),
    await compare(`B3 HTTPS, ${what}`, 0.59, sides(TLS)),
  ]
}

async function schedule(endpoints: number): Promise<Row> {
  const order = { kind: 'schedule', urls, endpoints, seconds: SCHEDULE_SECONDS } as const
  // True because of the order's kind.
  const { lateMs, timerMs, checks, failed } = (await ask(order)) as Schedule
  const isQuiet = timerMs <= QUIET_TIMER_MS
  return {
    what: `B4 start of ${checks} checks (${failed} failed) of ${endpoints} endpoints behind their slots, p99`,
    measured: `${lateMs.toFixed(1)} ms (a bare timer ${timerMs.toFixed(1)} ms${isQuiet ? '' : ': the machine is too busy to judge'})`,
    bar: `≤ 50 ms while the timer is ≤ ${QUIET_TIMER_MS} ms`,
    holds: (lateMs <= 50 && failed === 0) || !isQuiet,
  }
}

async function latency(sleepMs: number): Promise<Row> {
  const { totalsUs } = await check({
    by: 'ours',
    urls: [`${url}sleep/${sleepMs}`],
    count: 400,
    perSecond: 200,
  })
  const error = percentile99(totalsUs.map((us) => Math.abs(us / 1_000 - sleepMs)))
  return {
    what: `B5 error of the measured latency of a target that takes ${sleepMs} ms, p99`,
    measured: `${error.toFixed(1)} ms`,
    bar: '≤ 5 ms',
    holds: error <= 5,
  }
}

/** 99th percentile of API reads (milliseconds), and maximum memory of the server (bytes), with or without checks. */
async function servedP99(kind: 'pharos' | 'monitored'): Promise<{ p99Ms: number; rssBytes: number }> {
  const server = await startSubject(kind)
  const api = apiClient(`http://127.0.0.1:${server.port}`, server.apiKey)
  const before = await targets.requests()
  for (let made = 0; made < SERVED_ENDPOINTS; made += 100) {
    const endpoints = Array.from({ length: 100 }, (_, index) =>
      endpointBody({ url: `${urls[(made + index) % urls.length]}${made + index}` }),
    )
    await api.post('/v1/services', serviceBody({ endpoints }))
  }
  const madeAll = async (): Promise<boolean> => (await targets.requests()) - before >= SERVED_ENDPOINTS
  // The first checks of new endpoints run all at once. Only those once a minute count.
  while (kind === 'monitored' && !(await madeAll()))
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  const head = `GET /v1/org HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`
  const load = { port: server.port, connections: 8, request: () => head }
  await runLoad({ ...load, requests: 10_000 })
  const { p99Ms } = await runLoad({ ...load, requests: 20_000 })
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
  await server.stop()
  return { p99Ms, rssBytes: Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024 }
}

async function besideChecks(): Promise<readonly Row[]> {
  const [on, off, rss]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push((await servedP99('pharos')).p99Ms)
    const { p99Ms, rssBytes } = await servedP99('monitored')
    on.push(p99Ms)
    rss.push(rssBytes)
  }
  const ratio = median(on) / median(off)
  const rssMb = Math.max(...rss) / 1_000_000
  return [
    {
      what: `B6 p99 of API reads while ${SERVED_ENDPOINTS} endpoints are checked once a minute`,
      measured: `${ratio.toFixed(2)} × (${median(on).toFixed(2)} against ${median(off).toFixed(2)} ms)`,
      bar: '≤ 1.2 × that with --monitor off',
      holds: ratio <= 1.2,
    },
    {
      what: 'B6 most memory of that server',
      measured: `${rssMb.toFixed(0)} MB`,
      bar: `≤ ${RSS_MB_MAX} MB`,
      holds: rssMb <= RSS_MB_MAX,
    },
  ]
}

console.log(`node ${process.version}, ${ROUNDS} rounds of ${CHECKS} checks`)
for (const who of ['ours', 'axios', 'bare socket'] as const) {
  await check({ ...HTTP, by: who, count: WARM_UP * CHECKS })
  if (who !== 'bare socket') await check({ ...TLS, by: who, count: WARM_UP * TLS_CHECKS })
}
const measurements: readonly (() => Promise<readonly Row[]>)[] = [
  besideBlackbox,
  besideAxios,
  async () => [await schedule(1_000), await schedule(10_000)],
  ...SLEEPS_MS.map((sleepMs) => async () => [await latency(sleepMs)]),
  besideChecks,
]
for (const measure of measurements) {
  for (const { what, measured, bar, holds } of await measure()) {
    console.log(`${holds ? 'ok  ' : 'MISS'} ${what}: ${measured} (limit ${bar})`)
    if (!holds) process.exitCode = 1
  }
}
checker.disconnect()
targets.stop()
