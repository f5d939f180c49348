/** Timeouts for clients (milliseconds). Gap G20. */
export interface Timeouts {
  /** For a whole request, for its headers, and for the first byte of a connection. */
  readonly requestMs: number
  readonly headersMs: number
  /** Idle time between two requests. */
  readonly keepAliveMs: number
  /** For reading each MiB of a long response, on average. */
  readonly mibMs: number
  /** For a response that the client does not read, and for any other idle time. */
  readonly silenceMs: number
  /** Interval of the checks for these timeouts. */
  readonly checkMs: number
}

/** The default timeouts. */
export const TIMEOUTS: Timeouts = {
  requestMs: 30_000,
  headersMs: 10_000,
  keepAliveMs: 72_000,
  mibMs: 1_000,
  silenceMs: 60_000,
  checkMs: 5_000,
}
