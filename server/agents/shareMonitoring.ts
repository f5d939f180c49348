import type { Bus } from '../bus/bus.ts'
import { ReadResults } from '../results/threads/readResults.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import type { MonitoringTurn } from '../store/store.ts'
import type { AgentHub } from './agentListener.ts'
import { type Monitoring, type MonitoringParts, startMonitoring } from './startMonitoring.ts'

/** Interval in which the turn is taken again (milliseconds). */
const TURN_MS = 2_000
/** Interval in which changes that other servers made are looked for (milliseconds). */
const LOOK_MS = 100

/** What shared monitoring is started with. */
export interface SharedParts extends Omit<MonitoringParts, 'place' | 'lease'> {
  /** May have a password. */
  readonly databaseUrl: string
  readonly turn: MonitoringTurn
}

/** Monitoring as a server sees it that may not be the one that monitors. */
export interface MonitoringView extends Pick<Monitoring, 'measurements' | 'latest' | 'sentence' | 'stop'> {
  readonly bus: Bus
  readonly hub: AgentHub
  /** `undefined` while another server monitors. */
  readonly figures: () => Promise<Awaited<ReturnType<Monitoring['figures']>> | undefined>
  /**
   * URL of the agent port of the server that monitors; `undefined` when it is this one. Throws ResultsBusyError when it is
   * not known.
   */
  readonly elsewhere: () => string | undefined
  /** Says where other servers reach the agent port of this one. */
  readonly announce: (address: string) => void
}

/** The view of the only server. */
export function viewOf(monitoring: Monitoring): MonitoringView {
  const { hub } = monitoring
  return { ...monitoring, hub, bus: hub, elsewhere: () => undefined, announce: () => {} }
}

/**
 * Takes turns with the other servers on the database: one of them checks, gives agents their checks and stores the results, and
 * another one takes over when it ends. All of them read what it stored.
 */
export async function shareMonitoring(parts: SharedParts): Promise<MonitoringView> {
  const { databaseUrl, turn, log } = parts
  const reading = new ReadResults(databaseUrl, log)
  let monitoring: Monitoring | undefined
  let own: string | null = null
  let other: string | null = null

  async function takeTurn(): Promise<void> {
    const { isMine, address } = await turn.take(own)
    other = address
    if (isMine && monitoring === undefined) {
      monitoring = await startMonitoring({ ...parts, place: { databaseUrl }, lease: turn.lease })
      log.info('this server monitors now')
    } else if (!isMine && monitoring !== undefined) {
      const ended = monitoring
      monitoring = undefined
      log.warn('another server monitors now')
      await ended.stop()
    }
  }

  let turning: Promise<void> = takeTurn()
  await turning
  const turns = setInterval(() => {
    turning = turning
      .then(takeTurn)
      .catch((error: unknown) => log.warn({ err: error }, 'the turn to monitor could not be taken'))
  }, TURN_MS)
  const looking = setInterval(() => void monitoring?.hub.publish(), LOOK_MS)
  const present = (): Monitoring['hub'] => {
    if (monitoring === undefined) throw new ResultsBusyError('another server monitors')
    return monitoring.hub
  }
  return {
    measurements: reading.measurements,
    latest: (series) => reading.latest(series),
    sentence: monitoring?.sentence ?? 'another server monitors; this one takes over when it ends',
    bus: {
      publish: async () => {
        await monitoring?.hub.publish()
      },
    },
    hub: {
      sync: async (...given) => present().sync(...given),
      ingest: async (...given) => present().ingest(...given),
      forgetToken: (id) => monitoring?.hub.forgetToken(id),
    },
    figures: async () => monitoring?.figures(),
    elsewhere: () => {
      if (monitoring !== undefined) return undefined
      if (other === null) throw new ResultsBusyError('no server that agents can reach monitors at present')
      return other
    },
    announce: (address) => {
      own = address
    },
    stop: async () => {
      clearInterval(turns)
      clearInterval(looking)
      await turning
      await monitoring?.stop()
      await turn.giveBack().catch(() => {})
      await reading.stop()
    },
  }
}
