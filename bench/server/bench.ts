import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey, mintKey } from '../../server/domain/apiKeys.ts'
import { openDatabase } from '../../server/store/openDatabase.ts'
import { openStore } from '../../server/store/openStore.ts'
import { systemEnvironment } from '../../server/systemEnvironment.ts'
import { type ApiAnswer, apiClient } from '../../server/testing/apiClient.ts'
import { startProcess } from '../../server/testing/serverProcess.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { type LoadReport, runLoad } from './load.ts'
import { type Subject, startSubject } from './processes.ts'

/** Connections, and so requests at once. */
const CLIENTS = 64
const READS = 20_000
const LISTS = 200
const CREATES = 20_000
/** Creates that one key is used for: below the burst, so that nothing is refused. */
const CREATES_PER_KEY = 16
/** Rounds of which the cheapest one counts. */
const ROUNDS = 7
/** Rounds' worth of requests before the first that counts, for the compiler to have seen everything. */
const WARM_UP = 3
const SOAK_REQUESTS = Number(process.env.BENCH_SOAK ?? 1_000_000)

interface Row {
  readonly what: string
  readonly measured: string
  readonly bar: string
  readonly holds: boolean
}

function get(path: string, apiKey?: string): string {
  const key = apiKey === undefined ? '' : `Authorization: Bearer ${apiKey}\r\n`
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\n${key}\r\n`
}

/** A load, and what it cost the process that answered it. */
interface Cost extends LoadReport {
  /** Time on a core for each request (microseconds), of user and system. */
  readonly cpuMicros: number
}

/** A server, and what it is asked for. */
interface Side {
  readonly subject: Subject
  readonly request: string
}

/**
 * What the same load costs two servers, in turns, so that both see the same machine: of several rounds the
 * cheapest of each, because whatever else the machine does only ever adds.
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
 * Compares what two servers do with a second of a core. Wall time would compare whatever else the machine
 * does, the load itself included.
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
  const answer = await api.get(`/v1/services/${id}`)
  await bare.ask({ text: answer.text, headers: ownHeaders(answer.headers) })
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

/** What an answer says besides what any server of Node says. */
function ownHeaders(headers: ApiAnswer['headers']): object {
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

/** The rows of a create, one commit and so one flush each. */
async function insertsOneByOne(dataDir: string, text: string): Promise<number> {
  const { writer, reader } = await openDatabase(dataDir)
  const service = writer.prepare(
    'INSERT INTO services (id, org_id, generation, response) VALUES (?, ?, 1, ?)',
  )
  const command = writer.prepare(
    "INSERT INTO commands (type, region, service_id, generation, definition, created_at_ms) VALUES ('StartServiceMonitoring', 'eu-west-1', ?, 1, ?, 0)",
  )
  const use = writer.prepare('UPDATE orgs SET active_services = active_services + 1 WHERE id = ?')
  const org = String(writer.prepare('SELECT id FROM orgs').pluck().get())
  const insert = writer.transaction((id: string) => {
    command.run(id, text)
    service.run(id, org, text)
    use.run(org)
  })
  const count = 2_000
  const started = performance.now()
  for (let index = 0; index < count; index += 1) insert.immediate(crypto.randomUUID())
  const perSecond = count / ((performance.now() - started) / 1_000)
  reader.close()
  writer.close()
  return perSecond
}

async function makeKeys(dataDir: string): Promise<readonly string[]> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const orgId = crypto.randomUUID()
  await store.createOrg({ id: orgId, name: 'Bench', plan: 'enterprise', nowMs: Date.now() })
  await store.overrideLimits(orgId, { servicesMax: 10_000_000, endpointsMax: 10_000_000 })
  const keys = Array.from({ length: Math.ceil(CREATES / CREATES_PER_KEY) }, () => mintKey(systemEnvironment))
  await Promise.all(
    keys.map((key) =>
      store.createKey({
        id: crypto.randomUUID(),
        orgId,
        scope: 'read_write',
        hash: hashKey(key),
        last4: key.slice(-4),
        createdBy: null,
        nowMs: 0,
      }),
    ),
  )
  await store.close()
  return keys
}

/** Creates that wait for the store together, as many as there are clients, without HTTP in front of it. */
async function insertsTogether(dataDir: string, text: string): Promise<number> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const [org] = await store.listOrgs()
  if (org === undefined) throw new Error('there is no organisation')
  const one = (): Promise<unknown> =>
    store.createService(org.id, undefined, () => {
      const id = systemEnvironment.uuid()
      // True as far as the store looks: it keeps the text and counts the endpoints.
      const response = { ...Object(JSON.parse(text)), id }
      const command = {
        type: 'StartServiceMonitoring',
        region: 'eu-west-1',
        serviceId: id,
        generation: 1,
        definition: text,
      } as const
      return { service: { response, generation: 1 }, text, sealed: [], commands: [command] }
    })
  const started = performance.now()
  for (let made = 0; made < CREATES; made += CLIENTS) await Promise.all(Array.from({ length: CLIENTS }, one))
  const perSecond = CREATES / ((performance.now() - started) / 1_000)
  await store.close()
  return perSecond
}

async function creates(): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bench-'))
  const dataDir = join(folder, 'data')
  const keys = await makeKeys(dataDir)
  const text = JSON.stringify({ ...serviceBody(), padding: 'x'.repeat(250) })
  const oneByOne = await insertsOneByOne(dataDir, text)
  const server = await startProcess(dataDir)
  const body = JSON.stringify(serviceBody())
  const report = await runLoad({
    port: Number(new URL(server.url).port),
    connections: CLIENTS,
    requests: CREATES,
    request: (index) =>
      `POST /v1/services HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${keys[index % keys.length]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  })
  await server.stop()
  const together = await insertsTogether(dataDir, text)
  await rm(folder, { recursive: true })
  const ratio = report.requestsPerSecond / oneByOne
  const against = `against ${Math.round(oneByOne)}/s, one each ${(1_000 / oneByOne).toFixed(2)} ms`
  const rates = `${Math.round(report.requestsPerSecond)}/s ${against}`
  return [
    {
      what: `durable creates, ${CLIENTS} clients, against the same rows with one flush each`,
      measured: `${ratio.toFixed(2)} × (${rates}, ${report.errors} errors)`,
      bar: '≥ 5 ×',
      holds: ratio >= 5 && report.errors === 0,
    },
    {
      what: `the store alone, ${CLIENTS} creates that wait together, against the same`,
      measured: `${(together / oneByOne).toFixed(2)} × (${Math.round(together)}/s ${against})`,
      bar: '≥ 5 ×',
      holds: together / oneByOne >= 5,
    },
    {
      what: 'durable creates, 99 of 100 within',
      measured: `${report.p99Ms.toFixed(1)} ms (half within ${report.p50Ms.toFixed(1)} ms)`,
      bar: '≤ 50 ms',
      holds: report.p99Ms <= 50,
    },
  ]
}

const pharos = await startSubject('pharos')
const bare = await startSubject('bare')
const rows = [...(await reads(pharos, bare)), await soak(pharos)]
await pharos.stop()
await bare.stop()
rows.push(...(await creates()))
process.stdout.write(`node ${process.versions.node}, ${cpus().length} cores\n`)
for (const { what, measured, bar, holds } of rows) {
  process.stdout.write(`${holds ? 'ok  ' : 'MISS'} ${what}: ${measured}, bar ${bar}\n`)
}
if (rows.some(({ holds }) => !holds)) process.exitCode = 1
