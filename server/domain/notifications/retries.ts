import type { ChannelKind } from './channel.ts'
import type { EventType } from './payload.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Pauses between the attempts of a delivery (milliseconds): eleven attempts in 76 hours and the jitter. Gap G9. */
const PAUSES_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
/** Maximum random fraction added to each pause, so that deliveries that failed together are not retried together. */
const JITTER = 0.1
/** Maximum number of attempts to deliver to a chat. They end within an hour, because an old alarm is noise there. */
const SLACK_ATTEMPTS_MAX = 5
/** Maximum wait that a receiver can request with Retry-After (milliseconds). */
const RETRY_AFTER_MS_MAX = DAY_MS
/** Time of failures after which a channel is disabled (milliseconds), unless it had few deliveries. */
const FAILING_MS_MAX = 5 * DAY_MS
const FAILED_DELIVERIES_MIN = 10
/** Number of failed attempts after which later events of an incident no longer wait for an earlier one. Gap G9. */
export const ORDERED_ATTEMPTS = 4
/**
 * Age of an event from which later ones no longer wait for it (milliseconds), because a Retry-After may request a day.
 * Gap G9.
 */
export const ORDERED_MS = 10 * MINUTE_MS
/**
 * Number of deliveries of a channel, of the first and of the last ones that are due, among which the next one is
 * sought. Between more of them that wait for an earlier event, others wait too: an incident can have thousands of
 * updates and an organisation 50 channels, and a search of all would delay everything else. Gap G9.
 */
export const SOUGHT_MAX = 50
/**
 * How much later than the present an attempt or event of a waiting delivery is when the clock was set back since
 * (milliseconds). Clocks of several servers differ by less.
 */
export const SET_BACK_MS_MIN = MINUTE_MS
/** Statuses whose Retry-After counts: too many requests, and unavailable. */
const RETRY_AFTER_STATUSES: ReadonlySet<number | null> = new Set([429, 503])

/** The outcome of an attempt. */
export interface AttemptResult {
  /** Status of the response; `null` when there was none. */
  readonly status: number | null
  /**
   * The reason why there was no response: a reason of checks such as `connect_refused`, or a sentence about a proxy.
   * `null` when there was one.
   */
  readonly error: string | null
  readonly durationMs: number
  /** Value of the Retry-After header; absent when there was none. */
  readonly retryAfter?: string
}

/** The consequence of an attempt. */
export type AfterAttempt =
  | { readonly kind: 'sent' }
  | { readonly kind: 'again'; readonly dueMs: number }
  | { readonly kind: 'failed' }
  /** The receiver wants no further deliveries. */
  | { readonly kind: 'gone' }

/**
 * The consequence of an attempt that ended at `nowMs`. `attempt` is its number in the schedule, from 1. `random` is in
 * [0, 1). Only a 2xx status is a success. Pure.
 */
export function afterAttempt(
  result: AttemptResult,
  about: { readonly kind: ChannelKind; readonly type: EventType; readonly attempt: number },
  { nowMs, random }: { readonly nowMs: number; readonly random: number },
): AfterAttempt {
  const { status } = result
  if (status !== null && status >= 200 && status < 300) return { kind: 'sent' }
  if (status === 410) return { kind: 'gone' }
  const pauseMs = PAUSES_MS[about.attempt - 1]
  if (pauseMs === undefined || about.attempt >= attemptsMax(about)) return { kind: 'failed' }
  const scheduledMs = Math.round(pauseMs * (1 + JITTER * random))
  const wantedMs = RETRY_AFTER_STATUSES.has(status) ? retryAfterMs(result.retryAfter, nowMs) : 0
  return { kind: 'again', dueMs: nowMs + Math.max(scheduledMs, wantedMs) }
}

function attemptsMax({ kind, type }: { readonly kind: ChannelKind; readonly type: EventType }): number {
  // A test is not retried: the person who started it sees the response and can test again.
  if (type === 'channel.test') return 1
  return kind === 'slack' ? SLACK_ATTEMPTS_MAX : PAUSES_MS.length + 1
}

/** The wait that a Retry-After header requests, as seconds or a date (RFC 9110); 0 when it is neither. */
function retryAfterMs(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0
  const wantedMs = /^\d+$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text) - nowMs
  return Number.isNaN(wantedMs) ? 0 : Math.min(RETRY_AFTER_MS_MAX, Math.max(0, wantedMs))
}

/**
 * Whether to disable a channel: nothing succeeded for five days, and enough deliveries failed to be sure. `sinceMs` is
 * the time of its last success, or of its activation. Pure.
 */
export function isGivenUp(channel: { nowMs: number; sinceMs: number; failedDeliveries: number }): boolean {
  const failingMs = channel.nowMs - channel.sinceMs
  return failingMs >= FAILING_MS_MAX && channel.failedDeliveries >= FAILED_DELIVERIES_MIN
}
