import { CheckFault, type DownReason } from './reason.ts'

/** What an attempt waits for, in this order, once for each connection. */
export type Phase = 'dns' | 'connect' | 'tls' | 'wait' | 'body'

/** Time that each phase took over all connections (whole microseconds). */
export type Phases = {
  readonly [Name in Phase]: number
} & {
  /** From the start to the end, whatever came between the phases. */
  readonly total: number
}

const TIMEOUT_REASONS = {
  dns: 'dns_timeout',
  connect: 'connect_timeout',
  tls: 'tls_timeout',
  wait: 'response_timeout',
  body: 'body_timeout',
} as const satisfies Record<Phase, DownReason>
const TIMEOUT_TEXTS = {
  dns: 'the name was not resolved',
  connect: 'there was no connection',
  tls: 'the TLS handshake did not end',
  wait: 'no headers came',
  body: 'the body was not whole',
} as const satisfies Record<Phase, string>

/**
 * Times the phases of an attempt, and ends what it waits for when its time is up: with one timer over all connections, so
 * that none adds to another.
 */
export class AttemptClock {
  readonly #nowUs: () => number
  readonly #startedAtUs: number
  readonly #timer: NodeJS.Timeout
  readonly #signal: AbortSignal | undefined
  readonly #us = { dns: 0, connect: 0, tls: 0, wait: 0, body: 0 }
  #phase: Phase | undefined
  #enteredAtUs = 0
  #endedAtUs: number | undefined
  #ended: Error | undefined
  #end: ((fault: Error) => void) | undefined

  /** What is waited for ends with a CheckFault after `timeoutMs`, and with the reason of `signal` when that aborts. */
  constructor(timeoutMs: number, nowUs: () => number, signal?: AbortSignal) {
    this.#nowUs = nowUs
    this.#startedAtUs = nowUs()
    this.#timer = setTimeout(() => {
      const phase = this.#phase ?? 'body'
      const text = `${TIMEOUT_TEXTS[phase]} within ${timeoutMs / 1_000} s`
      this.#endWith(new CheckFault(TIMEOUT_REASONS[phase], text))
    }, timeoutMs)
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => this.#endWith(this.#signal?.reason)

  #endWith(error: Error): void {
    this.#ended ??= error
    this.#end?.(error)
  }

  /**
   * Waits in `phase` for what `start` resolves or rejects; rejects with a CheckFault named after the phase when time is up.
   * `start` returns what to do then, which may reject with another fault.
   */
  wait<Result>(
    phase: Phase,
    start: (resolve: (result: Result) => void, reject: (fault: Error) => void) => (ended: Error) => void,
  ): Promise<Result> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    this.enter(phase)
    return new Promise((resolve, reject) => {
      let isSettled = false
      const settled = <Value>(settle: (value: Value) => void): ((value: Value) => void) => {
        return (value) => {
          // Sockets go on to speak of what is over, when another phase has begun.
          if (isSettled) return
          isSettled = true
          this.#leave()
          this.#end = undefined
          settle(value)
        }
      }
      const fail = settled(reject)
      const undo = start(settled(resolve), fail)
      this.#end = (fault) => {
        undo(fault)
        fail(fault)
      }
    })
  }

  /** Goes over to `phase` while waiting goes on. */
  enter(phase: Phase): void {
    this.#leave()
    this.#phase = phase
    this.#enteredAtUs = this.#nowUs()
  }

  #leave(): void {
    if (this.#phase !== undefined) this.#us[this.#phase] += this.#nowUs() - this.#enteredAtUs
    this.#phase = undefined
  }

  /** Microseconds since the start. */
  elapsedUs(): number {
    return this.#nowUs() - this.#startedAtUs
  }

  /** Ends the measured time, while the timer runs on: what a response is judged by takes none of it. */
  stopMeasuring(): void {
    this.#leave()
    this.#endedAtUs ??= this.#nowUs()
  }

  /** The times so far, or up to `stopMeasuring`. */
  phases(): Phases {
    const total = Math.round((this.#endedAtUs ?? this.#nowUs()) - this.#startedAtUs)
    const { dns, connect, tls, wait, body } = this.#us
    // Rounded down, so that the sum is never above the total.
    return {
      dns: Math.floor(dns),
      connect: Math.floor(connect),
      tls: Math.floor(tls),
      wait: Math.floor(wait),
      body: Math.floor(body),
      total,
    }
  }

  /** Stops the timer: the attempt is over. */
  close(): void {
    this.stopMeasuring()
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}
