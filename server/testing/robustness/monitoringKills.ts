import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import type { Incident, IncidentPage } from '../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { RESULTS_FILE } from '../../results/file/resultsSchema.ts'
import { DATABASE_FILE } from '../../store/sqlite/files/openDatabase.ts'
import { type AgentProcess, startAgentProcess } from '../agentProcess.ts'
import { startAgentProxy } from '../agentProxy.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { type ServerProcess, startProcess } from '../serverProcess.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { assertMonitored, type Failures, type MonitoringReport, type Outage } from './monitoringModel.ts'

/** The processes that a round kills. */
export type Victim = 'server' | 'agent' | 'both'

/** Settings of a loop. `random` returns numbers from 0 to 1. */
export interface MonitoringKillRun {
  readonly folder: string
  readonly victims: readonly Victim[]
  readonly random: () => number
  /** Called after each kill with their number; optional. */
  readonly onKill?: (kills: number) => void
}

/** The region that the agent checks, and the one that the server checks. */
const [REMOTE, EMBEDDED] = ['eu-west-1', 'us-east-1']
const INTERVAL_S = 2
const SERVICES = 6
/** Number of endpoints of a service that always respond, besides the one that does not. */
const STEADY = 2
/** Duration of an endpoint's failure, and of a whole cycle (milliseconds). A minute of success ends an incident. */
const DOWN_MS = 24_000
const CYCLE_MS = 124_000
/** Maximum number of batches before a kill, beyond the first one. */
const BATCHES_MORE = 4
/** Number of batches after the last kill, so that waiting results are delivered. */
const BATCHES_AT_END = 15
const LOOK_MS = 500
const APPLIED_MS_MAX = 30_000

/**
 * Kills a server, an agent, or both, during the delivery of results, once for each of `victims`. Throws when an
 * acknowledged result is not stored, a slot was checked twice, an incident is duplicated or missing, a transition was
 * not applied, or states do not match the stored results.
 */
export async function monitoringKills(run: MonitoringKillRun): Promise<MonitoringReport> {
  const { folder, victims, random, onKill } = run
  const dataDir = join(folder, 'data')
  const failures = failuresFrom(Date.now())
  const target = await startFlappingTarget(failures)
  const agentPort = await freePort()
  const proxy = await startAgentProxy(() => `http://127.0.0.1:${agentPort}`)
  const { orgId, key } = await prepare(folder, dataDir)
  const startServer = () =>
    startProcess(dataDir, [
      ...['--monitor', 'on', '--allow-ranges', '127.0.0.0/8', '--agent-port', String(agentPort)],
    ])
  const startAgent = () =>
    startAgentProcess([
      ...['--server', proxy.url, '--token-file', join(folder, 'token'), '--log-level', 'error'],
      ...['--allow-ranges', '127.0.0.0/8', '--spool', join(folder, 'spool')],
    ])
  let server: ServerProcess = await startServer()
  let agent: AgentProcess = startAgent()
  const outages: Outage[] = []
  try {
    const services = await createServices(server.url, key, target.url)
    await proxy.next('taken')
    for (const [index, victim] of victims.entries()) {
      const batches = 1 + Math.floor(random() * BATCHES_MORE)
      for (let batch = 1; batch < batches; batch += 1) await proxy.next('sent')
      // The kill is before or after the commit, and before or after the response arrives.
      await proxy.next(random() < 0.7 ? 'sent' : 'taken')
      const fromMs = proxy.taken.at(-1)?.atMs ?? 0
      const known = new Set(proxy.syncs.keys())
      if (victim !== 'agent') await server.kill()
      if (victim !== 'server') {
        await agent.kill()
        agent = startAgent()
      }
      if (victim !== 'agent') server = await startServer()
      let first = await proxy.next('taken')
      while (victim !== 'server' && known.has(first.instance)) first = await proxy.next('taken')
      if (victim !== 'server') outages.push({ fromMs, untilMs: Date.now() })
      onKill?.(index + 1)
    }
    for (let batch = 0; batch < BATCHES_AT_END; batch += 1) await proxy.next('taken')
    await agent.stop()
    await allApplied(dataDir)
    const incidents = await incidentsOf(server.url, key)
    await server.stop()
    const ended = { dataDir, kills: victims.length, proxy, services, incidents, outages, failures }
    return await assertMonitored({ ...ended, region: REMOTE }, orgId)
  } finally {
    if (agent.child.exitCode === null && agent.child.signalCode === null) await agent.kill()
    if (server.child.exitCode === null && server.child.signalCode === null) await server.kill()
    proxy.close()
    target.close()
  }
}

