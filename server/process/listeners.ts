import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import type { IsBlocked } from '../../monitoring/check/network/addressRules.ts'
import { agentListener } from '../agents/agentListener.ts'
import type { MonitoringView } from '../agents/shareMonitoring.ts'
import { startConsole } from '../console/startConsole.ts'
import { type AdminParts, buildAdminListener } from '../http/adminListener.ts'
import type { CertificateSource } from '../http/transport/certificate.ts'
import type { FindMasterKey } from '../secrets/masterKeys.ts'
import { buildStatusListener } from '../statusPages/statusListener.ts'
import type { Store } from '../store/store.ts'
import { openCertificate, type TlsFiles } from './certificateFiles.ts'
import { listenAt, withHostFlag } from './preflight.ts'
import { readiness, type ReadinessParts } from './readiness.ts'
import type { ProgramSettings } from './settings.ts'

/**
 * Time for requests in progress to finish when the server stops (milliseconds): the rest of the time until
 * `enforceStopDeadline` is for monitoring and the database.
 */
export const STOP_MS_MAX = 5_000

/** Steps to stop the server, last one first. */
export type StopSteps = (() => Promise<void> | void)[]

/** Settings of a server, with the certificate of its listeners, if any. */
export interface ListenerSettings extends ProgramSettings {
  readonly certificate: CertificateSource | undefined
}

/** Maximum number of connections of a listener, which share the descriptors of the process. */
export function connectionsOf({ connectionsMax, status, console }: ProgramSettings): number {
  const listeners = 1 + (status === null ? 0 : 1) + (console === null ? 0 : 1)
  return Math.ceil(connectionsMax / listeners)
}

/** Starts the operator's listener; its URL, `null` when there is none. */
export async function listenAdmin(
  settings: ListenerSettings,
  {
    store,
    trustedMs,
    ...pages
  }: Pick<AdminParts, 'metrics' | 'probes'> & Pick<ReadinessParts, 'trustedMs'> & { readonly store: Store },
  stopSteps: StopSteps,
): Promise<string | null> {
  const { adminHost: host, adminPort: port } = settings
  if (port === null) return null
  const tls = settings.hasAdminTls === true ? settings.certificate : undefined
  const admin = buildAdminListener({ ...pages, tls, probe: readiness({ ...settings, store, trustedMs }) })
  await listenAt(admin, { host, port }, '--admin-host')
  stopSteps.push(
    () =>
      new Promise<void>((resolve) => {
        admin.close(() => resolve())
        admin.closeAllConnections()
      }),
  )
  return urlOf(admin, schemeOf(tls))
}

/** Starts the listener for agents; its URL, `null` when there is none. */
export async function listenForAgents(
  { agents, log, monotonicMs, tls: shared, certificate: opened }: ListenerSettings,
  store: Store,
  { hub, elsewhere, announce }: MonitoringView,
  stopSteps: StopSteps,
): Promise<string | null> {
  if (agents === null) return null
  const { host, port, tls } = agents
  const own = () => (tls === undefined ? undefined : watchCertificate(tls, log, stopSteps))
  // Files shared with the other listeners are watched once.
  const certificate = tls === shared ? opened : own()
  const listener = agentListener({
    ...{ hub, elsewhere },
    tokens: store,
    monotonicMs,
    log,
    tls: certificate,
  })
  stopSteps.push(() => listener.stop())
  await listenAt(listener.server, { host, port }, '--agent-host')
  const url = urlOf(listener.server, schemeOf(certificate))
  announce(agents.advertisedUrl ?? url)
  return url
}

/** Starts the listener of status pages; its URL, `null` when there is none. */
export async function listenForPublic(
  settings: ListenerSettings,
  store: Store,
  monitoring: MonitoringView | undefined,
  stopSteps: StopSteps,
): Promise<string | null> {
  const { status, environment, monotonicMs, log } = settings
  if (status === null) return null
  const listener = buildStatusListener({
    ...{ store, monotonicMs, nowMs: environment.nowMs },
    measurements: monitoring?.measurements,
    statusUrl: status.url,
    tls: settings.certificate,
    // Connections without a key get half, and none here has one.
    connectionsMax: 2 * connectionsOf(settings),
    onError: (error) => log.error({ err: error }, 'a status page could not be shown'),
  })
  stopSteps.push(async () => {
    const forceClose = setTimeout(() => listener.server.closeAllConnections(), STOP_MS_MAX)
    await listener.close()
    clearTimeout(forceClose)
  })
  await listener.listen({ host: status.host, port: status.port }).catch(withHostFlag('--status-host'))
  return urlOf(listener.server, schemeOf(settings.certificate))
}

/** Starts the console; its URL, `null` when there is none. */
export async function listenForPeople(
  settings: ListenerSettings & { readonly isBlocked: IsBlocked },
  parts: {
    readonly store: Store
    readonly findMasterKey: FindMasterKey
    readonly monitoring: MonitoringView | undefined
  },
  stopSteps: StopSteps,
): Promise<string | null> {
  const { environment, monotonicMs, isBlocked, log } = settings
  if (settings.console === null) return null
  const { store, findMasterKey, monitoring } = parts
  const running = await startConsole(
    {
      ...{ store, environment, monotonicMs, findMasterKey, isBlocked },
      measurements: monitoring?.measurements,
      tls: settings.certificate,
      // Connections without a key get half, and none here has one.
      connectionsMax: 2 * connectionsOf(settings),
      onError: (error) => log.error({ err: error }, 'the console could not respond'),
    },
    settings.console,
  ).catch(withHostFlag('--console-host'))
  stopSteps.push(() => running.close(STOP_MS_MAX))
  return running.url
}

/** Watches the certificate in `files` until the server stops. */
export function watchCertificate(files: TlsFiles, log: Logger, stopSteps: StopSteps): CertificateSource {
  const certificate = openCertificate(files, log)
  stopSteps.push(() => certificate.stop())
  return certificate
}

/** The scheme of the URLs of a listener. Pure. */
export function schemeOf(certificate: CertificateSource | undefined): string {
  return certificate === undefined ? 'http' : 'https'
}

/** The URL of a listening server. */
export function urlOf(server: Pick<Server, 'address'>, scheme = 'http'): string {
  // True because the server listens on a TCP port: only a pipe has a string for an address.
  const { address, port, family } = server.address() as AddressInfo
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
