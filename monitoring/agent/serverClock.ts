/** Number of exchanges whose offsets are kept. */
const EXCHANGES_KEPT = 9
/** Change of the clock above which the schedule has to follow immediately (milliseconds). */
const MOVED_MS_MIN = 1_000
/**
 * Maximum duration of an exchange (milliseconds). A longer one says too little about when the server read its clock.
 */
const ROUND_TRIP_MS_MAX = 2_000

/**
 * The server's clock, according to its responses. It runs on the machine's monotonic clock, so that changes of the
 * agent's wall clock have no effect.
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

  /** The time on the server's clock (milliseconds since the epoch). */
  get nowMs(): number {
    return this.#monotonicMs() + this.#offsetMs
  }

  /**
   * Takes the time `serverMs` from a response. Its request was sent and it was received at these monotonic instants.
   * Returns whether the clock has moved by more than a second.
   */
  take(serverMs: number, sentMs: number, receivedMs: number): boolean {
    // The first exchange counts, however long it took.
    if (receivedMs - sentMs > ROUND_TRIP_MS_MAX && this.isSet) return false
    const beforeMs = this.#offsetMs
    const offsetMs = serverMs - (sentMs + receivedMs) / 2
    // Network delay cannot make so large a difference: the server's clock was set, or this machine was suspended.
    if (Math.abs(offsetMs - beforeMs) > ROUND_TRIP_MS_MAX) this.#offsets = []
    this.#offsets.push(offsetMs)
    if (this.#offsets.length > EXCHANGES_KEPT) this.#offsets.shift()
    const sorted = this.#offsets.toSorted((a, b) => a - b)
    this.#offsetMs = sorted[sorted.length >> 1] ?? 0
    return Math.abs(this.#offsetMs - beforeMs) > MOVED_MS_MIN
  }
}
