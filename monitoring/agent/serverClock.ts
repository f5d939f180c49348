/** Exchanges whose offsets are kept. */
const EXCHANGES_KEPT = 9
/** A change by more than this is one that the schedule has to follow at once (milliseconds). */
const MOVED_MS_MIN = 1_000
/** An exchange that took longer says too little about when the server read its clock (milliseconds). */
const ROUND_TRIP_MS_MAX = 2_000

/**
 * The server's clock, as its answers tell. It runs on the machine's monotonic clock, so that whatever is done to the wall
 * clock of the agent moves nothing.
 */
export class ServerClock {
  readonly #monotonicMs: () => number
  #offsets: number[] = []
  #offsetMs = 0

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** Whether the server has sent its time. */
  get isSet(): boolean {
    return this.#offsets.length > 0
  }

  /** Milliseconds since the epoch, on the server's clock. */
  get nowMs(): number {
    return this.#monotonicMs() + this.#offsetMs
  }

  /**
   * Takes an answer that says `serverMs`, to a request that was sent and answered at these monotonic instants. Whether the
   * clock has moved by more than a second.
   */
  take(serverMs: number, sentMs: number, answeredMs: number): boolean {
    // The first has to do, however long it took.
    if (answeredMs - sentMs > ROUND_TRIP_MS_MAX && this.isSet) return false
    const beforeMs = this.#offsetMs
    const offsetMs = serverMs - (sentMs + answeredMs) / 2
    // No way makes so large a difference: the server's clock was set, or this machine was suspended.
    if (Math.abs(offsetMs - beforeMs) > ROUND_TRIP_MS_MAX) this.#offsets = []
    this.#offsets.push(offsetMs)
    if (this.#offsets.length > EXCHANGES_KEPT) this.#offsets.shift()
    const sorted = this.#offsets.toSorted((a, b) => a - b)
    this.#offsetMs = sorted[sorted.length >> 1] ?? 0
    return Math.abs(this.#offsetMs - beforeMs) > MOVED_MS_MIN
  }
}
