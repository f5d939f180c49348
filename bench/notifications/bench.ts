/**
 * Measures the time from an event to the arrival of its first attempt, alone and beside a channel whose receiver never
 * responds.
 *
 * Run with `node --import tsx bench/notifications/bench.ts`.
 */
import { startReceiver } from '../../server/notifications/testing/receiver.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { runHere } from '../../server/testing/commandHere.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { startServer } from '../../server/testing/startServer.ts'

const EVENTS = 300
/** Limits (milliseconds). */
const LAG_MS_MAX = 1_000
const DELAY_MS_MAX = 50

function report(holds: boolean, text: string): void {
  console.log(`${holds ? 'ok  ' : 'MISS'} ${text}`)
  if (!holds) process.exitCode = 1
}

const arrivedMs = new Map<string, number>()
const receiver = await startReceiver(({ body }) => {
  arrivedMs.set(Object(JSON.parse(body)).data.incident.id, performance.now())
  return { status: 204 }
})
const silent = await startReceiver(() => 'none')
const server = await startServer({ rateLimit: 'none', webhookRanges: ['127.0.0.0/8'] })
const api = apiClient(server.url, server.apiKey)
const { json } = await api.post('/v1/services', serviceBody())
const serviceId = String(Object(json).id)

async function addChannel(url: string): Promise<void> {
  const given = ['--data-dir', server.dataDir, '--org', server.orgId, '--kind', 'webhook', '--name', url]
  const { code, stderr } = await runHere(['channel', 'create', ...given, '--url', url])
  if (code !== 0) throw new Error(stderr)
}

/** 99th percentile and median of the time from the API's response to the arrival (milliseconds). */
async function lags(): Promise<{ readonly p99Ms: number; readonly p50Ms: number }> {
  const times: number[] = []
  for (let index = 0; index < EVENTS; index += 1) {
    const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [serviceId] }
    const { json: incident } = await api.post('/v1/incidents', body)
    const atMs = performance.now()
    const { id } = Object(incident)
    while (!arrivedMs.has(id)) await new Promise(setImmediate)
    times.push(Math.max(0, (arrivedMs.get(id) ?? 0) - atMs))
  }
  times.sort((one, other) => one - other)
  return { p99Ms: times[Math.floor(EVENTS * 0.99)] ?? 0, p50Ms: times[Math.floor(EVENTS / 2)] ?? 0 }
}

await addChannel(receiver.url)
const alone = await lags()
report(
  alone.p99Ms <= LAG_MS_MAX,
  `first attempt ${alone.p50Ms.toFixed(1)} ms after the event, 99th percentile ${alone.p99Ms.toFixed(1)} ms (limit ≤ ${LAG_MS_MAX})`,
)
await addChannel(silent.url)
const underLoad = await lags()
report(
  underLoad.p99Ms - alone.p99Ms <= DELAY_MS_MAX,
  `beside a receiver that never responds ${underLoad.p50Ms.toFixed(1)} ms, 99th percentile ${underLoad.p99Ms.toFixed(1)} ms: ` +
    `${(underLoad.p99Ms - alone.p99Ms).toFixed(1)} ms later (limit ≤ ${DELAY_MS_MAX})`,
)
await server.close()
receiver.close()
silent.close()
