import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { agentListener } from '../agents/agentListener.ts'
import { type Monitoring, startMonitoring } from '../agents/startMonitoring.ts'
import { silentBus } from '../bus/bus.ts'
import { startRelay } from '../bus/relay.ts'
import { type AdminParts, buildAdminListener } from '../http/adminListener.ts'
import { localAdmission } from '../http/admission.ts'
import { ANSWER_BOUNDS, AnswerBudget } from '../http/transport/answerBudget.ts'
import { buildApp } from '../http/app.ts'
import { BODY_BOUNDS } from '../http/transport/bodyBudget.ts'
import { probesPage } from '../http/probesPage.ts'
import { addMonitoringMetrics, addStoreMetrics } from '../http/operatorMetrics.ts'
import { createMetrics } from '../http/metrics.ts'
import { TIMEOUTS } from '../http/transport/timeouts.ts'
import { addressRules, type IsBlocked } from '../../monitoring/check/network/addressRules.ts'
import { startConsole } from '../console/startConsole.ts'
import { startNotifications } from '../notifications/startNotifications.ts'
import { readiness } from './readiness.ts'
import { startRefusalLog } from './refusalLog.ts'
import { blameHost, preflight } from './preflight.ts'
import { logRequest } from './requestLog.ts'
import type { ProgramSettings } from './settings.ts'
import { type FindMasterKey, openMasterKeys } from '../secrets/masterKeys.ts'
import { buildStatusListener } from '../statusPages/statusListener.ts'
import type { Store } from '../store/store.ts'

/** Time for requests under way to finish when the server stops (milliseconds). */
const STOP_MS_MAX = 9_000
/** Interval of the checks for disk space (milliseconds). */
const ROOM_LOOK_MS = 2_000
/** Interval of the database clean-up (milliseconds). */
const TIDY_MS = 60 * 60 * 1_000

/** A running server. */
export interface Program {
  readonly url: string
  readonly adminUrl: string | null
  /** Where agents connect; `null` when they cannot. */
  readonly agentUrl: string | null
  /** Where status pages are; `null` when they are not served. */
  readonly statusUrl: string | null
  /** Where people use the console; `null` when it is not served. */
  readonly consoleUrl: string | null
  /** A summary of the monitoring from this machine, for people; `null` when there is none. */
  readonly monitoring: string | null
  readonly store: Store
  /** Publishes the commands in the outbox; resolves when the reader of the bus has moved past them. */
  readonly publishCommands: () => Promise<void>
  /** Accepts no new connections, lets requests under way finish, makes everything durable. */
  readonly close: () => Promise<void>
}

/**
 * Starts a server; resolves when it answers. Rejects, with nothing left open, when the folder is in use, the
 * database or a master key cannot be used, or a port is taken.
 */
export async function startProgram(settings: ProgramSettings): Promise<Program> {
  const undo: (() => Promise<void> | void)[] = []
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = []
    // A part that fails to close must not keep the others open.
    for (const step of undo.splice(0).reverse()) {
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
    undo.push(await settings.engine.lock('serve'))
    const store = await settings.engine.open('serve')
    undo.push(() => store.close())
    return { ...(await listen({ ...settings, isBlocked }, store, undo)), store, close: closeAll }
  } catch (error) {
    await closeAll()
    throw error
  }
}

type Undo = (() => Promise<void> | void)[]

async function listen(
  settings: ProgramSettings & { readonly isBlocked: IsBlocked },
  store: Store,
  undo: Undo,
) {
  const { environment, log, spendRequest, isBlocked } = settings
  const { dataDir, keySource: source } = settings
  const findMasterKey = await openMasterKeys({ store, source, dataDir, environment })
  const timeouts = { ...TIMEOUTS, ...settings.timeouts }
  const budget = new AnswerBudget({ ...ANSWER_BOUNDS, mibMs: timeouts.mibMs, ...settings.answerBounds })
  const bodies = new AnswerBudget(BODY_BOUNDS)
  const refusals = startRefusalLog(log)
  undo.push(() => refusals.stop())
  const metrics = createMetrics(budget)
  const app = buildApp({
    store,
    environment,
    findMasterKey,
    isBlocked,
    admission: localAdmission(store, spendRequest),
    timeouts,
    budget,
    bodies,
    connectionsMax: connectionsOf(settings),
    onConnectionEnded: () => metrics.countEndedConnection(),
    onRequestDone: (record) => {
      metrics.count(record)
      logRequest(log, record)
      refusals.count(record)
    },
  })
  const onError = (error: unknown) => log.error({ err: error }, 'commands could not be published')
  const { allowedRanges, isMonitoring, monotonicMs } = settings
  const monitoring = isMonitoring
    ? await startMonitoring({
        ...{ dataDir, store, findMasterKey, allowedRanges, log, monotonicMs, nowMs: environment.nowMs },
        onIngest: metrics.observeIngest,
        onCompaction: metrics.observeCompaction,
      })
    : undefined
  if (monitoring !== undefined) undo.push(() => monitoring.stop())
  const bus = settings.bus ?? monitoring?.hub ?? silentBus
  const relay = startRelay({ store, bus, onError })
  undo.push(() => relay.stop())
  const tidying = setInterval(() => {
    store
      .tidy(environment.nowMs())
      .catch((error: unknown) => log.error({ err: error }, 'the database clean-up failed'))
  }, TIDY_MS)
  undo.push(() => clearInterval(tidying))
  undo.push(await watchRoom(store, log))
  const { webhookRanges } = settings
  const { registry } = metrics
  const sending = { store, findMasterKey, log, registry, nowMs: environment.nowMs, webhookRanges }
  undo.push(startNotifications(sending))
  addStoreMetrics(metrics.registry, () => store.figures(), environment.nowMs)
  if (monitoring !== undefined) addMonitoringMetrics(metrics.registry, monitoring.figures)
  const probes = probesPage({ store, latest: monitoring?.latest })
  const adminUrl = await listenAdmin(settings, { store, metrics, probes }, undo)
  const agentUrl = monitoring === undefined ? null : await listenForAgents(settings, store, monitoring, undo)
  const statusUrl = await listenForPublic(settings, store, monitoring, undo)
  const consoleUrl = await listenForPeople(settings, { store, findMasterKey, monitoring }, undo)
  undo.push(async () => {
    const forceClose = setTimeout(() => app.server.closeAllConnections(), STOP_MS_MAX)
    await app.close()
    clearTimeout(forceClose)
    // No client is left to receive the result.
    store.waitNoMore()
  })
  await app.listen({ host: settings.host, port: settings.port })
  const url = urlOf(app.server)
  const sentence = monitoring?.sentence ?? null
  return {
    url,
    adminUrl,
    agentUrl,
    statusUrl,
    consoleUrl,
    monitoring: sentence,
    publishCommands: relay.drain,
  }
}

