/**
 * Measures the console: the time of its list of services with 1,000 and with 10,000 services, and the time of API
 * requests beside 50 open consoles that reload the list at each change. The milliseconds apply only to this machine,
 * the ratio to any.
 *
 * Run with `node --import tsx bench/console/bench.ts`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { SESSION_COOKIE } from '../../server/console/routing/cookies.ts'
import { startConsoleServer } from '../../server/console/testing/startConsoleServer.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'
import { startTarget } from '../../server/testing/target.ts'
import { percentile, report } from './report.ts'

const REGIONS = ['eu-west-1', 'us-east-1', 'sa-east-1']
/** Number of requests for a percentile. The first ones warm up the compiler. */
const REQUESTS = 200
const WARM_UP = 60
const CREATED_AT_ONCE = 20
/** Limits: milliseconds for 95 of 100 requests, and bytes of a page with gzip. */
const BARS = [
  { count: 1_000, p95Ms: 15 },
  { count: 10_000, p95Ms: 40 },
]
const CONSOLES = 50
const API_REQUESTS = 20_000
const API_WAIT_MAX = 1.2
const CHANGE_MS = 2_000
const GZIP_BYTES_MAX = 12 * 1_024

const target = await startTarget()
const server = await startConsoleServer({ isMonitoring: true, allowedRanges: ['127.0.0.0/8'] })
await server.overrideLimits({ servicesMax: 20_000, endpointsMax: 20_000 })
const api = apiClient(server.url, server.apiKey)
const owner = await server.signIn('owner')
const reader = fork(new URL('./pageReader.ts', import.meta.url), [
  `${SESSION_COOKIE}=${owner.client.cookie(SESSION_COOKIE)}`,
  String(WARM_UP + REQUESTS),
])
/** Times in the server, from the head of a request to the last byte of its response. */
const timesOf = async (path: string): Promise<number[]> => {
  const started = new WeakMap<object, number>()
  const times: number[] = []
  const begin = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage }
    if (request.url === path) started.set(request, performance.now())
  }
  const end = (message: unknown): void => {
    const startedMs = started.get((message as { request: IncomingMessage }).request)
    if (startedMs !== undefined) times.push(performance.now() - startedMs)
  }
  subscribe('http.server.request.start', begin)
  subscribe('http.server.response.finish', end)
  reader.send(`${server.consoleUrl}${path}`)
  await once(reader, 'message')
  unsubscribe('http.server.request.start', begin)
  unsubscribe('http.server.response.finish', end)
  return times.slice(WARM_UP)
}
let created = 0
for (const { count, p95Ms } of BARS) {
  while (created < count) {
    const batch = Array.from({ length: Math.min(CREATED_AT_ONCE, count - created) }, (_, index) => {
      const endpoints = [endpointBody({ url: target.url(`/${created + index}`) })]
      const name = `service ${String(created + index).padStart(5, '0')}`
      return api.post('/v1/services', serviceBody({ name, regions: REGIONS, interval_secs: 300, endpoints }))
    })
    created += batch.length
    const refused = (await Promise.all(batch)).find(({ status }) => status !== 201)
    if (refused !== undefined) throw new Error(`creating a service got ${refused.status}: ${refused.text}`)
  }
  const list = `${owner.root}/services`
  for (;;) {
    const { text } = await owner.client.get(`${list}?state=unknown`)
    if (text.includes('No service matches')) break
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  for (const [name, path] of [
    ['list', list],
    ['filter', `${list}?q=service+0000`],
    ['page 7', `${list}?page=7`],
  ] as const) {
    const ms = percentile(await timesOf(path), 0.95)
    report(
      ms <= p95Ms,
      `${name} of ${count} services: 95th percentile ${ms.toFixed(1)} ms (limit ≤ ${p95Ms})`,
    )
  }
  const bytes = gzipSync((await owner.client.get(list)).text).length
  report(
    bytes <= GZIP_BYTES_MAX,
    `a page of 100 rows: ${(bytes / 1_024).toFixed(1)} kB with gzip (limit ≤ 12)`,
  )
}

const cookies: string[] = []
while (cookies.length < CONSOLES) {
  const { client } = await server.signIn('viewer')
  cookies.push(`${SESSION_COOKIE}=${client.cookie(SESSION_COOKIE)}`)
}
const [changing] = await server.store.listServices(server.orgId)
const changingId = String(Object(JSON.parse(changing?.text ?? '')).id)
// In separate processes, so that their cost does not count as the server's.
const apiReader = fork(new URL('../server/apiTimes.ts', import.meta.url), [
  `${server.url}/v1/services/${changingId}`,
  server.apiKey,
  String(API_REQUESTS),
])
const ask = async (child: ChildProcess): Promise<number> => {
  child.send('now')
  const [p99Ms] = await once(child, 'message')
  return p99Ms
}
await ask(apiReader)
const aloneMs = await ask(apiReader)
const consoles = fork(new URL('./openConsoles.ts', import.meta.url), [
  server.consoleUrl,
  `${owner.root}/services`,
  ...cookies,
])
await once(consoles, 'message')
const quietMs = await ask(apiReader)
const readsBefore = await ask(consoles)
let isPaused = false
const changes = setInterval(() => {
  isPaused = !isPaused
  void api.post(`/v1/services/${changingId}/${isPaused ? 'pause' : 'resume'}`)
}, CHANGE_MS)
const busyMs = await ask(apiReader)
clearInterval(changes)
const reads = (await ask(consoles)) - readsBefore
report(
  quietMs <= API_WAIT_MAX * aloneMs,
  `API beside ${CONSOLES} open consoles: 99th percentile ${quietMs.toFixed(2)} ms, ${aloneMs.toFixed(2)} ms alone: ` +
    `${(quietMs / aloneMs).toFixed(2)} × (limit ≤ ${API_WAIT_MAX})`,
)
console.log(
  `     with a change every ${CHANGE_MS / 1_000} s, which ${reads} lists of 10,000 services were read for: ${busyMs.toFixed(2)} ms`,
)
reader.kill()
apiReader.kill()
consoles.kill()
await server.close()
target.close()
