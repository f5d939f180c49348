import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Incident } from '../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { gridOf, slotKey } from '../../../monitoring/schedule/grid.ts'
import { MonitoredServices } from '../../agents/monitoredServices.ts'
import { seriesNumber } from '../../domain/regions.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import type { MonitoredService } from '../../results/monitoredService.ts'
import { openedResults } from '../../results/testing/openedResults.ts'
import type { TestResult } from '../../results/testing/resultMessages.ts'
import { openStore } from '../../store/sqlite/openStore.ts'
import type { AgentProxy } from '../agentProxy.ts'

/** A period in which no agent checked, or in which results could be lost (milliseconds since the epoch). */
export interface Outage {
  readonly fromMs: number
  readonly untilMs: number
}

/** The times at which the target fails. */
export interface Failures {
  readonly startedMs: number
  readonly downMs: number
  readonly cycleMs: number
  /** Position of a service in the cycle (milliseconds). */
  readonly offsetMs: (service: number) => number
}

/** The data of a finished run. */
export interface MonitoringRun {
  readonly dataDir: string
  readonly kills: number
  readonly proxy: AgentProxy
  /** In the order of their numbers. The agent checks those in REMOTE. */
  readonly services: readonly ServiceResponse[]
  readonly incidents: readonly Incident[]
  readonly outages: readonly Outage[]
  readonly failures: Failures
  readonly region: string
}

/**
 * Number of consecutive failing checks that certainly open an incident. Results that a restart delays count as history
 * and open none.
 */
const FAILURES_CERTAIN = 8
/** Maximum time from the failures until their incident is opened (milliseconds). */
const OPENED_MS_MAX = 40_000
/** Maximum duration of a check (milliseconds). A result that was not delivered when its agent is killed is lost. */
const UNDER_WAY_MS = 6_000
/** Time after which the server assigns the endpoints of a killed agent to its replacement (milliseconds). */
const SHARED_MS = 9_000
const RESULTS_PAGE = 1_000

/** The result of a run. */
export interface MonitoringReport {
  readonly kills: number
  /** Numbers of results that the server acknowledged, and that are stored. */
  readonly acknowledged: number
  readonly stored: number
  readonly incidents: number
  /** Number of failures that had to open an incident. */
  readonly certain: number
  readonly transitions: number
  /** Number of the agent's slots without a result although it ran, because the machine was too busy. */
  readonly skipped: number
}

interface Stored extends TestResult {
  readonly endpointId: string
  readonly region: string
}

/** Compares the stored data with the expected data. Throws at the first difference. */
export async function assertMonitored(run: MonitoringRun, orgId: string): Promise<MonitoringReport> {
  const store = await openStore(run.dataDir, systemEnvironment.nowMs)
  const monitored = await new MonitoredServices(store).readAll()
  await store.close()
  const nowS = Math.ceil(Date.now() / 1_000)
  const opened = openedResults(run.dataDir)
  try {
    const stored = await storedResults(opened.measurements(nowS), monitored)
    const acknowledged = assertAcknowledged(run, stored)
    const skipped = assertSlots(run, stored)
    const certain = assertIncidents(run, stored)
    const count = opened.database.prepare<[], number>('SELECT count(*) FROM transitions').pluck().get() ?? 0
    const newest = opened.database.prepare<[], number>('SELECT max(sequence) FROM transitions').pluck().get()
    if ((newest ?? 0) !== count) throw new Error(`of ${newest} transitions ${count} are left`)
    const states = await statesOf(opened.measurements(nowS), orgId)
    const replayed = await replayedStates(run.dataDir, { monitored, stored, nowS, orgId })
    if (states !== replayed) throw new Error(`states are ${states}, and of the stored results ${replayed}`)
    const { kills, incidents } = run
    return {
      ...{ kills, acknowledged, stored: stored.length, certain, skipped },
      ...{ incidents: incidents.length, transitions: count },
    }
  } finally {
    opened.database.close()
  }
}

type Measured = ReturnType<ReturnType<typeof openedResults>['measurements']>

async function storedResults(measurements: Measured, monitored: readonly MonitoredService[]) {
  const found: Stored[] = []
  for (const { id: serviceId, endpoints } of monitored) {
    const numbers = new Map(endpoints.map(({ id, number }) => [id, number]))
    let before: string | undefined
    for (;;) {
      const page = await measurements.results({ serviceId, before, limit: RESULTS_PAGE })
      for (const { reason, region, endpointId, outcome, atS } of page) {
        if (reason === 'not_checked') continue
        const series = seriesNumber(numbers.get(endpointId) ?? 0, region)
        found.push({ series, endpointId, region, dueS: atS, outcome, reason })
      }
      if (page.length < RESULTS_PAGE) break
      before = page.at(-1)?.cursor
    }
  }
  return found.sort((a, b) => a.dueS - b.dueS || a.series - b.series)
}

/** Throws unless every acknowledged result is stored as it was sent, and none was refused. */
function assertAcknowledged({ proxy }: MonitoringRun, stored: readonly Stored[]): number {
  const isStored = new Set(stored.map(({ series, dueS }) => `${series} ${dueS}`))
  if (isStored.size !== stored.length) throw new Error('a result is stored twice')
  const acknowledged = new Set<string>()
  for (const { request, response } of proxy.taken) {
    if (response.refused.length > 0) throw new Error(`refused: ${JSON.stringify(response.refused)}`)
    for (const [series, , dueS] of request.results) acknowledged.add(`${series} ${dueS}`)
  }
  const lost = [...acknowledged].filter((key) => !isStored.has(key))
  if (lost.length > 0) throw new Error(`${lost.length} acknowledged results are lost, such as ${lost[0]}`)
  return acknowledged.size
}

