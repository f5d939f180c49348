import {
  BURST_REQUESTS,
  type Bucket,
  type BucketRate,
  fullBucket,
  REFILL_INTERVAL_MS,
  refill,
  waitForTokenMs,
} from '../contract/tokenBucket.ts'

/** Possible lag of the server's clock behind ours: twice the most that NTP slews a clock. */
const CLOCK_SHARE_MAX = 0.001

/**
 * The client's own rate: the contract's whole burst, and its refill rate reduced by the possible clock difference.
 * Contract: Limits, rule 1.
 */
export const CLIENT_RATE: BucketRate = {
  burstRequests: BURST_REQUESTS,
  refillIntervalMs: REFILL_INTERVAL_MS * (1 + CLOCK_SHARE_MAX),
}

/** Fewer requests than a key may make: at most `perSecond`, also at once. Pure. */
export function rateOf(perSecond: number): BucketRate {
  return {
    burstRequests: Math.min(BURST_REQUESTS, Math.max(1, Math.floor(perSecond))),
    refillIntervalMs: Math.max(CLIENT_RATE.refillIntervalMs, 1_000 / perSecond),
  }
}

/** First and longest pause of all requests after a 429 (milliseconds), before jitter. */
export const PAUSE_MS_MIN = 250
export const PAUSE_MS_MAX = 8_000

/** Slowest rate after refusals, as a share of the usual one. */
const RATE_SHARE_MIN = 1 / 16
/** Step by which the rate recovers (requests per second), and the number of accepted requests before each step. */
const RATE_STEP = 0.25
const ACCEPTED_PER_STEP = 10

/** Monotonic milliseconds, a timer that returns its cancellation, and randomness in [0, 1): passed in for tests. */
export interface Timing {
  readonly nowMs: () => number
  readonly after: (delayMs: number, run: () => void) => () => void
  readonly random: () => number
}

/** Longest delay of a timer of Node (milliseconds): it takes a longer one for one millisecond. */
export const TIMER_MS_MAX = 2 ** 31 - 1

/** The clock and the timers of the machine. A delay of more than 24 days is over after 24 days. */
export const systemTiming: Timing = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(delayMs, TIMER_MS_MAX))
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** `next` overtakes everything in the queue: for the pause of a service that is created paused. */
export type Lane = 'in-order' | 'next'

/**
 * One token bucket in front of every attempt of every client that shares it: all clients of one API key in
 * a process share one limiter, because the server counts per key. Contract: Limits, rule 1.
 *
 * A request that passes borrows a token when it leaves, and spends it when its response arrives: only then does the
 * time begin in which the next one is earned. A key without other users then never meets a 429, however long each
 * request and each response is on its way. The server counts a request at some instant between its leaving and its
 * response. It refuses one at `y` only if for some `x` it counted more than 20 + (y − x) / 200 ms between the two.
 * What it counted there had left by `y` and had no response before `x`: it is what was out at `x`, and what left
 * since. At `x` this bucket held the tokens of all that was out, hence lacked at most 20 minus those; from there it
 * earned at most (y − x) / 200 ms; and it lends no more than it has. So no more than 20 + (y − x) / 200 ms can have
 * been counted, for every `x` and `y`. limiter.property.test.ts tries to prove it wrong with the server's own bucket.
 * A request that is given up counts as complete: should it arrive later still, it costs a 429, which is waited out.
 */
export class Limiter {
  /** Includes borrowed tokens. */
  #bucket: Bucket
  #inFlight = 0
  /** Whether the current or last request was the only one in flight. */
  #isAlone = true
  #heldUntilMs = 0
  #holdMs = PAUSE_MS_MIN
  #cancelTimer: (() => void) | undefined
  /** The functions that let queued requests pass. */
  readonly #lanes: Readonly<Record<Lane, (() => void)[]>> = { next: [], 'in-order': [] }
  readonly #fullRate: BucketRate
  /** The current rate: less than the full rate while other clients spend from the same key. */
  #rate: BucketRate
  #accepted = 0
  #heldMsTotal = 0
  readonly #timing: Timing

  constructor(rate: BucketRate = CLIENT_RATE, timing: Timing = systemTiming) {
    this.#fullRate = rate
    this.#rate = rate
    this.#timing = timing
    this.#bucket = fullBucket(timing.nowMs(), rate)
  }

