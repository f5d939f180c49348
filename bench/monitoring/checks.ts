/**
 * What a check costs, beside a real blackbox_exporter in the same run, how late checks start, and how well they measure.
 * Medians of interleaved rounds. BENCH_ROUNDS and BENCH_CHECKS make it longer.
 *
 * node --import tsx bench/monitoring/checks.ts
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeAuthority } from '../../monitoring/check/testing/certificates.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { bundle } from '../server/processes.ts'
import { runLoad } from '../server/load.ts'
import type { Row } from '../server/row.ts'
import { type Blackbox, blackboxMissing, startBlackbox } from './blackbox.ts'
import type { CheckerAnswer, CheckerOrder } from './checkerOrder.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const CHECKS = Number(process.env.BENCH_CHECKS ?? 3_000)
/** A TLS handshake costs ten times as much. */
const TLS_CHECKS = Math.ceil(CHECKS / 5)
const [HTTP_RATE, TLS_RATE] = [333, 83]
/** What targets sleep before they answer (milliseconds). */
const SLEEPS_MS = [50, 100, 500]
const SCHEDULE_SECONDS = 11
/** Lateness of a bare timer up to which the machine is quiet enough to judge ours (milliseconds). */
const QUIET_TIMER_MS = 10

const answer: RequestListener = ({ url = '/' }, response) => {
  const sleepMs = Number(/^\/sleep\/(\d+)$/.exec(url)?.[1] ?? 0)
  const end = (): void =>
    void response.writeHead(200, { 'content-type': 'text/plain' }).end('ready: version 1.2\n')
  if (sleepMs === 0) end()
  else setTimeout(end, sleepMs)
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on TCP.
  return (server.address() as AddressInfo).port
}

type Checks = Extract<CheckerAnswer, { readonly cpuUs: number }>
type Schedule = Extract<CheckerAnswer, { readonly lateMs: number }>

const authority = makeAuthority()
const plain = createServer(answer)
const secure = createTlsServer(authority.valid, answer)
const url = `http://127.0.0.1:${await listen(plain)}/`
const tlsUrl = `https://localhost:${await listen(secure)}/`
const checker = fork(await bundle(new URL('./checker.ts', import.meta.url)))

async function ask(order: CheckerOrder): Promise<unknown> {
  const answered = once(checker, 'message')
  checker.send(order)
  return (await answered)[0]
}

// True because the checker answers each kind of order with its own kind of answer.
const check = async (order: Omit<Extract<CheckerOrder, { kind: 'checks' }>, 'kind'>): Promise<Checks> =>
  (await ask({ kind: 'checks', ...order })) as Checks

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0
}

/** CPU of a check, ours against the exporter's, round by round. */
async function compare(
  what: string,
  blackbox: Blackbox,
  { bar, ...order }: Omit<Extract<CheckerOrder, { kind: 'checks' }>, 'kind'> & { readonly bar: number },
): Promise<Row> {
  const ours: number[] = []
  const theirs: number[] = []
  let failed = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const checks = await check(order)
    failed += checks.failed
    ours.push(checks.cpuUs)
    theirs.push(await blackbox.probe(order.url, order.count, order.perSecond))
  }
  const ratio = median(ours) / median(theirs)
  return {
    what,
    measured: `${ratio.toFixed(2)} × (${Math.round(median(ours))} against ${Math.round(median(theirs))} µs, ${failed} failed)`,
    bar: `≤ ${bar} ×`,
    holds: ratio <= bar && failed === 0,
  }
}

async function besideBlackbox(): Promise<readonly Row[]> {
  const missing = blackboxMissing()
  if (missing !== undefined) {
    console.log(`B1 and B2 are skipped: ${missing}`)
    return []
  }
  const { authorities } = authority
  const blackbox = await startBlackbox(authorities)
  console.log(`beside ${blackbox.version}`)
  // For the compiler.
  await check({ url, count: CHECKS })
  const tls = { url: tlsUrl, authorities, count: TLS_CHECKS, bar: 1 }
  try {
    return [
      await compare('B1 plain HTTP, five assertions, stored: CPU of a check', blackbox, {
        url,
        count: CHECKS,
        bar: 0.5,
      }),
      await compare(`B1 the same at ${HTTP_RATE} a second`, blackbox, {
        url,
        count: CHECKS / 2,
        perSecond: HTTP_RATE,
        bar: 0.5,
      }),
      await compare('B2 HTTPS: CPU of a check', blackbox, tls),
      await compare(`B2 the same at ${TLS_RATE} a second`, blackbox, {
        ...tls,
        count: TLS_RATE * 4,
        perSecond: TLS_RATE,
      }),
    ]
  } finally {
    await blackbox.stop()
  }
}

