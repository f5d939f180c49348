import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { ownAddresses } from '../../monitoring/check/network/ownAddresses.ts'
import { REGIONS } from '../domain/regions.ts'
import type { MonitoringStats } from '../http/operatorMetrics.ts'
import { RESULTS_FILE } from '../results/file/resultsSchema.ts'
import type { Measurements } from '../results/measurements/measurements.ts'
import { Results } from '../results/threads/results.ts'
import type { FindMasterKey } from '../secrets/masterKeys.ts'
import type { ResultsPlace } from '../store/engine.ts'
import type { MonitoringStore } from '../store/monitoringStore.ts'
import type { LeaseRow, Store } from '../store/store.ts'
import { applyTransitions } from './applyTransitions.ts'
import { EMBEDDED_NAME, EmbeddedAgent } from './embeddedAgent.ts'
import { Hub } from './hub.ts'
import { MonitoredServices } from './monitoredServices.ts'
import { agentReportRecorder } from './recordAgentReports.ts'

/** Maximum number of services per update of the results thread. */
const CHANGES_MAX = 500
/** Interval between polls for modes and settings that other processes changed (milliseconds). */
const POLL_MS = 1_000
/** How long ended maintenance windows are read (milliseconds): until their days are rolled up. */
const MAINTENANCE_MS = 4 * 24 * 60 * 60 * 1_000
/** CPU time per check, including storing (milliseconds). Measured on one core at a few hundred checks a second. */
const HTTP_MS = 0.5
const HTTPS_MS = 2.4

/** Dependencies of monitoring. */
export interface MonitoringParts {
  readonly place: ResultsPlace
  /** The lease that storing results requires; `null` for a file. */
  readonly lease: LeaseRow | null
  /** Aborts the start. */
  readonly signal?: AbortSignal
  readonly store: Store
  readonly findMasterKey: FindMasterKey
  readonly nowMs: () => number
  /** The time by which history expires (milliseconds since the epoch). */
  readonly trustedMs: () => number
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  readonly allowedRanges: readonly string[]
  /** URL of the proxy for checks from this machine; without a proxy when absent. */
  readonly checkProxy?: string | undefined
  readonly log: Logger
  /** Called with the time from the arrival of results until they were stored or refused (seconds). */
  readonly onIngest: (secs: number) => void
  /** Called after each run of the upkeep of results with its working time (seconds). */
  readonly onCompaction: (secs: number) => void
}

/** Running monitoring. */
export interface Monitoring {
  /** The bus of commands, and the hub of agents. */
  readonly hub: Hub
  /** A summary of the checks from this machine, for people. */
  readonly sentence: string
  readonly measurements: Measurements
  /** Last results of at most LATEST_SERIES_MAX series. Rejects with ResultsBusyError while they cannot be read. */
  readonly latest: Results['latest']
  readonly stats: () => Promise<MonitoringStats>
  readonly stop: () => Promise<void>
}

/** Starts the threads of results and checks; resolves when all stored services are about to be checked. */
export async function startMonitoring(parts: MonitoringParts): Promise<Monitoring> {
  const { place, lease, store, log, allowedRanges, checkProxy: proxy } = parts
  const services = new MonitoredServices(store)
  await services.readModes()
  const quietUpTo = await store.newestQuietChange()
  // All endpoints must have numbers before agents ask.
  await services.readAll(parts.signal)
  const applying = applyTransitions({ store, log, read: (file, after) => results.transitions(file, after) })
  const results = new Results({
    ...{ place, lease, log, storeId: store.storeId },
    readAll: (signal) => services.readAll(signal),
    readPolicy: () => store.historyPolicy(parts.nowMs() - MAINTENANCE_MS),
    trustedMs: parts.trustedMs,
    onTransitions: applying.apply,
    onCompaction: parts.onCompaction,
  })
  const measured = {
    update: (read: Parameters<Results['update']>[0]) => results.update(read),
    reportAgents: (regions: Parameters<Results['reportAgents']>[0]) => results.reportAgents(regions),
    ingest: async (batch: Parameters<Results['ingest']>[0]) => {
      const startedMs = performance.now()
      try {
        return await results.ingest(batch)
      } finally {
        parts.onIngest((performance.now() - startedMs) / 1_000)
      }
    },
  }
  const hub = new Hub({
    ...{ ...parts, storeId: store.storeId, services, results: measured },
    ownAddresses: ownAddresses(parts.monotonicMs).all,
  })
  try {
    await hub.open()
  } catch (error) {
    // The caller may retry, and two threads must not store results at once.
    await results.stop()
    throw error
  }
  const embedded = new EmbeddedAgent({
    hub,
    log,
    allowedRanges,
    proxy,
    regions: () => services.regionsIn('embedded'),
  })
  const followQuietChanges = quietChangeFollower({ store, services, results }, quietUpTo)
  const recordAgentReports = agentReportRecorder({ ...parts, members: hub.members })
  const looking = setInterval(() => {
    hub.checkMembers()
    recordAgentReports().catch((error: unknown) => {
      log.error({ err: error }, 'reports of agents could not be stored')
    })
    followModes(services, hub, embedded).catch((error: unknown) => {
      log.error({ err: error }, 'the modes of the regions could not be read')
    })
    followQuietChanges().catch((error: unknown) => {
      log.error({ err: error }, 'settings of services could not be read')
    })
  }, POLL_MS)
  return {
    hub,
    sentence: sentenceOf(services),
    measurements: results.measurements,
    latest: (series) => results.latest(series),
    stats: () => statsOf({ place, results, embedded, services, store, hub }),
    stop: async () => {
      clearInterval(looking)
      await embedded.stop()
      await hub.close()
      // Before the thread that it reads from.
      await applying.stop()
      await results.stop()
    },
  }
}