  /**
   * Resolves when the next request may be sent; rejects with the signal's reason when it is aborted first. Call `ended`
   * once for each request that passed.
   */
  pass(lane: Lane, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const queue = this.#lanes[lane]
      const abort = (): void => {
        queue.splice(queue.indexOf(waiter), 1)
        // The timer of an ended wait would keep the process alive.
        this.#serve()
        reject(signal?.reason)
      }
      const waiter = (): void => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      signal?.addEventListener('abort', abort, { once: true })
      queue.push(waiter)
      this.#serve()
    })
  }

  /**
   * A request that passed got a response or was abandoned: spends its token. Call it before `refused` and
   * `accepted`.
   */
  ended(): void {
    this.#bucket = refill(this.#bucket, this.#timing.nowMs(), this.#rate)
    this.#bucket = { ...this.#bucket, tokens: this.#bucket.tokens - 1 }
    this.#inFlight -= 1
    this.#serve()
  }

  /**
   * The server refused a request with 429: another client spends from the same key. All requests wait, longer after
   * repeated refusals, and then continue at half the rate. `retryAfterMs` is the wait that the server asked for, if
   * any.
   */
  refused(retryAfterMs: number | undefined): void {
    const nowMs = this.#timing.nowMs()
    // Requests sent together are refused together: that is one reason to slow down, not several.
    if (nowMs >= this.#heldUntilMs) this.#setRate((1_000 / this.#rate.refillIntervalMs) * 0.5)
    this.#accepted = 0
    const jittered = this.#holdMs * (1 + this.#timing.random())
    const untilMs = Math.max(this.#heldUntilMs, nowMs + Math.max(jittered, retryAfterMs ?? 0))
    this.#heldMsTotal += untilMs - Math.max(nowMs, this.#heldUntilMs)
    this.#heldUntilMs = untilMs
    this.#holdMs = Math.min(PAUSE_MS_MAX, this.#holdMs * 2)
    this.#hold(1, this.#heldUntilMs)
  }

  /**
   * The server accepted a request: the next refusal starts with the shortest pause again. `remaining` is the number of
   * requests it would still accept at once, if it says so. It is lower than our estimate after a run that just ended,
   * or when another client uses the key too.
   */
  accepted(remaining?: number): void {
    this.#holdMs = PAUSE_MS_MIN
    this.#accepted += 1
    const nowMs = this.#timing.nowMs()
    // With other requests in flight the number may be older than their sending, and count some of them or none.
    if (remaining !== undefined && this.#isAlone && this.#inFlight === 0 && remaining < this.#bucket.tokens)
      this.#hold(remaining, nowMs)
    if (this.#rate === this.#fullRate || this.#accepted % ACCEPTED_PER_STEP !== 0) return
    this.#setRate(1_000 / this.#rate.refillIntervalMs + RATE_STEP)
  }

  /** Approximate wait of a request that is queued now (milliseconds). */
  get expectedWaitMs(): number {
    const nowMs = this.#timing.nowMs()
    const { tokens } = refill(this.#bucket, nowMs, this.#rate)
    const behind = Math.max(0, this.waiting + 1 + this.#inFlight - tokens)
    return Math.max(this.#heldUntilMs - nowMs, 0) + behind * this.#rate.refillIntervalMs
  }

  /** Requests that can be sent immediately. */
  get tokens(): number {
    const nowMs = this.#timing.nowMs()
    return nowMs < this.#heldUntilMs
      ? 0
      : Math.max(0, refill(this.#bucket, nowMs, this.#rate).tokens - this.#inFlight)
  }

  /** Total time for which refusals have delayed all requests, including all of the current pause (milliseconds). */
  get heldMsTotal(): number {
    return this.#heldMsTotal
  }

  /** Sets the tokens besides the borrowed ones, and refills from `fromMs` on. */
  #hold(tokens: number, fromMs: number): void {
    this.#bucket = {
      tokens: Math.min(this.#fullRate.burstRequests, tokens + this.#inFlight),
      refilledAtMs: fromMs,
    }
  }

  #setRate(perSecond: number): void {
    const full = 1_000 / this.#fullRate.refillIntervalMs
    const rate = Math.max(perSecond, full * RATE_SHARE_MIN)
    this.#bucket = refill(this.#bucket, this.#timing.nowMs(), this.#rate)
    this.#rate = rate >= full ? this.#fullRate : { ...this.#fullRate, refillIntervalMs: 1_000 / rate }
  }

  /** Queued requests. */
  get waiting(): number {
    return this.#lanes.next.length + this.#lanes['in-order'].length
  }

  #serve(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    while (this.waiting > 0) {
      const nowMs = this.#timing.nowMs()
      this.#bucket = refill(this.#bucket, nowMs, this.#rate)
      const unlent = { ...this.#bucket, tokens: this.#bucket.tokens - this.#inFlight }
      if (nowMs < this.#heldUntilMs || unlent.tokens < 1) {
        const waitMs = Math.max(this.#heldUntilMs - nowMs, waitForTokenMs(unlent, nowMs, this.#rate))
        // A whole millisecond at least: a token may lack a fraction that is too small to be waited for.
        this.#cancelTimer = this.#timing.after(Math.max(1, Math.ceil(waitMs)), () => this.#serve())
        return
      }
      this.#isAlone = this.#inFlight === 0
      this.#inFlight += 1
      const pass = this.#lanes.next.shift() ?? this.#lanes['in-order'].shift()
      pass?.()
    }
  }
}
