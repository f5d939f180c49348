import { addressRules, type IsBlocked } from '../../monitoring/check/network/addressRules.ts'
import { type MonitoringView, shareMonitoring, viewOf } from '../agents/shareMonitoring.ts'
import { type MonitoringParts, startMonitoring } from '../agents/startMonitoring.ts'
import { silentBus } from '../bus/bus.ts'
import { startRelay } from '../bus/relay.ts'
import { localAdmission } from '../http/admission.ts'
import { buildApp } from '../http/app.ts'
import { startKeyUses } from '../http/keyUses.ts'
import { createMetrics } from '../http/metrics.ts'
import { addMonitoringMetrics, addStoreMetrics } from '../http/operatorMetrics.ts'
import { probesPage } from '../http/probesPage.ts'
import { keyBuckets } from '../http/rateLimit.ts'
import { RESPONSE_BOUNDS, ResponseBudget } from '../http/transport/responseBudget.ts'
import { BODY_BOUNDS } from '../http/transport/bodyBudget.ts'
import { TIMEOUTS } from '../http/transport/timeouts.ts'
import { startNotifications } from '../notifications/startNotifications.ts'
import { openMasterKeys } from '../secrets/masterKeys.ts'
import type { Engine } from '../store/engine.ts'
import type { Admission, Store } from '../store/store.ts'
import { startBackups } from './backups.ts'
import {
  connectionsOf,
  listenAdmin,
  listenForAgents,
  listenForPeople,
  listenForPublic,
  STOP_MS_MAX,
  type StopSteps,
  schemeOf,
  urlOf,
  watchCertificate,
} from './listeners.ts'
import { preflight } from './preflight.ts'
import { startRefusalLog } from './refusalLog.ts'
import { logRequest } from './requestLog.ts'
import type { ProgramSettings } from './settings.ts'
import { startTrustedClock } from './trustedClock.ts'
import { watchDatabase } from './watchDatabase.ts'

/** Interval of the database clean-up (milliseconds). */
const TIDY_MS = 60 * 60 * 1_000

/** A running server. */
export interface Program {
  readonly url: string
  readonly adminUrl: string | null
  /** URL for agents; `null` without their listener. */
  readonly agentUrl: string | null
  /** URL of status pages; `null` when they are not served. */
  readonly statusUrl: string | null
  /** URL of the console; `null` when it is not served. */
  readonly consoleUrl: string | null
  /** A summary of the monitoring from this machine, for people; `null` when there is none. */
  readonly monitoring: string | null
  readonly store: Store
  /** Publishes the commands in the outbox; resolves when the bus reader has moved past them. */
  readonly publishCommands: () => Promise<void>
  /** Stops accepting connections, finishes requests in progress, and makes all writes durable. */
  readonly close: () => Promise<void>
}

/**
 * Starts a server; resolves when it responds. Rejects, and closes everything, when the folder is in use, the database
 * or a master key is unusable, or a port is taken.
 */
