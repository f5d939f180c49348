import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type AfterAttempt, type AttemptResult, afterAttempt } from '../domain/notifications/retries.ts'
import { type Slot, slotsToStart } from '../domain/notifications/slots.ts'
import type { DueDelivery, NotificationStore } from '../store/notificationStore.ts'
import type { Poster } from './poster.ts'

/** How often it is looked for what another process added, and for what became due (milliseconds). */
const LOOK_MS = 1_000
/** Pause of a channel whose attempt could not be made (milliseconds): it must not be repeated at once. */
const TROUBLE_MS = 5_000
/** Pause before an attempt is recorded again (milliseconds): the first, which doubles up to the longest. */
const RECORD_PAUSE_MS = 500
const RECORD_PAUSE_MS_MAX = 60_000
/** How long attempts under way may take to end when the server stops (milliseconds); then they are made again. */
const STOP_MS_MAX = 2_000

/** Dependencies of the sender. */
export interface SenderParts {
  readonly store: Pick<NotificationStore, 'dueDeliveries' | 'recordAttempt'>
  readonly poster: Poster
  readonly nowMs: () => number
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Logger
  readonly onAttempt: (delivery: DueDelivery, after: AfterAttempt['kind'], lagMs: number) => void
}

/** The sender of deliveries. */
export interface Sender {
  /** Something may have become due. */
  readonly wake: () => void
  /** Resolves when no attempt is under way. */
  readonly stop: () => Promise<void>
}

/**
 * Sends what is due, one delivery at a time for each channel. An attempt is recorded before the next one of its channel: a
 * crash repeats the last one, with the same id, and loses none.
 */
export function startSender({ store, poster, nowMs, random, log, onAttempt }: SenderParts): Sender {
  const underWay = new Map<Slot, Promise<void>>()
  /** Channels whose last attempt failed. */
  const failing = new Set<string>()
  const aborting = new AbortController()
  // Each delivery under way listens; Node would warn from eleven on.
  setMaxListeners(0, aborting.signal)
  let looking: Promise<void> | undefined
  let isLookWanted = false
  let isStopped = false

  async function look(): Promise<void> {
    while (isLookWanted && !isStopped) {
      isLookWanted = false
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
    }
  }

  function wake(): void {
    isLookWanted = true
    if (looking !== undefined || isStopped) return
    looking = look()
      .catch((error: unknown) => log.error({ err: error }, 'notifications could not be read'))
      .finally(() => {
        looking = undefined
        // Asked for after the last look, and before this.
        if (isLookWanted) wake()
      })
  }

  /** Records an attempt, as often as it takes: to make it again would send to a receiver without end while a disk is full. */
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

  const timer = setInterval(wake, LOOK_MS)
  wake()
  return {
    wake,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      await looking
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
