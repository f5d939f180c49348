import type { ControllerClock } from '../../controller/schedule/clock.ts'
import type { ControllerEvent } from '../../controller/status/status.ts'
import { counted } from '../../text/counts.ts'
import { News } from './news.ts'
import { backoffMs, isWorthRetrying, type OutgoingRequest, type Send, Unreachable } from './outgoing.ts'
import { RetryTimer } from './retryTimer.ts'

/** Most events that wait for one receiver. */
export const WAITING_MAX = 500
/** Most events in one message. */
const EVENTS_PER_MESSAGE = 20
/** How long the first event waits for others of the same run (milliseconds). */
const COALESCE_MS = 2_000
/** Most attempts at one message: about an hour and a half. */
export const ATTEMPTS_MAX = 24
/** What became of events. `retried` may become any of the others. */
export type DeliveryResult = 'sent' | 'retried' | 'refused' | 'given-up' | 'dropped' | 'duplicate'

/** A message as one attempt sends it. `delivery` stays the same when it is sent again. */
export interface Message {
  readonly events: readonly ControllerEvent[]
  /** Events that were dropped before these, because too many waited. */
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
  /** Hears in words what keeps events from arriving. Never holds an address. */
  readonly onProblem: (message: string) => void
}

/**
 * Takes events at once and sends them in its own time: in order, several in a message, again until they arrive.
 * A receiver that is away costs nothing but memory for `WAITING_MAX` events, and no other receiver anything.
 */
export class Channel {
  readonly #options: ChannelOptions
  readonly #news = new News()
  readonly #waiting: ControllerEvent[] = []
  readonly #retryTimer: RetryTimer
  #dropped = 0
  #working: Promise<void> | null = null

  constructor(options: ChannelOptions) {
    this.#options = options
    this.#retryTimer = new RetryTimer(options.clock)
  }

  /** How many events wait. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Takes `event` in, when it is one for this receiver and news to it. Returns at once, throws nothing. */
  offer(event: ControllerEvent): void {
    const { accepts, onResult, clock } = this.#options
    if (this.#retryTimer.isClosing || !accepts(event)) return
    if (!this.#news.isNews(event, clock.nowMs())) {
      onResult('duplicate', 1)
      return
    }
    this.#waiting.push(event)
    if (this.#waiting.length > WAITING_MAX) this.#dropLeast()
    this.#working ??= this.#work()
  }

  /** Sends what waits, without waiting for receivers that are away; at most a few seconds. */
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
      await this.#retryTimer.pause(pauseMs ?? backoffMs(attempt, clock.random))
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
      if (result !== 'retried')
        onProblem(`the channel ${name} does not take what it is sent (${reason}): ${lost}`)
      else if (attempt === 1)
        onProblem(`the channel ${name} does not take what it is sent (${reason}): tried again`)
      return { result, pauseMs } as const
    }
    try {
      const answer = await send(requestOf(message), this.#retryTimer.signal)
      if (answer.status >= 200 && answer.status < 300) return { result: 'sent', pauseMs: null }
      return failed(`status ${answer.status}`, !isWorthRetrying(answer), answer.retryAfterMs)
    } catch (error) {
      // Whatever it is, it is no reason to end the program, or to keep others from hearing what happened.
      return failed(error instanceof Unreachable ? error.message : 'a fault of ours', false, null)
    }
  }

  /** Lets go of the oldest of the least severe events. */
  #dropLeast(): void {
    const ranks: readonly number[] = this.#waiting.map(({ severity }) => SEVERITY_RANK[severity])
    this.#waiting.splice(ranks.indexOf(Math.min(...ranks)), 1)
    this.#dropped += 1
    this.#options.onResult('dropped', 1)
  }
}

/** Severities in order. */
export const SEVERITY_RANK = { info: 0, warning: 1, error: 2 } as const
