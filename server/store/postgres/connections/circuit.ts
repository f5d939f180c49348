import { ApiError } from '../../../../api/contract/apiError.ts'

/** How long statements must fail before new ones are refused (milliseconds). */
const FAILING_MS = 1_000
/** Pause between probes of a database that does not answer (milliseconds). */
const PROBE_PAUSE_MS = 250

/** What a circuit breaker needs. */
export interface CircuitParts {
  /** Resolves when the database answers on a new connection. */
  readonly probe: () => Promise<void>
  /** Called when statements are refused from now on. */
  readonly onOpen: () => void
  /** Only runs forward (milliseconds). */
  readonly nowMs: () => number
}

/** The refusal of a statement that was not sent, because the database has not answered for a while. Gap G56. */
export class DatabaseDown extends ApiError {
  constructor() {
    super('internal', 'the database does not answer: repeat the request', { retryAfterSecs: 1 })
  }
}

/**
 * A circuit breaker: while the database does not answer, statements are refused at once, and requests do not gather behind
 * connections that cannot be made. One probe at a time finds the end of the outage.
 */
export class Circuit {
  readonly #parts: CircuitParts
  #answeredAtMs = Number.NEGATIVE_INFINITY
  #failingSinceMs: number | undefined
  #probing: NodeJS.Timeout | undefined
  #isOpen = false
  #isClosed = false

  constructor(parts: CircuitParts) {
    this.#parts = parts
  }

  /** Throws DatabaseDown while statements are refused. */
  assertSendable(): void {
    if (this.#isOpen) throw new DatabaseDown()
  }

  /** The database answered a statement, also with an error. */
  answered(): void {
    this.#answeredAtMs = this.#parts.nowMs()
    this.#failingSinceMs = undefined
  }

  /** A statement or a connection begun at `begunAtMs` was lost. */
  lost(begunAtMs: number): void {
    if (this.#isClosed || this.#isOpen) return
    // One connection of many can end, which is no outage: others are answered.
    const sinceMs = Math.max(begunAtMs, this.#answeredAtMs)
    this.#failingSinceMs = Math.min(this.#failingSinceMs ?? sinceMs, sinceMs)
    if (this.#parts.nowMs() - this.#failingSinceMs < FAILING_MS) return
    this.#isOpen = true
    this.#parts.onOpen()
    this.#probe()
  }

  /** Probes no longer. */
  stop(): void {
    this.#isClosed = true
    clearTimeout(this.#probing)
  }

  #probe(): void {
    this.#parts.probe().then(
      () => {
        this.answered()
        this.#isOpen = false
      },
      () => {
        if (this.#isClosed) return
        this.#probing = setTimeout(() => this.#probe(), PROBE_PAUSE_MS)
      },
    )
  }
}
