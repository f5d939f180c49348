import type { Reason } from '../../protocol/outcomes.ts'
import { CheckFault } from './reason.ts'

/** The phases of an attempt, in this order, once for each connection. */
export type Phase = 'dns' | 'connect' | 'tls' | 'wait' | 'body'

/** Time of each phase over all connections (whole microseconds). */
export type Phases = {
  readonly [Name in Phase]: number
} & {
  /** Time from the start to the end, including gaps between phases. */
  readonly total: number
}

const TIMEOUT_REASONS = {
  dns: 'dns_timeout',
  connect: 'connect_timeout',
  tls: 'tls_timeout',
  wait: 'response_timeout',
  body: 'body_timeout',
} as const satisfies Record<Phase, Reason>
const TIMEOUT_TEXTS = {
  dns: 'the name was not resolved',
  connect: 'there was no connection',
  tls: 'the TLS handshake did not complete',
  wait: 'no headers were received',
  body: 'the body was not complete',
} as const satisfies Record<Phase, string>

/**
 * Times the phases of an attempt, and ends its current wait at the deadline. One timer covers all connections, so that
 * their limits do not add up.
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

  /** Waits end with a CheckFault after `timeoutMs`, and with the reason of `signal` when that aborts. */
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
   * Waits in `phase` until `start` resolves or rejects. At the deadline it rejects with a CheckFault named after the
   * phase. `start` returns a function that is called then, which may reject with another fault.
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
          // Sockets may still emit events of a past phase after another has begun.
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

  /** Enters `phase` during a wait. */
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

  /** Stops the measurement while the timer continues, so that the evaluation of a response is not measured. */
  stopMeasuring(): void {
    this.#leave()
    this.#endedAtUs ??= this.#nowUs()
  }

  /** The times so far, or until `stopMeasuring`. */
  phases(): Phases {
    const total = Math.round((this.#endedAtUs ?? this.#nowUs()) - this.#startedAtUs)
    const { dns, connect, tls, wait, body } = this.#us
    // Rounded down, so that the sum never exceeds the total.
    return {
      dns: Math.floor(dns),
      connect: Math.floor(connect),
      tls: Math.floor(tls),
      wait: Math.floor(wait),
      body: Math.floor(body),
      total,
    }
  }

  /** Stops the timer at the end of the attempt. */
  close(): void {
    this.stopMeasuring()
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}