/** Most connections of a listener: the descriptors of the process are shared. */
function connectionsOf({ connectionsMax, status, console }: ProgramSettings): number {
  const listeners = 1 + (status === null ? 0 : 1) + (console === null ? 0 : 1)
  return Math.ceil(connectionsMax / listeners)
}

/** Checks for disk space now and repeatedly; logs changes. Resolves to the function that stops it. */
async function watchRoom(store: Store, log: Logger): Promise<() => void> {
  let wasFull = false
  const look = async (): Promise<void> => {
    try {
      await store.assertRoom()
      if (wasFull) log.warn('the disk of the data folder has room again: everything is written')
      wasFull = false
    } catch (error) {
      if (!wasFull) log.error({ err: error }, 'the disk of the data folder is full')
      wasFull = true
    }
  }
  await look()
  const timer = setInterval(() => void look(), ROOM_LOOK_MS)
  return () => clearInterval(timer)
}

async function listenAdmin(
  settings: ProgramSettings,
  { store, ...pages }: Pick<AdminParts, 'metrics' | 'probes'> & { readonly store: Store },
  undo: Undo,
): Promise<string | null> {
  if (settings.adminPort === null) return null
  const admin = buildAdminListener({ ...pages, probe: readiness({ ...settings, store }) })
  await new Promise<void>((resolve, reject) => {
    admin.once('error', reject)
    admin.listen({ host: settings.adminHost, port: settings.adminPort ?? 0 }, resolve)
  }).catch(blameHost('--admin-host'))
  undo.push(
    () =>
      new Promise<void>((resolve) => {
        admin.close(() => resolve())
        admin.closeAllConnections()
      }),
  )
  return urlOf(admin)
}

async function listenForAgents(
  { agents, log, monotonicMs }: ProgramSettings,
  store: Store,
  { hub }: Monitoring,
  undo: Undo,
): Promise<string | null> {
  if (agents === null) return null
  const { host, port, tls } = agents
  const listener = agentListener({
    hub,
    tokens: store,
    monotonicMs,
    log,
    ...(tls === undefined ? {} : { tls }),
  })
  undo.push(() => listener.stop())
  await new Promise<void>((resolve, reject) => {
    listener.server.once('error', reject)
    listener.server.listen({ host, port }, resolve)
  }).catch(blameHost('--agent-host'))
  return urlOf(listener.server, tls === undefined ? 'http' : 'https')
}

async function listenForPublic(
  settings: ProgramSettings,
  store: Store,
  monitoring: Monitoring | undefined,
  undo: Undo,
): Promise<string | null> {
  const { status, environment, monotonicMs, log } = settings
  if (status === null) return null
  const listener = buildStatusListener({
    ...{ store, monotonicMs, nowMs: environment.nowMs },
    measurements: monitoring?.measurements,
    statusUrl: status.url,
    // None of them has a key, and those without one get half.
    connectionsMax: 2 * connectionsOf(settings),
    onError: (error) => log.error({ err: error }, 'a status page could not be shown'),
  })
  undo.push(async () => {
    const forceClose = setTimeout(() => listener.server.closeAllConnections(), STOP_MS_MAX)
    await listener.close()
    clearTimeout(forceClose)
  })
  await listener.listen({ host: status.host, port: status.port }).catch(blameHost('--status-host'))
  return urlOf(listener.server)
}

async function listenForPeople(
  settings: ProgramSettings & { readonly isBlocked: IsBlocked },
  parts: {
    readonly store: Store
    readonly findMasterKey: FindMasterKey
    readonly monitoring: Monitoring | undefined
  },
  undo: Undo,
): Promise<string | null> {
  const { environment, monotonicMs, isBlocked, log } = settings
  if (settings.console === null) return null
  const { store, findMasterKey, monitoring } = parts
  const running = await startConsole(
    {
      ...{ store, environment, monotonicMs, findMasterKey, isBlocked },
      measurements: monitoring?.measurements,
      // None of them has a key, and those without one get half.
      connectionsMax: 2 * connectionsOf(settings),
      onError: (error) => log.error({ err: error }, 'the console could not answer'),
    },
    settings.console,
  ).catch(blameHost('--console-host'))
  undo.push(() => running.close(STOP_MS_MAX))
  return running.url
}

function urlOf(server: Pick<Server, 'address'>, scheme = 'http'): string {
  // True because the server listens on a TCP port: only a pipe has a string for an address.
  const { address, port, family } = server.address() as AddressInfo
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
