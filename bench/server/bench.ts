import { cpus } from 'node:os'
import { type ApiResponse, apiClient } from '../../server/testing/apiClient.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { durableCreates, slowDurableCreates } from './creates.ts'
import { type LoadReport, runLoad } from './load.ts'
import { othersWait } from './othersWait.ts'
import { type Subject, startSubject } from './processes.ts'
import { CLIENTS, type Row } from './row.ts'

const READS = 20_000
const LISTS = 200
/** Number of rounds; the cheapest one counts. */
const ROUNDS = 7
/** Number of warm-up rounds for the compiler. */
const WARM_UP = 3
const SOAK_REQUESTS = Number(process.env.BENCH_SOAK ?? 1_000_000)

function get(path: string, apiKey?: string): string {
  const key = apiKey === undefined ? '' : `Authorization: Bearer ${apiKey}\r\n`
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\n${key}\r\n`
}

/** A load, and its cost for the server process. */
interface Cost extends LoadReport {
  /** CPU time for each request (microseconds), user and system. */
  readonly cpuMicros: number
}

/** A server, and the requests for it. */
interface Side {
  readonly subject: Subject
  readonly request: string
}

/**
 * Cost of the same load for two servers, interleaved, so that both see the same machine: the cheapest of several rounds
 * of each, because other work on the machine only adds.
 */
async function compare(sides: readonly [Side, Side], requests: number): Promise<readonly [Cost, Cost]> {
  for (const side of sides) await measure(side, requests * WARM_UP)
  const ours: Cost[] = []
  const theirs: Cost[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await measure(sides[0], requests))
    theirs.push(await measure(sides[1], requests))
  }
  return [cheapest(ours), cheapest(theirs)]
}

async function measure({ subject, request }: Side, requests: number): Promise<Cost> {
  const before = await cpuMicros(subject)
  const load = { port: subject.port, connections: CLIENTS, request: () => request, requests }
  const report = await runLoad(load)
  return { ...report, cpuMicros: ((await cpuMicros(subject)) - before) / requests }
}

function cheapest(costs: readonly Cost[]): Cost {
  const [least] = costs.toSorted((a, b) => a.cpuMicros - b.cpuMicros)
  if (least === undefined) throw new Error('nothing was measured')
  return { ...least, errors: costs.reduce((sum, { errors }) => sum + errors, 0) }
}

async function cpuMicros(subject: Subject): Promise<number> {
  const { user, system } = Object(await subject.ask('cpu'))
  return Number(user) + Number(system)
}

/**
 * Compares the work of two servers per second of CPU time. Wall time would include other work on the machine, such as
 * the load.
 */
function ratioRow(what: string, ours: Cost, theirs: Cost, bar: number): Row {
  const ratio = theirs.cpuMicros / ours.cpuMicros
  const rate = ({ cpuMicros: each }: Cost) => `${Math.round(1_000_000 / each)}`
  const errors = ours.errors + theirs.errors
  return {
    what,
    measured: `${ratio.toFixed(2)} × (${rate(ours)} against ${rate(theirs)} for each second of a core, ${errors} errors)`,
    bar: `≥ ${bar} ×`,
    holds: ratio >= bar && errors === 0,
  }
}

async function reads(pharos: Subject, bare: Subject): Promise<readonly Row[]> {
  const api = apiClient(`http://127.0.0.1:${pharos.port}`, pharos.apiKey)
  const created = await api.post('/v1/services', serviceBody())
  const { id } = Object(created.json)
  const mine = { subject: pharos, request: get(`/v1/services/${id}`, pharos.apiKey) }
  const response = await api.get(`/v1/services/${id}`)
  await bare.ask({ text: response.text, headers: ownHeaders(response.headers) })
  const [one, bareOne] = await compare([mine, { subject: bare, request: get('/bare') }], READS)
  for (let made = 1; made < 1_000; made += 50) {
    await Promise.all(Array.from({ length: 50 }, () => api.post('/v1/services', serviceBody())))
  }
  const list = await api.get('/v1/services')
  await bare.ask({ rows: list.json })
  const all = { subject: pharos, request: get('/v1/services', pharos.apiKey) }
  const [lists, rows] = await compare([all, { subject: bare, request: get('/rows') }], LISTS)
  return [
    ratioRow(
      'GET /v1/services/{id} against a bare route with the same bytes, headers included',
      one,
      bareOne,
      0.6,
    ),
    ratioRow('GET /v1/services with 1,000 services against parse and stringify', lists, rows, 3),
  ]
}

/** Headers of a response other than those of every Node server. */
function ownHeaders(headers: ApiResponse['headers']): object {
  const common = new Set(['content-type', 'content-length', 'connection', 'keep-alive', 'date'])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !common.has(name)))
}

async function soak(pharos: Subject): Promise<Row> {
  const memory = async () => Number(Object(await pharos.ask('memory')).heapUsed)
  const request = (index: number) => get(index % 10 === 0 ? '/v1/org' : '/v1/regions', pharos.apiKey)
  await runLoad({ port: pharos.port, connections: CLIENTS, request, requests: SOAK_REQUESTS / 10 })
  const before = await memory()
  const report = await runLoad({ port: pharos.port, connections: CLIENTS, request, requests: SOAK_REQUESTS })
  const grownMib = ((await memory()) - before) / 1_048_576
  return {
    what: `heap after ${SOAK_REQUESTS} requests`,
    measured: `${grownMib >= 0 ? '+' : ''}${grownMib.toFixed(1)} MiB (${report.errors} errors)`,
    bar: '≤ 2 MiB',
    holds: grownMib <= 2 && report.errors === 0,
  }
}

const pharos = await startSubject('pharos')
const bare = await startSubject('bare')
const rows = [...(await reads(pharos, bare)), await soak(pharos)]
await pharos.stop()
await bare.stop()
rows.push(...(await othersWait()))
rows.push(...(await durableCreates()), ...(await slowDurableCreates()))
process.stdout.write(`node ${process.versions.node}, ${cpus().length} cores\n`)
for (const { what, measured, bar, holds } of rows) {
  process.stdout.write(`${holds ? 'ok  ' : 'MISS'} ${what}: ${measured}, limit ${bar}\n`)
}
if (rows.some(({ holds }) => !holds)) process.exitCode = 1
