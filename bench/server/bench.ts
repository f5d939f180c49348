import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey, mintKey } from '../../server/domain/apiKeys.ts'
import { openDatabase } from '../../server/store/openDatabase.ts'
import { openStore } from '../../server/store/openStore.ts'
import { systemEnvironment } from '../../server/systemEnvironment.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { startProcess } from '../../server/testing/serverProcess.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { type LoadReport, runLoad } from './load.ts'
import { type Subject, startSubject } from './processes.ts'

/** Connections, and so requests at once. */
const CLIENTS = 64
const READS = 40_000
const LISTS = 600
const CREATES = 20_000
/** Creates that one key is used for: below the burst, so that nothing is refused. */
const CREATES_PER_KEY = 16
/** Rounds of which the middle one counts. */
const ROUNDS = 3
/** Rounds before the first that counts: the compiler takes that long to have seen everything. */
const WARM_UP = 2
const SOAK_REQUESTS = Number(process.env.BENCH_SOAK ?? 200_000)

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

/** The middle of several runs of the same load, after one to warm up. */
async function load(subject: Subject, request: (index: number) => string, requests: number): Promise<Cost> {
  const { port } = subject
  await runLoad({ port, connections: CLIENTS, request, requests: requests * WARM_UP })
  const costs: Cost[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await cpuMicros(subject)
    const report = await runLoad({ port, connections: CLIENTS, request, requests })
    costs.push({ ...report, cpuMicros: ((await cpuMicros(subject)) - before) / requests })
  }
  const middle = costs.toSorted((a, b) => a.cpuMicros - b.cpuMicros)[Math.floor(ROUNDS / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  return { ...middle, errors: costs.reduce((sum, { errors }) => sum + errors, 0) }
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
  await bare.ask({ text: created.text })
  const one = await load(pharos, () => get(`/v1/services/${id}`, pharos.apiKey), READS)
  const bareOne = await load(bare, () => get('/bare'), READS)
  for (let made = 1; made < 1_000; made += 50) {
    await Promise.all(Array.from({ length: 50 }, () => api.post('/v1/services', serviceBody())))
  }
  const list = await api.get('/v1/services')
  await bare.ask({ rows: list.json })
  const all = await load(pharos, () => get('/v1/services', pharos.apiKey), LISTS)
  const rows = await load(bare, () => get('/rows'), LISTS)
  return [
    ratioRow('GET /v1/services/{id} against a bare route with the same bytes', one, bareOne, 0.6),
    ratioRow('GET /v1/services with 1,000 services against parse and stringify', all, rows, 3),
  ]
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
  await rm(folder, { recursive: true })
  const ratio = report.requestsPerSecond / oneByOne
  const rates = `${Math.round(report.requestsPerSecond)}/s against ${Math.round(oneByOne)}/s`
  return [
    {
      what: `durable creates, ${CLIENTS} clients, against the same rows with one flush each`,
      measured: `${ratio.toFixed(2)} × (${rates}, ${report.errors} errors)`,
      bar: '≥ 5 ×',
      holds: ratio >= 5 && report.errors === 0,
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