/**
 * Throws unless every slot has at most one result, and exactly one while an agent ran. Returns the number of skipped
 * slots.
 */
function assertSlots({ services, outages, region, proxy }: MonitoringRun, stored: readonly Stored[]): number {
  const missing: string[] = []
  for (const { endpoints, regions, interval_secs: intervalS } of services) {
    for (const { id } of endpoints) {
      for (const of of regions) {
        const phaseS = slotKey(gridOf(id, of, intervalS).phaseMs)
        const isSlot = (dueS: number): boolean => (dueS - phaseS) % intervalS === 0
        const own = stored.filter((one) => one.endpointId === id && one.region === of)
        // The first check follows the creation at any time, and a slot soon after it is skipped.
        const [second, ...more] = own.slice(1).map(({ dueS }) => dueS)
        // On a busy machine a short run may end before the second check.
        if (second === undefined) continue
        const offGrid = [second, ...more].filter((dueS) => !isSlot(dueS))
        if (offGrid.length > 0)
          throw new Error(`checks of ${id} in ${of} are off their grid: ${offGrid.join()}`)
        if (of !== region) continue
        const ran = new Set([second, ...more])
        for (let dueS = second; dueS < (more.at(-1) ?? 0); dueS += intervalS) {
          if (!ran.has(dueS) && !isInOutage(dueS * 1_000, outages)) missing.push(`${dueS} of ${id}`)
        }
      }
    }
  }
  const loads = [...proxy.syncs.values()].map(({ load }) => load)
  const dropped = loads.reduce((sum, load) => sum + load.dropped, 0)
  const skipped = loads.reduce((sum, load) => sum + load.skipped, 0)
  if (dropped > 0) throw new Error(`agents gave up ${dropped} results`)
  if (missing.length <= skipped) return missing.length
  throw new Error(`${missing.length} slots have no result, and agents skipped ${skipped}: ${missing.join()}`)
}

function isInOutage(atMs: number, outages: readonly Outage[]): boolean {
  return outages.some(({ fromMs, untilMs }) => atMs > fromMs - UNDER_WAY_MS && atMs < untilMs + SHARED_MS)
}

/**
 * Throws unless each failure of a service opens one incident, and none is open beside another. Returns the number that
 * had to be opened.
 */
function assertIncidents(
  { services, incidents, failures, region }: MonitoringRun,
  stored: readonly Stored[],
) {
  let certain = 0
  for (const [place, service] of services.filter(({ regions }) => regions.includes(region)).entries()) {
    const own = incidents
      .filter(({ service_ids }) => service_ids.includes(service.id))
      .sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
    for (const [index, incident] of own.entries()) {
      const before = own[index - 1]
      if (before !== undefined && (before.resolved_at ?? '9') > incident.created_at) {
        throw new Error(`${before.display_id} and ${incident.display_id} are open together`)
      }
    }
    for (const { fromMs, untilMs } of failuresOf(service, place, failures, stored)) {
      const failed = stored.filter(
        ({ endpointId, dueS, outcome }) =>
          endpointId === service.endpoints[0]?.id &&
          outcome === 'down' &&
          dueS * 1_000 >= fromMs &&
          dueS * 1_000 < untilMs,
      ).length
      const opened = own.filter(({ created_at }) => isWithin(created_at, fromMs, untilMs + OPENED_MS_MAX))
      const isCertain = failed >= FAILURES_CERTAIN
      if (isCertain) certain += 1
      if (opened.length > 1 || (isCertain && opened.length === 0)) {
        throw new Error(`${failed} failures of ${service.id} opened ${opened.length} incidents`)
      }
    }
  }
  return certain
}

/** The periods in which the first endpoint of a service failed, up to its last result. */
function* failuresOf(
  service: ServiceResponse,
  place: number,
  { startedMs, downMs, cycleMs, offsetMs }: MonitoringRun['failures'],
  stored: readonly Stored[],
) {
  const last = stored.findLast(({ endpointId }) => endpointId === service.endpoints[0]?.id)
  const lastMs = (last?.dueS ?? 0) * 1_000
  for (let untilMs = startedMs + cycleMs - offsetMs(place); untilMs - downMs < lastMs; untilMs += cycleMs) {
    yield { fromMs: untilMs - downMs, untilMs: untilMs + 2_000 }
  }
}

function isWithin(at: string, fromMs: number, untilMs: number): boolean {
  return Date.parse(at) >= fromMs && Date.parse(at) < untilMs
}

async function statesOf(measurements: Measured, orgId: string): Promise<string> {
  const states = await measurements.states(orgId)
  return states
    .map(({ id, state }) => `${id} ${state}`)
    .sort()
    .join()
}

interface Replay {
  readonly monitored: readonly MonitoredService[]
  readonly stored: readonly Stored[]
  readonly nowS: number
  readonly orgId: string
}

/** The states that result from a replay of the stored results. */
async function replayedStates(dataDir: string, { monitored, stored, nowS, orgId }: Replay): Promise<string> {
  const folder = join(dataDir, 'replay')
  mkdirSync(folder)
  const replay = openedResults(folder)
  try {
    replay.update(monitored, (stored[0]?.dueS ?? 0) - 60)
    for (const result of stored) replay.send([result], result.dueS + 1)
    return await statesOf(replay.measurements(nowS), orgId)
  } finally {
    replay.database.close()
  }
}
