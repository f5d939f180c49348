/**
 * Measures how soon open pages of the console receive a change, with 200 streams in another process and a service that
 * is paused or resumed every second. Prints the time from the API's response to the event on each stream, and the
 * growth of the server's memory.
 *
 * Run with `node --import tsx bench/console/live.ts [MINUTES]`. The default is one minute; the growth counts from ten
 * minutes on.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { SESSION_COOKIE } from '../../server/console/routing/cookies.ts'
import { startConsoleServer } from '../../server/console/testing/startConsoleServer.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { percentile, report } from './report.ts'

const CLIENTS = 200
const P99_MS_MAX = 2_000
const SLOPE_MIB_MAX = 1
const MINUTE_MS = 60_000
const GROWTH_MINUTES_MIN = 10

const minutes = Number(process.argv[2] ?? 1)
const server = await startConsoleServer({ isMonitoring: true })
const api = apiClient(server.url, server.apiKey)
const { json } = await api.post('/v1/services', serviceBody({ regions: ['eu-west-1'] }))
const at = `/v1/services/${Object(json).id}`
const cookies: string[] = []
while (cookies.length < CLIENTS) {
  const { client } = await server.signIn('viewer')
  cookies.push(`${SESSION_COOKIE}=${client.cookie(SESSION_COOKIE)}`)
}
const streams = fork(new URL('./liveReaders.ts', import.meta.url), [
  `${server.consoleUrl}/o/${server.orgId}/live`,
  ...cookies,
])
await once(streams, 'message')

const times: number[] = []
let missed = 0
const memory: { readonly atMs: number; readonly bytes: number }[] = []
const untilMs = performance.now() + minutes * MINUTE_MS
for (let isPaused = true; performance.now() < untilMs; isPaused = !isPaused) {
  streams.send('begin')
  await once(streams, 'message')
  await api.post(`${at}/${isPaused ? 'pause' : 'resume'}`)
  streams.send(Date.now())
  const [seen]: [readonly number[]] = (await once(streams, 'message')) as [readonly number[]]
  times.push(...seen)
  missed += CLIENTS - seen.length
  memory.push({ atMs: performance.now(), bytes: process.memoryUsage.rss() })
}
const p99 = percentile(times, 0.99)
report(
  p99 <= P99_MS_MAX && missed === 0,
  `${times.length} events at ${CLIENTS} streams, ${missed} missing: median ${percentile(times, 0.5).toFixed(0)} ms, ` +
    `99th percentile ${p99.toFixed(0)} ms (limit ≤ ${P99_MS_MAX})`,
)
// The first third warms up.
const settled = memory.slice(Math.floor(memory.length / 3))
const [first, last] = [settled[0], settled.at(-1)]
const spanMs = (last?.atMs ?? 0) - (first?.atMs ?? 0)
const mib = (((last?.bytes ?? 0) - (first?.bytes ?? 0)) / 1_048_576) * ((10 * MINUTE_MS) / spanMs)
const text = `memory grows by ${mib.toFixed(2)} MiB in ten minutes`
if (minutes < GROWTH_MINUTES_MIN) console.log(`     ${text}, of ${minutes} min: too short to count`)
else report(mib < SLOPE_MIB_MAX, `${text} (limit < ${SLOPE_MIB_MAX})`)
streams.kill()
await server.close()