function failuresFrom(startedMs: number): Failures {
  const offsetMs = (service: number): number => (service * CYCLE_MS) / SERVICES
  return { startedMs, downMs: DOWN_MS, cycleMs: CYCLE_MS, offsetMs }
}

/** Starts a target whose path `/fails/N` fails at the times for service N. Every other path responds with 200. */
async function startFlappingTarget({ startedMs, downMs, cycleMs, offsetMs }: Failures) {
  const server = createServer(({ url = '' }, response) => {
    const service = /^\/fails\/(\d+)$/.exec(url)?.[1]
    const atMs = (Date.now() - startedMs + offsetMs(Number(service))) % cycleMs
    // Each service starts successfully, so that its first failure is a change.
    const isDown = service !== undefined && atMs >= cycleMs - downMs
    response.writeHead(isDown ? 503 : 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createTcpServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

async function prepare(folder: string, dataDir: string) {
  const admin = async (...args: string[]) => {
    const { stdout, stderr, code } = await runHere([...args, '--data-dir', dataDir, '--json'])
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  const { id: orgId } = await admin('org', 'create', '--name', 'Acme', '--plan', 'enterprise')
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', '1')
  await admin('org', 'auto-incidents', '--org', orgId, '--threshold', '2', '--window', '1')
  const { key } = await admin('key', 'create', '--org', orgId)
  const { token } = await admin('agent', 'create', '--region', REMOTE, '--name', 'dublin-1')
  writeFileSync(join(folder, 'token'), token)
  return { orgId, key }
}

async function createServices(url: string, key: string, targetUrl: string) {
  const api = apiClient(url, key)
  const made: ServiceResponse[] = []
  for (let service = 0; service < SERVICES; service += 1) {
    const paths = [
      `/fails/${service}`,
      ...Array.from({ length: STEADY }, (_, at) => `/steady/${service}/${at}`),
    ]
    for (const [region, wanted] of [
      [REMOTE, paths],
      [EMBEDDED, paths.slice(1)],
    ] as const) {
      const endpoints = wanted.map((path) => endpointBody({ url: `${targetUrl}${path}` }))
      const body = serviceBody({ interval_secs: INTERVAL_S, regions: [region], endpoints })
      const { status, json, text } = await api.post('/v1/services', body)
      if (status !== 201) throw new Error(text)
      // True because the response is a service.
      made.push(json as ServiceResponse)
    }
  }
  return made
}

/** Resolves when every transition is applied. */
async function allApplied(dataDir: string): Promise<void> {
  const endMs = performance.now() + APPLIED_MS_MAX
  const read = (file: string, sql: string): unknown => {
    const database = new Sqlite(join(dataDir, file), { readonly: true })
    try {
      return database.prepare(sql).pluck().get()
    } finally {
      database.close()
    }
  }
  for (;;) {
    const written = read(RESULTS_FILE, 'SELECT coalesce(max(sequence), 0) FROM transitions')
    const applied = read(DATABASE_FILE, 'SELECT coalesce(max(sequence), 0) FROM applied_transitions')
    if (written === applied) return
    if (performance.now() > endMs)
      throw new Error(`${written} transitions are written and ${applied} applied`)
    await sleep(LOOK_MS)
  }
}

async function incidentsOf(url: string, key: string): Promise<readonly Incident[]> {
  const api = apiClient(url, key)
  const found: Incident[] = []
  for (const section of ['active', 'resolved']) {
    for (let page = 1; ; page += 1) {
      const { json } = await api.get(`/v1/incidents?section=${section}&limit=100&page=${page}`)
      // True because the response is a page of incidents.
      const { items } = json as IncidentPage
      found.push(...items)
      if (items.length < 100) break
    }
  }
  return found
}
