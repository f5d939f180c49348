import { ApiError } from '../../../../api/contract/apiError.ts'

/** How long statements must fail before new ones are refused (milliseconds). */
const FAILING_MS = 1_000
/** Pause between probes of a database that does not respond (milliseconds). */
const PROBE_PAUSE_MS = 250

/** Dependencies of a circuit breaker. */
export interface CircuitParts {
  /** Resolves when the database responds on a new connection. */
  readonly probe: () => Promise<void>
  /** Called when the breaker opens, with the last error. */
  readonly onOpen: (error: unknown) => void
  /** Called when the database responds again. */
  readonly onEnd: () => void
  /** Monotonic clock (milliseconds). */
  readonly nowMs: () => number
}

/** Message of each DatabaseDown. */
export const DATABASE_DOWN_TEXT = 'the database does not respond: repeat the request'

/** Refusal of a statement, which was not sent because the database does not respond. Gap G56. */
export class DatabaseDown extends ApiError {
  constructor(cause: unknown) {
    super('internal', DATABASE_DOWN_TEXT, { retryAfterSecs: 1, cause })
  }
}

/**
 * A circuit breaker: while the database does not respond, statements are refused at once, so that requests do not queue
 * for connections. One probe at a time detects the end of the outage.
 */
export class Circuit {
  readonly #parts: CircuitParts
  #respondedAtMs = Number.NEGATIVE_INFINITY
  #failingSinceMs: number | undefined
  #probing: NodeJS.Timeout | undefined
  #isOpen = false
  #lastError: unknown
  #isClosed = false

  constructor(parts: CircuitParts) {
    this.#parts = parts
  }

  /** Throws DatabaseDown while statements are refused. */
  assertSendable(): void {
    if (this.#isOpen) throw new DatabaseDown(this.#lastError)
  }

  /** Records that the database responded to a statement, with a result or an error. */
  responded(): void {
    this.#respondedAtMs = this.#parts.nowMs()
    this.#failingSinceMs = undefined
  }

  /** Records that a statement or connection that began at `begunAtMs` was lost, or refused, with `error`. */
  lost(begunAtMs: number, error: unknown): void {
    if (this.#isClosed || this.#isOpen) return
    this.#lastError = error
    // The end of one connection of many is no outage: the others still get responses.
    const sinceMs = Math.max(begunAtMs, this.#respondedAtMs)
    this.#failingSinceMs = Math.min(this.#failingSinceMs ?? sinceMs, sinceMs)
    if (this.#parts.nowMs() - this.#failingSinceMs < FAILING_MS) return
    this.#isOpen = true
    this.#parts.onOpen(error)
    this.#probe()
  }

  /** Stops probing. */
  stop(): void {
    this.#isClosed = true
    clearTimeout(this.#probing)
  }

  #probe(): void {
    this.#parts.probe().then(
      () => {
        if (this.#isClosed) return
        this.responded()
        this.#isOpen = false
        this.#parts.onEnd()
      },
      (error: unknown) => {
        if (this.#isClosed) return
        this.#lastError = error
        this.#probing = setTimeout(() => this.#probe(), PROBE_PAUSE_MS)
      },
    )
  }
}