export async function startProgram(settings: ProgramSettings): Promise<Program> {
  const stopSteps: (() => Promise<void> | void)[] = []
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = []
    // A part that fails to close must not keep the others open.
    for (const step of stopSteps.splice(0).reverse()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  const { isBlocked } = addressRules(settings.allowedRanges)
  await preflight(settings)
  try {
    stopSteps.push(await settings.engine.lock('serve'))
    const store = await settings.engine.open('serve')
    stopSteps.push(() => store.close())
    return { ...(await listen({ ...settings, isBlocked }, store, stopSteps)), store, close: closeAll }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function listen(
  given: ProgramSettings & { readonly isBlocked: IsBlocked },
  store: Store,
  stopSteps: StopSteps,
) {
  const certificate = given.tls === undefined ? undefined : watchCertificate(given.tls, given.log, stopSteps)
  const settings = { ...given, certificate }
  const { environment, log, isBlocked } = settings
  const { dataDir, keySource: source } = settings
  const { makesMasterKeys } = settings.engine
  const findMasterKey = await openMasterKeys({ store, source, dataDir, makesMasterKeys, environment })
  const timeouts = { ...TIMEOUTS, ...settings.timeouts }
  const budget = new ResponseBudget({ ...RESPONSE_BOUNDS, mibMs: timeouts.mibMs, ...settings.responseBounds })
  const bodies = new ResponseBudget(BODY_BOUNDS)
  const refusals = startRefusalLog(log)
  stopSteps.push(() => refusals.stop())
  const uses = startKeyUses(store, (error) => log.warn({ err: error }, 'key uses could not be recorded'))
  stopSteps.push(() => uses.stop())
  const metrics = createMetrics(budget)
  const app = buildApp({
    store,
    tls: certificate,
    environment,
    findMasterKey,
    isBlocked,
    admission: admissionOf(store, settings),
    timeouts,
    budget,
    bodies,
    connectionsMax: connectionsOf(settings),
    onConnectionEnded: () => metrics.countEndedConnection(),
    onRequestDone: (record) => {
      metrics.count(record)
      logRequest(log, record)
      refusals.count(record)
      if (record.caller !== null) uses.note(record.caller.keyId, record.userAgent, environment.nowMs())
    },
  })
  const { allowedRanges, checkProxy, isMonitoring, monotonicMs } = settings
  const clock = await startTrustedClock({ store, nowMs: environment.nowMs, monotonicMs, log })
  stopSteps.push(() => clock.stop())
  const onError = (error: unknown) => log.error({ err: error }, 'commands could not be published')
  const monitoring = isMonitoring
    ? await monitor(settings.engine, {
        ...{ store, findMasterKey, allowedRanges, checkProxy, log, monotonicMs, nowMs: environment.nowMs },
        trustedMs: clock.nowMs,
        onIngest: metrics.observeIngest,
        onCompaction: metrics.observeCompaction,
      })
    : undefined
  if (monitoring !== undefined) stopSteps.push(() => monitoring.stop())
  const bus = settings.bus ?? monitoring?.bus ?? silentBus
  const relay = startRelay({ store, bus, onError })
  stopSteps.push(() => relay.stop())
  const tidying = setInterval(() => {
    clock
      .note()
      .then(() => store.tidy(clock.nowMs()))
      .catch((error: unknown) => log.error({ err: error }, 'the database clean-up failed'))
  }, TIDY_MS)
  stopSteps.push(() => clearInterval(tidying))
  stopSteps.push(await watchDatabase(store, log))
  const { registry } = metrics
  const { nowMs } = environment
  addStoreMetrics(registry, () => store.stats(), nowMs)
  const { backups } = settings
  if (backups) stopSteps.push(startBackups(backups, { log, registry, nowMs }))
  if (monitoring !== undefined) addMonitoringMetrics(registry, monitoring.stats)
  const probes = probesPage({ store, nowMs, latest: monitoring?.latest })
  const adminUrl = await listenAdmin(settings, { store, metrics, probes, trustedMs: clock.nowMs }, stopSteps)
  const ending: StopSteps = []
  // At once, because each waits for the slowest of its clients, and notifications for the slowest receiver.
  stopSteps.push(() => stopTogether(ending))
  ending.push(startNotifications({ ...settings, store, findMasterKey, registry, nowMs }))
  const agentUrl =
    monitoring === undefined ? null : await listenForAgents(settings, store, monitoring, ending)
  const statusUrl = await listenForPublic(settings, store, monitoring, ending)
  const consoleUrl = await listenForPeople(settings, { store, findMasterKey, monitoring }, ending)
  ending.push(async () => {
    const forceClose = setTimeout(() => app.server.closeAllConnections(), STOP_MS_MAX)
    await app.close()
    clearTimeout(forceClose)
    // No client is left to receive the result.
    store.rejectWaiting()
  })
  await app.listen({ host: settings.host, port: settings.port })
  const url = urlOf(app.server, schemeOf(certificate))
  return {
    ...{ url, adminUrl, agentUrl, statusUrl, consoleUrl },
    monitoring: monitoring?.sentence ?? null,
    publishCommands: relay.drain,
  }
}

/** Runs `steps` at the same time. Rejects, when all have ended, with the first failure. */
async function stopTogether(steps: StopSteps): Promise<void> {
  const ended = await Promise.allSettled(steps.map(async (step) => step()))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}

/** Starts monitoring, which servers on one database share by a lease. */
async function monitor(
  { results }: Engine,
  parts: Omit<MonitoringParts, 'place' | 'lease'>,
): Promise<MonitoringView> {
  const { monitoringLease } = parts.store
  return monitoringLease === null || 'dataDir' in results
    ? viewOf(await startMonitoring({ ...parts, place: results, lease: null }))
    : shareMonitoring({ ...parts, ...results, monitoringLease })
}

/** The rate limit that the store shares between processes, unless the settings give another one. */
function admissionOf(store: Store, { spendRequest, monotonicMs }: ProgramSettings): Admission {
  if (spendRequest === null && store.sharedAdmission !== null) return store.sharedAdmission
  return localAdmission(store, spendRequest ?? keyBuckets(monotonicMs))
}
