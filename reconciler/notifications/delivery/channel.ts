import type { ControllerClock } from '../../controller/schedule/clock.ts'
import type { ControllerEvent } from '../../controller/status/status.ts'
import { counted } from '../../text/counts.ts'
import { DuplicateFilter } from './duplicateFilter.ts'
import { retryPauseMs, isRetryable, type OutgoingRequest, type Send, Unreachable } from './outgoing.ts'
import { RetryTimer } from './retryTimer.ts'

/** Maximum of queued events of one receiver. */
export const WAITING_MAX = 500
const EVENTS_PER_MESSAGE = 20
/** How long the first event waits for others of the same run (milliseconds). */
const COALESCE_MS = 2_000
/** Maximum of attempts for one message, which takes about an hour and a half. */
export const ATTEMPTS_MAX = 24
/** The result for events. `retried` is followed by another result. */
export type DeliveryResult = 'sent' | 'retried' | 'refused' | 'given-up' | 'dropped' | 'duplicate'

/** The message of one attempt. Repetitions have the same `delivery`. */
export interface Message {
  readonly events: readonly ControllerEvent[]
  /** Number of events dropped before these, because the queue was full. */
  readonly dropped: number
  readonly delivery: string
  /** ISO 8601, UTC. */
  readonly sentAt: string
}

/** One receiver of events. */
export interface ChannelOptions {
  readonly name: string
  readonly accepts: (event: ControllerEvent) => boolean
  readonly requestOf: (message: Message) => OutgoingRequest
  readonly send: Send
  readonly clock: ControllerClock
  readonly newId: () => string
  readonly onResult: (result: DeliveryResult, events: number) => void
  /** Called with the reason why events are not delivered, without the address. */
  readonly onProblem: (message: string) => void
}

/**
 * Queues events and sends them asynchronously: in order, several in one message, with retries. An unreachable receiver
 * takes memory for at most `WAITING_MAX` events, and does not affect other receivers.
 */
export class Channel {
  readonly #options: ChannelOptions
  readonly #duplicates = new DuplicateFilter()
  readonly #waiting: ControllerEvent[] = []
  readonly #retryTimer: RetryTimer
  #dropped = 0
  #working: Promise<void> | null = null

  constructor(options: ChannelOptions) {
    this.#options = options
    this.#retryTimer = new RetryTimer(options.clock)
  }

  /** Number of queued events. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Queues `event` if it is for this receiver and no duplicate. Returns at once, throws nothing. */
  offer(event: ControllerEvent): void {
    const { accepts, onResult, clock } = this.#options
    if (this.#retryTimer.isClosing || !accepts(event)) return
    if (!this.#duplicates.isNew(event, clock.nowMs())) {
      onResult('duplicate', 1)
      return
    }
    this.#waiting.push(event)
    if (this.#waiting.length > WAITING_MAX) this.#dropLeast()
    this.#working ??= this.#work()
  }

  /** Sends queued events once, for at most a few seconds. */
  close(): Promise<void> {
    return this.#retryTimer.close(this.#working)
  }

  async #work(): Promise<void> {
    await this.#retryTimer.pause(COALESCE_MS)
    while (this.#waiting.length > 0) await this.#deliver(this.#waiting.splice(0, EVENTS_PER_MESSAGE))
    this.#working = null
  }

  async #deliver(events: readonly ControllerEvent[]): Promise<void> {
    const { clock, newId, onResult } = this.#options
    const dropped = this.#dropped
    this.#dropped = 0
    const delivery = newId()
    for (let attempt = 1; ; attempt += 1) {
      const sentAt = new Date(clock.wallMs()).toISOString()
      const { result, pauseMs } = await this.#attempt({ events, dropped, delivery, sentAt }, attempt)
      onResult(result, events.length)
      if (result !== 'retried') return
      await this.#retryTimer.pause(retryPauseMs(attempt, pauseMs, clock.random))
    }
  }

  async #attempt(
    message: Message,
    attempt: number,
  ): Promise<{ readonly result: DeliveryResult; readonly pauseMs: number | null }> {
    const { send, requestOf, onProblem, name } = this.#options
    const failed = (reason: string, isFinal: boolean, pauseMs: number | null) => {
      const result = isFinal
        ? 'refused'
        : this.#retryTimer.isClosing || attempt >= ATTEMPTS_MAX
          ? 'given-up'
          : 'retried'
      const lost = `${counted(message.events.length, 'event')} lost`
      if (result !== 'retried') onProblem(`the channel ${name} does not accept messages (${reason}): ${lost}`)
      else if (attempt === 1) onProblem(`the channel ${name} does not accept messages (${reason}): retrying`)
      return { result, pauseMs } as const
    }
    try {
      const response = await send(requestOf(message), this.#retryTimer.signal)
      if (response.status >= 200 && response.status < 300) return { result: 'sent', pauseMs: null }
      return failed(`status ${response.status}`, !isRetryable(response), response.retryAfterMs)
    } catch (error) {
      // No error of a receiver may end the program or affect other receivers.
      return failed(error instanceof Unreachable ? error.message : 'an internal error', false, null)
    }
  }

  /** Drops the oldest of the least severe events. */
  #dropLeast(): void {
    const ranks: readonly number[] = this.#waiting.map(({ severity }) => SEVERITY_RANK[severity])
    this.#waiting.splice(ranks.indexOf(Math.min(...ranks)), 1)
    this.#dropped += 1
    this.#options.onResult('dropped', 1)
  }
}

/** Severities in order. */
export const SEVERITY_RANK = { info: 0, warning: 1, error: 2 } as const
