import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import {
  type AfterAttempt,
  type AttemptResult,
  afterAttempt,
  SET_BACK_MS_MIN,
} from '../domain/notifications/retries.ts'
import { type Slot, slotsToStart } from '../domain/notifications/slots.ts'
import type { DueDelivery, NotificationStore } from '../store/notificationStore.ts'
import type { Poster } from './poster.ts'

/** Interval between polls for due deliveries, including those of other processes (milliseconds). */
const POLL_MS = 1_000
/** Pause of a channel after an attempt that could not be made (milliseconds). */
const TROUBLE_MS = 5_000
/** First pause before a failed recording is retried (milliseconds); it doubles up to the longest. */
const RECORD_PAUSE_MS = 500
const RECORD_PAUSE_MS_MAX = 60_000
/** Time for attempts in progress to end when the server stops (milliseconds); later ones are repeated after a start. */
const STOP_MS_MAX = 2_000

/** Dependencies of the sender. */
export interface SenderParts {
  readonly store: Pick<NotificationStore, 'dueDeliveries' | 'hastenDeliveries' | 'recordAttempt'>
  readonly poster: Poster
  readonly nowMs: () => number
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Logger
  readonly onAttempt: (delivery: DueDelivery, after: AfterAttempt['kind'], lagMs: number) => void
}

/**
 * Sends due deliveries, one at a time per channel. An attempt is recorded before the next one of its channel, so that a
 * crash repeats the last attempt, with the same id, and loses none.
 */
export function startSender({ store, poster, nowMs, random, log, onAttempt }: SenderParts) {
  const underWay = new Map<Slot, Promise<void>>()
  /** Channels whose last attempt failed. */
  const failing = new Set<string>()
  const aborting = new AbortController()
  // Every delivery in progress listens; Node would warn at eleven listeners.
  setMaxListeners(0, aborting.signal)
  let polling: Promise<void> | undefined
  let isPollWanted = false
  let isStopped = false
  /** The latest time of a poll; before the first one, the clock may have been set back since the last process. */
  let latestMs = Number.POSITIVE_INFINITY

  async function poll(): Promise<void> {
    while (isPollWanted && !isStopped) {
      isPollWanted = false
      const due = await store.dueDeliveries(nowMs(), (all) =>
        slotsToStart(all, [...underWay.keys()], failing),
      )
      for (const delivery of due) {
        underWay.set(
          delivery,
          deliver(delivery).finally(() => {
            underWay.delete(delivery)
            wake()
          }),
        )
      }
      await followClock(nowMs())
    }
  }

  /** Attempts deliveries that were postponed by a clock that has been set back since. */
  async function followClock(now: number): Promise<void> {
    if (now < latestMs - SET_BACK_MS_MIN) {
      await store.hastenDeliveries(now)
      latestMs = now
      isPollWanted = true
    }
    latestMs = Math.max(latestMs, now)
  }

  function wake(): void {
    isPollWanted = true
    if (polling !== undefined || isStopped) return
    polling = poll()
      .catch((error: unknown) => log.error({ err: error }, 'notifications could not be read'))
      .finally(() => {
        polling = undefined
        // Requested after the last poll ended.
        if (isPollWanted) wake()
      })
  }

  /**
   * Records an attempt, with retries until it succeeds: otherwise a full disk would cause endless repetitions of the
   * attempt.
   */
  async function recorded<Result>(
    record: () => Promise<Result>,
    { channelId: channel }: DueDelivery,
  ): Promise<Result> {
    for (let pauseMs = RECORD_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, RECORD_PAUSE_MS_MAX)) {
      try {
        return await record()
      } catch (error) {
        log.error({ err: error, channel }, 'an attempt could not be recorded')
        await sleep(pauseMs, undefined, { signal: aborting.signal })
      }
    }
  }

  async function deliver(delivery: DueDelivery): Promise<void> {
    const lagMs = nowMs() - delivery.atMs
    try {
      const result = await poster.post(delivery, aborting.signal)
      const now = nowMs()
      const after = afterAttempt(result, delivery, { nowMs: now, random: random() })
      const disabled = await recorded(() => store.recordAttempt(delivery, result, after, now), delivery)
      if (after.kind === 'sent') failing.delete(delivery.channelId)
      else failing.add(delivery.channelId)
      onAttempt(delivery, after.kind, lagMs)
      report(log, delivery, result, after, disabled)
    } catch (error) {
      if (aborting.signal.aborted) return
      log.error({ err: error, channel: delivery.channelId }, 'a notification could not be sent')
      await sleep(TROUBLE_MS, undefined, { signal: aborting.signal }).catch(() => {})
    }
  }

  const timer = setInterval(wake, POLL_MS)
  wake()
  return {
    /** Polls now, because a delivery may be due. */
    wake,
    /** Stops; resolves when no attempt is in progress. */
    stop: async (): Promise<void> => {
      isStopped = true
      clearInterval(timer)
      await polling
      const force = setTimeout(() => aborting.abort(new Error('the server stops')), STOP_MS_MAX)
      await Promise.all(underWay.values())
      clearTimeout(force)
    },
  }
}

function report(
  log: Logger,
  { channelId: channel, webhookId: delivery, type }: DueDelivery,
  { status, error }: AttemptResult,
  after: AfterAttempt,
  disabled: string | undefined,
): void {
  if (after.kind === 'failed' || after.kind === 'gone') {
    log.warn({ channel, delivery, type, status, error }, 'a notification was not delivered')
  }
  if (disabled !== undefined) log.warn({ channel, reason: disabled }, 'a notification channel was disabled')
}
