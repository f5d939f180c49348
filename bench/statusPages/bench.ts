/**
 * Measures status pages: responses per second compared with a bare Fastify that sends the same bytes, and the time of
 * API responses while the public reads pages as fast as possible. The ratios apply to any machine, the milliseconds
 * only to this one.
 *
 * Run with `node --import tsx bench/statusPages/bench.ts`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { startSampleSite } from '../../server/statusPages/testing/sampleSite.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { runLoad } from '../server/load.ts'

const COMPONENTS = 30
/** Number of interleaved runs of each, of requests in a run, and of connections. */
const RUNS = 10
const REQUESTS = 20_000
const CONNECTIONS = 16
/** Number of API requests for the 99th percentile. */
const API_REQUESTS = 1_000
/** Maximum ratio of the API's times while pages are read to those without. */
const API_WAIT_MAX = 3

const site = await startSampleSite()
const components = await Promise.all(
  Array.from({ length: COMPONENTS }, async (_, index) => ({
    serviceId: await site.addService(`service-${index}`, {
      state: 'up',
      problems: { [index]: { down: 600 } },
    }),
    name: `Component ${index}`,
  })),
)
await site.addPage({ slug: 'example', title: 'Example', sections: [{ name: 'All', components }] })

const accept = { 'accept-encoding': 'br' }
const first = await fetch(`${site.url}/s/example`, { headers: accept })
const etag = first.headers.get('etag') ?? ''
const { request } = await import('undici')
const body = Buffer.from(
  await (await request(`${site.url}/s/example`, { headers: accept })).body.arrayBuffer(),
)
const bare = fastify()
const unknown = await fetch(`${site.url}/s/nothing`)
const unknownBody = Buffer.from(await unknown.arrayBuffer())
const [headers, unknownHeaders] = [first, unknown].map((response) =>
  Object.fromEntries(
    [...response.headers].filter(([name]) => !/^(date|connection|keep-alive|content-length)$/.test(name)),
  ),
)
bare.get('/*', async (asked, reply) => {
  reply.headers(headers ?? {})
  return asked.headers['if-none-match'] === undefined ? reply.send(body) : reply.code(304).send()
})
bare.get('/none', async (_asked, reply) =>
  reply
    .code(404)
    .headers(unknownHeaders ?? {})
    .send(unknownBody),
)
await bare.listen({ host: '127.0.0.1', port: 0 })
// True because the server listens on TCP.
const bareUrl = `http://127.0.0.1:${(bare.server.address() as AddressInfo).port}`

function requestText(url: string, lines: readonly string[]): string {
  const { hostname, pathname } = new URL(url)
  return [`GET ${pathname} HTTP/1.1`, `Host: ${hostname}`, ...lines, '', ''].join('\r\n')
}

/** Time for REQUESTS, sent one at a time on each connection (seconds). */
async function secondsOf(url: string, lines: readonly string[]): Promise<number> {
  const text = requestText(url, lines)
  const port = Number(new URL(url).port)
  const asked = { port, connections: CONNECTIONS, requests: REQUESTS, request: () => text }
  return REQUESTS / (await runLoad(asked)).requestsPerSecond
}

const SUBJECTS = [
  { name: 'brotli', path: '/s/example', lines: ['Accept-Encoding: br'], barePath: '/s/example', least: 0.6 },
  {
    name: '304',
    path: '/s/example',
    lines: ['Accept-Encoding: br', `If-None-Match: ${etag}`],
    barePath: '/s/example',
    least: 0.8,
  },
  { name: 'unknown page', path: '/s/nothing', lines: [], barePath: '/none', least: 0.8 },
]

process.stdout.write(`${COMPONENTS} components, ${body.length} bytes with brotli, ${RUNS} runs\n`)
let isSlow = false
for (const { name, path, lines, barePath, least } of SUBJECTS) {
  const ratios: number[] = []
  for (let run = 0; run <= RUNS; run += 1) {
    site.clock.monotonicMs += 1_000
    const bareS = await secondsOf(`${bareUrl}${barePath}`, lines)
    const ratio = bareS / (await secondsOf(`${site.url}${path}`, lines))
    // The first run warms up the compiler.
    if (run > 0) ratios.push(ratio)
  }
  ratios.sort((one, other) => one - other)
  const median = ratios[Math.floor(ratios.length / 2)] ?? 0
  isSlow ||= median < least
  process.stdout.write(
    `${name.padEnd(14)} ${median.toFixed(2)} × bare Fastify (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}), at least ${least}\n`,
  )
}
await bare.close()
await site.close()

const server = await startServer({ rateLimit: 'none', status: {} })
const api = apiClient(server.url, server.apiKey)
const created = await api.post('/v1/services', serviceBody())
const serviceId = String(Object(created.json).id)
await server.store.createStatusPage({
  ...{ id: crypto.randomUUID(), orgId: server.orgId, nowMs: Date.now() },
  settings: {
    slug: 'example',
    title: 'Example',
    sections: [{ name: '', components: [{ serviceId, name: 'One' }] }],
  },
})

// In separate processes, so that their cost does not count as the server's.
const reader = fork(new URL('../server/apiTimes.ts', import.meta.url), [
  `${server.url}/v1/services/${serviceId}`,
  server.apiKey,
  String(API_REQUESTS),
])

/** 99th percentile of API reads (milliseconds). */
async function apiP99Ms(): Promise<number> {
  reader.send('measure')
  const [p99Ms] = await once(reader, 'message')
  return p99Ms
}

await apiP99Ms()
const idleMs = await apiP99Ms()
const page = await fetch(`${server.statusUrl}/s/example`, { headers: accept })
if (!page.ok) throw new Error(`the page responded with ${page.status}`)
const load = fork(new URL('./pageLoad.ts', import.meta.url), [
  new URL(server.statusUrl ?? '').port,
  String(CONNECTIONS),
  requestText(`${server.statusUrl}/s/example`, ['Accept-Encoding: br']),
])
await once(load, 'message')
await apiP99Ms()
const loadedMs = await apiP99Ms()
load.kill()
reader.kill()
await server.close()
process.stdout.write(
  `API p99 ${idleMs.toFixed(2)} ms alone, ${loadedMs.toFixed(2)} ms while ${CONNECTIONS} connections read pages without a pause: ` +
    `${(loadedMs / idleMs).toFixed(1)} ×, at most ${API_WAIT_MAX}\n`,
)
if (isSlow || loadedMs > API_WAIT_MAX * idleMs) process.exitCode = 1