/**
 * A function that sends the results thread all changes without a command since its last call, or after `after`: another
 * process may have switched automatic incidents on. Rejects when changes cannot be read; the next call retries.
 */
function quietChangeFollower(
  {
    store,
    services,
    results,
  }: { readonly store: Store; readonly services: MonitoredServices; readonly results: Results },
  after: number,
): () => Promise<void> {
  let sent = after
  return async () => {
    const changed = await store.quietChanges(sent, CHANGES_MAX)
    const newest = changed.at(-1)
    if (newest === undefined) return
    await results.update(() => services.readSome(changed.map(({ serviceId }) => serviceId)))
    sent = newest.sequence
  }
}

async function followModes(services: MonitoredServices, hub: Hub, embedded: EmbeddedAgent): Promise<void> {
  if (!(await services.readModes())) return
  hub.renewMembers()
  embedded.updateRegions()
  await hub.reloadServices()
}

async function statsOf({
  place,
  results,
  embedded,
  services,
  store,
  hub,
}: {
  readonly place: ResultsPlace
  readonly results: Results
  readonly embedded: EmbeddedAgent
  readonly services: MonitoredServices
  readonly store: Pick<MonitoringStore, 'appliedTransition'>
  readonly hub: Hub
}): Promise<MonitoringStats> {
  const { newestTransition: newest, isUp: isStoring, waiting } = results
  const applied = newest === undefined ? 0 : await store.appliedTransition(newest.fileId)
  return {
    modes: new Map(REGIONS.map(({ code }) => [code, services.modeOf(code)])),
    agents: new Map(
      services.regionsIn('remote').map((region) => [region, hub.members.instancesOf(region).length]),
    ),
    load: embedded.load,
    loads: [
      ...(embedded.load === undefined ? [] : [{ name: EMBEDDED_NAME, load: embedded.load }]),
      ...hub.members.all().map(({ token: { region, name: agent }, instance, load }) => ({
        name: { region, agent, instance },
        load,
      })),
    ],
    checks: results.checks,
    resultsBytes: 'dataDir' in place ? await bytesOf(join(place.dataDir, RESULTS_FILE)) : null,
    isStoring,
    waiting,
    restarts: { checks: embedded.restarts, results: results.restarts },
    transitionsBehind: newest === undefined ? undefined : Math.max(0, newest.sequence - applied),
  }
}

async function bytesOf(file: string): Promise<number> {
  const { size } = await stat(file).catch(() => ({ size: 0 }))
  return size
}

function sentenceOf(services: MonitoredServices): string {
  const regions = services.regionsIn('embedded').length
  const { http, https } = services.ratesIn('embedded')
  const percent = (http * HTTP_MS + https * HTTPS_MS) / 10
  const perMinute = Math.ceil((http + https) * 60).toLocaleString('en')
  const share = percent < 1 ? 'less than 1 %' : `about ${Math.round(percent)} %`
  const count = `${regions} ${regions === 1 ? 'region' : 'regions'}`
  return `monitoring ${count} from this machine: ${perMinute} checks a minute, ${share} of a CPU core`
}
