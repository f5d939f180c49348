import fastify from 'fastify'
import { BURST_REQUESTS } from '../../api/contract/tokenBucket.ts'
import { seedIncidents } from '../../server/testing/robustness/seedIncidents.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'

/** The rate of a limiter that counts like the real one, up to the same number of tokens, but never refuses. */
const NEVER_EMPTY = { burstRequests: BURST_REQUESTS, refillIntervalMs: 0.000_1 }

/**
 * The measured program, in its own process: `pharos`, the same with monitoring (`monitored`), a `bare` route that
 * responds with the bytes and headers that it was sent, or a `rows` route that parses and stringifies them. Messages
 * arrive over IPC.
 */
async function startPharos(isMonitoring: boolean): Promise<void> {
  const server = await startServer({
    rateLimit: NEVER_EMPTY,
    logLevel: 'silent',
    isMonitoring,
    allowedRanges: ['127.0.0.0/8'],
  })
  await server.overrideLimits({ servicesMax: 1_000_000, endpointsMax: 1_000_000, serviceEndpointsMax: 100 })
  process.send?.({ port: Number(new URL(server.url).port), apiKey: server.apiKey })
  process.on('message', (message) => {
    if (message === 'cpu') process.send?.(process.cpuUsage())
    if (message === 'memory') {
      globalThis.gc?.()
      process.send?.({ rss: process.memoryUsage().rss, heapUsed: process.memoryUsage().heapUsed })
    }
    if (message === 'watch') watchLoop()
    if (message === 'watched') process.send?.(longestTurnMs())
    if (message === 'seed') void seed(server).then((otherKey) => process.send?.({ otherKey }))
    if (message === 'stop') void server.close().then(() => process.exit(0))
  })
}

/** Creates a page of the largest incidents; resolves to a key of another organisation. */
async function seed({ dataDir, orgId, createOrg, createKey }: TestServer): Promise<string> {
  seedIncidents(dataDir, { orgId, incidents: 100, updates: 13, bodyChars: 19_900 })
  return await createKey({ orgId: await createOrg() })
}

/** Longest turn of the event loop since `watchLoop` (milliseconds). */
let longestTurnMs = (): number => 0

function watchLoop(): void {
  let isWatching = true
  let longest = 0
  let before = performance.now()
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - before)
    before = now
    if (isWatching) setImmediate(look)
  }
  setImmediate(look)
  longestTurnMs = () => {
    isWatching = false
    return longest
  }
}

async function startBare(): Promise<void> {
  const app = fastify()
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(':memory:')
  database.exec('CREATE TABLE rows (text TEXT)')
  let text = ''
  const all = database.prepare<[], { text: string }>('SELECT text FROM rows')
  let headers: Record<string, string> = {}
  app.get('/bare', (_request, reply) =>
    reply.headers(headers).type('application/json; charset=utf-8').send(text),
  )
  app.get('/rows', (_request, reply) => {
    const rows: unknown[] = all.all().map((row) => JSON.parse(row.text))
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(rows))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  process.on('message', (message) => {
    if (typeof message === 'object' && message !== null && 'text' in message && 'headers' in message) {
      text = String(message.text)
      headers = Object(message.headers)
    }
    if (typeof message === 'object' && message !== null && 'rows' in message && Array.isArray(message.rows)) {
      const insert = database.prepare('INSERT INTO rows VALUES (?)')
      for (const row of message.rows) insert.run(JSON.stringify(row))
    }
    if (message === 'stop') process.exit(0)
    process.send?.(process.cpuUsage())
  })
  const address = app.server.address()
  process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 })
}

if (process.argv[2] === 'bare') await startBare()
else await startPharos(process.argv[2] === 'monitored')