async function schedule(endpoints: number): Promise<Row> {
  const order = { kind: 'schedule', url, endpoints, seconds: SCHEDULE_SECONDS } as const
  // True because of the kind of the order.
  const { lateMs, timerMs, checks } = (await ask(order)) as Schedule
  const isQuiet = timerMs <= QUIET_TIMER_MS
  return {
    what: `B4 start of ${checks} checks of ${endpoints} endpoints behind their slots, p99`,
    measured: `${lateMs.toFixed(1)} ms (a bare timer ${timerMs.toFixed(1)} ms${isQuiet ? '' : ': the machine is too busy to judge'})`,
    bar: `≤ 50 ms while the timer is ≤ ${QUIET_TIMER_MS} ms`,
    holds: lateMs <= 50 || !isQuiet,
  }
}

async function latency(sleepMs: number): Promise<Row> {
  const { totalsUs } = await check({ url: `${url}sleep/${sleepMs}`, count: 400, perSecond: 200 })
  const error = percentile99(totalsUs.map((us) => Math.abs(us / 1_000 - sleepMs)))
  return {
    what: `B5 error of the measured latency of a target that takes ${sleepMs} ms, p99`,
    measured: `${error.toFixed(1)} ms`,
    bar: '≤ 5 ms',
    holds: error <= 5,
  }
}

/** p99 of reads of the API (milliseconds), with 1,000 endpoints of which each is checked once a minute, or none is. */
async function apiP99(isMonitoring: boolean): Promise<number> {
  const server = await startServer({
    ...{
      isMonitoring,
      plan: 'enterprise',
      rateLimit: 'none',
      logLevel: 'silent',
      allowedRanges: ['127.0.0.0/8'],
    },
  })
  const endpoints = Array.from({ length: 100 }, (_, index) => endpointBody({ url: `${url}${index}` }))
  const api = apiClient(server.url, server.apiKey)
  for (let made = 0; made < 10; made += 1) await api.post('/v1/services', serviceBody({ endpoints }))
  const { port } = new URL(server.url)
  const head = `GET /v1/org HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`
  const { p99Ms } = await runLoad({
    port: Number(port),
    connections: 8,
    request: () => head,
    requests: 20_000,
  })
  await server.close()
  return p99Ms
}

async function apiBeside(): Promise<Row> {
  const [on, off]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push(await apiP99(false))
    on.push(await apiP99(true))
  }
  const ratio = median(on) / median(off)
  return {
    what: 'B6 p99 of API reads while 1,000 endpoints are checked once a minute',
    measured: `${ratio.toFixed(2)} × (${median(on).toFixed(2)} against ${median(off).toFixed(2)} ms)`,
    bar: '≤ 1.2 × that with --monitor off',
    holds: ratio <= 1.2,
  }
}

console.log(`node ${process.version}, ${ROUNDS} rounds of ${CHECKS} checks`)
const rows = [
  ...(await besideBlackbox()),
  await schedule(1_000),
  await schedule(10_000),
  ...[await latency(SLEEPS_MS[0] ?? 0), await latency(SLEEPS_MS[1] ?? 0), await latency(SLEEPS_MS[2] ?? 0)],
  await apiBeside(),
]
for (const { what, measured, bar, holds } of rows) {
  console.log(`${holds ? 'ok  ' : 'MISS'} ${what}: ${measured} (bar ${bar})`)
}
if (rows.some(({ holds }) => !holds)) process.exitCode = 1
checker.disconnect()
for (const server of [plain, secure]) {
  server.closeAllConnections()
  server.close()
}
