import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { request } from 'undici'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { HOSTILE_BODIES, HOSTILE_INCIDENTS, HOSTILE_QUERIES, HOSTILE_UPDATES } from './hostileBodies.ts'
import { runLoad } from './load.ts'
import { type Subject, startSubject } from './processes.ts'
import type { Row } from './row.ts'

/** Number of rounds; the shortest turn counts, because other work on the machine only adds. */
const ROUNDS = 5
const TURN_MS_MAX = 50
/** Number of sockets that never read, and of reads with another key beside them. */
const SILENT = 20
const READS = 2_000
const P99_MS_MAX = 250
const HEAP_MIB = 256

/** Measures the delay of other clients: the longest turn for one request, and reads beside clients that never read. */
export async function othersWait(): Promise<readonly Row[]> {
  const pharos = await startSubject('pharos', [`--max-old-space-size=${HEAP_MIB}`])
  const rows = [await worstTurn(pharos), await besideSilence(pharos)]
  await pharos.stop()
  return rows
}

/** The longest turn of the event loop during `work` (milliseconds). */
async function longestTurn(pharos: Subject, work: () => Promise<unknown>): Promise<number> {
  pharos.child.send('watch')
  await work()
  return Number(await pharos.ask('watched'))
}

async function leastOf(pharos: Subject, work: () => Promise<unknown>): Promise<number> {
  const turns: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) turns.push(await longestTurn(pharos, work))
  return Math.min(...turns)
}

/** A request that is expensive for one reason. */
interface Hostile {
  readonly what: string
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: string
}

async function worstTurn(pharos: Subject): Promise<Row> {
  const idleMs = await leastOf(pharos, () => setTimeout(100))
  let worst = { what: 'none', ms: 0 }
  for (const hostile of await hostileRequests(pharos)) {
    const what = `${hostile.method} ${hostile.what}`
    let status = 0
    const ms = await leastOf(pharos, async () => {
      status = (await ask(pharos, hostile)).status
    })
    if (process.env.BENCH_BODIES !== undefined) {
      process.stdout.write(`     ${what}: ${ms.toFixed(1)} ms ${status}\n`)
    }
    if (ms > worst.ms) worst = { what, ms }
  }
  return {
    what: 'longest turn of the event loop for a request of at most 1 MiB',
    measured: `${worst.ms.toFixed(1)} ms (${worst.what}; ${idleMs.toFixed(1)} ms when idle)`,
    bar: `≤ ${TURN_MS_MAX} ms`,
    holds: worst.ms <= TURN_MS_MAX,
  }
}

async function ask(
  { port, apiKey }: Subject,
  { method, path, body }: Hostile,
): Promise<{ status: number; json: unknown }> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const response = await request(`http://127.0.0.1:${port}${path}`, { method, headers, body: body ?? null })
  return { status: response.statusCode, json: await response.body.json() }
}

/** Every hostile request, for an existing service and incident. */
async function hostileRequests(pharos: Subject): Promise<readonly Hostile[]> {
  const create = async (path: string, value: object) =>
    Object((await ask(pharos, { what: 'setup', method: 'POST', path, body: JSON.stringify(value) })).json)
  const service = await create('/v1/services', serviceBody())
  const incident = await create('/v1/incidents', {
    title: 'x',
    message: 'x',
    severity: 'major_outage',
    service_ids: [service.id],
  })
  const bodies = (method: 'POST' | 'PATCH', path: string, of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([what, body]): Hostile => ({ what, method, path, body }))
  const queries = Object.entries(HOSTILE_QUERIES).map(
    ([what, query]): Hostile => ({ what, method: 'GET', path: `/v1/incidents?${query}` }),
  )
  return [
    ...bodies('POST', '/v1/services', HOSTILE_BODIES),
    ...bodies('PATCH', `/v1/services/${service.id}`, HOSTILE_BODIES),
    ...bodies('POST', '/v1/incidents', HOSTILE_INCIDENTS),
    ...bodies('POST', `/v1/incidents/${incident.id}/updates`, HOSTILE_UPDATES),
    ...queries,
  ]
}

async function besideSilence(pharos: Subject): Promise<Row> {
  const { otherKey } = Object(await pharos.ask('seed'))
  const read = `GET /v1/org HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${otherKey}\r\n\r\n`
  const load = { port: pharos.port, connections: 1, request: () => read, requests: READS }
  const idle = await runLoad(load)
  const page = `GET /v1/incidents?section=active&limit=100 HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${pharos.apiKey}\r\n\r\n`
  const sockets = Array.from({ length: SILENT }, (): Socket => {
    const socket = connect(pharos.port, '127.0.0.1').pause()
    socket.on('error', () => {})
    socket.write(page)
    return socket
  })
  const underLoad = await runLoad(load)
  for (const socket of sockets) socket.destroy()
  const isAlive = pharos.child.exitCode === null && pharos.child.signalCode === null
  return {
    what: `p99 of GET /v1/org beside ${SILENT} pages of the largest incidents that are never read, heap of ${HEAP_MIB} MiB`,
    measured: `${underLoad.p99Ms.toFixed(1)} ms (${idle.p99Ms.toFixed(1)} ms when idle, ${idle.errors + underLoad.errors} errors)`,
    bar: `≤ ${P99_MS_MAX} ms`,
    holds: isAlive && underLoad.p99Ms <= P99_MS_MAX && underLoad.errors + idle.errors === 0,
  }
}
