/** The reason why a client waits. */
export interface Waiting {
  /** Time of the last useful response (milliseconds, of the client's monotonic clock). */
  readonly sinceMs: number
  /**
   * `throttled`: responses are 429. `failing`: they are 5xx, or connections fail. `silent`: there is no response
   * yet.
   */
  readonly kind: 'throttled' | 'failing' | 'silent'
  /** The last event, as a clause for a person. */
  readonly reason: string
}

const SILENT = { kind: 'silent', reason: 'there is no response' } as const

/**
 * Records what the clients that share it wait for, so that a program can report it and end it. It has no timer: the
 * program polls it.
 */
export class WaitObserver {
  readonly #nowMs: () => number
  #calls = 0
  #sinceMs = 0
  #failure: Pick<Waiting, 'kind' | 'reason'> = SILENT

  /** `nowMs` is a monotonic clock (milliseconds). */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** The current wait; null when there is none. */
  get waiting(): Waiting | null {
    return this.#calls === 0 ? null : { sinceMs: this.#sinceMs, ...this.#failure }
  }

  /** Counts `call` as under way until it ends. */
  async during<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#calls === 0) this.responded()
    this.#calls += 1
    try {
      return await call()
    } finally {
      this.#calls -= 1
    }
  }

  /** An attempt failed and is repeated. */
  failed(kind: 'throttled' | 'failing', reason: string): void {
    this.#failure = { kind, reason }
  }

  /** The API gave a response that is neither 429 nor a failure of its own. */
  responded(): void {
    this.#sinceMs = this.#nowMs()
    this.#failure = SILENT
  }
}
