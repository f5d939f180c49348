import type { Logger } from 'pino'
import type { LeaseRow, MonitoringLease } from '../../store/store.ts'
import { failureLog } from './failureLog.ts'

/** Interval between renewals of the lease (milliseconds). */
export const RENEWAL_MS = 2_000

/** Work that only the holder of a lease does. */
interface Work {
  readonly stop: () => Promise<void>
}

/** Dependencies of the work of a lease. */
export interface LeaseParts<Leased extends Work> {
  readonly lease: Pick<MonitoringLease, 'acquire' | 'release'>
  /**
   * Starts the work of a term. It may take longer than the lease lasts, which is renewed meanwhile. Rejects when
   * `signal` is aborted.
   */
  readonly start: (row: LeaseRow, signal: AbortSignal) => Promise<Leased>
  readonly log: Logger
}

/** The work of a lease, on a server that may not hold it. */
export interface LeasedWork<Leased extends Work> {
  /** `undefined` while this server does not do the work. */
  readonly current: () => Leased | undefined
  /** URL of the agent port of the other server that holds the lease; `null` when this one does, or when it has none. */
  readonly otherAddress: () => string | null
  /** Sets the URL of the agent port of this server. */
  readonly announce: (address: string) => void
  /** Ends the work and releases the lease. */
  readonly stop: () => Promise<void>
}

/**
 * Works while this server holds the lease. Each term starts the work anew, because another server may have written
 * since the previous one. Resolves when this server works, or another one holds the lease; rejects when the first start
 * fails.
 */
export async function followLease<Leased extends Work>({
  lease,
  start,
  log,
}: LeaseParts<Leased>): Promise<LeasedWork<Leased>> {
  const stopping = new AbortController()
  let term: LeaseRow | null = null
  let working: { readonly holder: string; readonly work: Leased } | undefined
  let changing: Promise<void> | undefined
  let own: string | null = null
  let other: string | null = null

  async function renew(): Promise<void> {
    const { row, address } = await lease.acquire(own)
    term = row
    other = row === null ? address : null
  }

  /** Starts and stops until the work is that of the present term. */
  async function change(): Promise<void> {
    while (working?.holder !== term?.holder) {
      if (working !== undefined) {
        const { work } = working
        working = undefined
        log.warn('another server has taken over monitoring')
        await work.stop()
      } else if (term !== null) {
        const { holder } = term
        working = { holder, work: await start(term, stopping.signal) }
        log.info('this server monitors now')
      }
    }
  }

  function changeOnce(): Promise<void> {
    changing ??= change().finally(() => {
      changing = undefined
    })
    return changing
  }

  const renewalLog = failureLog(log, {
    level: 'warn',
    failure: 'the monitoring lease could not be renewed',
    end: 'the monitoring lease can be renewed again',
  })
  const changeLog = failureLog(log, {
    level: 'error',
    failure: 'monitoring could not be started or stopped',
    end: 'monitoring has started or stopped',
  })
  let renewing = renew()
  await renewing
  const renewals = setInterval(() => {
    renewing = renewing.then(renew).then(renewalLog.succeeded, renewalLog.failed)
    // Renewals go on while the work starts or stops.
    renewing.then(changeOnce).then(changeLog.succeeded, (error: unknown) => {
      if (!stopping.signal.aborted) changeLog.failed(error)
    })
  }, RENEWAL_MS)
  try {
    await changeOnce()
  } catch (error) {
    clearInterval(renewals)
    throw error
  }
  return {
    current: () => working?.work,
    otherAddress: () => other,
    announce: (address) => {
      own = address
    },
    stop: async () => {
      clearInterval(renewals)
      stopping.abort()
      await renewing
      await changing?.catch(() => {})
      await working?.work.stop()
      await lease.release().catch(() => {})
    },
  }
}
