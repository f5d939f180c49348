import type { Bus } from '../bus/bus.ts'
import { readResults } from '../results/threads/readResults.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import type { MonitoringLease } from '../store/store.ts'
import type { AgentHub } from './agentListener.ts'
import { followLease } from './lease/followLease.ts'
import { type Monitoring, type MonitoringParts, startMonitoring } from './startMonitoring.ts'

/** Interval between polls for changes that other servers made (milliseconds). */
const POLL_MS = 100

/** Dependencies of shared monitoring. */
export interface SharedParts extends Omit<MonitoringParts, 'place' | 'lease'> {
  /** May have a password. */
  readonly databaseUrl: string
  readonly monitoringLease: MonitoringLease
}

/** Monitoring, for a server that may not hold the lease. */
export interface MonitoringView extends Pick<Monitoring, 'measurements' | 'latest' | 'sentence' | 'stop'> {
  readonly bus: Bus
  readonly hub: AgentHub
  /** `undefined` while another server monitors. */
  readonly stats: () => Promise<Awaited<ReturnType<Monitoring['stats']>> | undefined>
  /**
   * URL of the agent port of the server that monitors; `undefined` on that server. Throws ResultsBusyError while the
   * URL is unknown.
   */
  readonly elsewhere: () => string | undefined
  /** Sets the URL at which other servers reach the agent port of this one. */
  readonly announce: (address: string) => void
}

/** The view of the only server. */
export function viewOf(monitoring: Monitoring): MonitoringView {
  const { hub } = monitoring
  return { ...monitoring, hub, bus: hub, elsewhere: () => undefined, announce: () => {} }
}

/**
 * Monitors while this server holds the lease of the database: the holder runs checks, assigns checks to agents and stores
 * the results. When it stops, another server takes over. All servers read the stored results.
 */
export async function shareMonitoring(parts: SharedParts): Promise<MonitoringView> {
  const { databaseUrl, monitoringLease, log } = parts
  const reading = readResults(databaseUrl, log)
  const leased = await followLease({
    ...{ lease: monitoringLease, log },
    start: (lease, signal) => startMonitoring({ ...parts, place: { databaseUrl }, lease, signal }),
  })
  const polls = setInterval(() => void leased.current()?.hub.publish(), POLL_MS)
  const present = (): Monitoring['hub'] => {
    const monitoring = leased.current()
    if (monitoring === undefined) throw new ResultsBusyError('another server monitors')
    return monitoring.hub
  }
  return {
    measurements: reading.measurements,
    latest: (series) => reading.latest(series),
    sentence: leased.current()?.sentence ?? 'another server runs checks; this one takes over when it stops',
    bus: {
      publish: async () => {
        await leased.current()?.hub.publish()
      },
    },
    hub: {
      sync: async (...given) => present().sync(...given),
      ingest: async (...given) => present().ingest(...given),
      forgetToken: (id) => leased.current()?.hub.forgetToken(id),
    },
    stats: async () => leased.current()?.stats(),
    elsewhere: () => {
      if (leased.current() !== undefined) return undefined
      const other = leased.otherAddress()
      if (other === null) throw new ResultsBusyError('no monitoring server can be reached at present')
      return other
    },
    announce: leased.announce,
    stop: async () => {
      clearInterval(polls)
      await leased.stop()
      await reading.stop()
    },
  }
}
