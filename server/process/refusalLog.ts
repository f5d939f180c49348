import type { Logger } from 'pino'
import { ApiError } from '../../api/contract/apiError.ts'
import type { RequestRecord } from '../http/app.ts'
import { DiskFullError } from '../store/shared/diskFullError.ts'

/** Interval at which refusals are logged (milliseconds): one line per refusal could fill the disk. */
const FLUSH_MS = 10_000
/** Maximum number of lines per interval; further refusals share one line per status. */
const LINES_MAX = 100
/** Statuses of refused access: a wrong key, a scope or plan, an unknown path or id, too many requests. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404, 429])

/** Refusals of one kind since the last log line. */
interface Refused {
  readonly status: number
  /** Client address, for requests without a valid key. */
  readonly address?: string
  /** Last characters of the key, and its organisation. */
  readonly key?: string
  readonly orgId?: string
  /** Method and route of the first refusal. */
  readonly method: string
  readonly route: string
  /** Why the database could not be used, at the first refusal for that reason. */
  readonly error?: string
  count: number
}

/**
 * The error of a request that was refused because the database does not respond, or because its disk is full; else
 * `undefined`. Gap G56. Pure.
 */
export function outageOf({ status, failure }: RequestRecord): ApiError | undefined {
  if (status !== 500 || !(failure instanceof ApiError)) return undefined
  return failure.retryAfterSecs !== undefined || failure instanceof DiskFullError ? failure : undefined
}

/**
 * Logs 401, 403, 404, 429, and 500 during an outage of the database or on a full disk, to `log`: every FLUSH_MS, one
 * line with the count per status and key (or address, without a valid key). Lines contain no path parameters, query,
 * headers or body.
 */
export function startRefusalLog(log: Logger) {
  const counted = new Map<string, Refused>()
  const flush = (): void => {
    for (const refused of counted.values()) {
      log[refused.error === undefined ? 'info' : 'error'](refused, 'refused')
    }
    counted.clear()
  }
  const timer = setInterval(flush, FLUSH_MS)
  timer.unref()
  return {
    count: (record: RequestRecord): void => {
      const { status, caller, address, method, route } = record
      const outage = outageOf(record)
      if (!REFUSALS.has(status) && outage === undefined) return
      const name = `${status} ${caller?.keyId ?? address}`
      const isKnown = counted.has(name) || counted.size < LINES_MAX
      const known = counted.get(isKnown ? name : `${status}`)
      if (known !== undefined) {
        known.count += 1
        return
      }
      const who = caller === null ? { address } : { key: caller.keyLast4, orgId: caller.orgId }
      const why = outage === undefined ? {} : { error: textOf(outage) }
      const refused = { status, ...(isKnown ? who : { address: 'others' }), method, route, ...why, count: 1 }
      counted.set(isKnown ? name : `${status}`, refused)
    },
    /** Logs the remaining counts and stops. */
    stop: (): void => {
      clearInterval(timer)
      flush()
    },
  }
}

/** The message of `error` with that of its cause. Pure. */
function textOf({ message, cause }: ApiError): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
