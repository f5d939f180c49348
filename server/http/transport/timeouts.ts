/** How long a client may take (milliseconds). Gap G20. */
export interface Timeouts {
  /** For a whole request, and for its headers; also for the first byte of a connection. */
  readonly requestMs: number
  readonly headersMs: number
  /** For silence between two requests. */
  readonly keepAliveMs: number
  /** For taking each MiB of a long answer, on average. */
  readonly mibMs: number
  /** For taking nothing of an answer, and for silence of any other kind. */
  readonly silenceMs: number
  /** How often connections are looked at for the times above. */
  readonly lookMs: number
}

/** The timeouts of a server that is not told otherwise. */
export const TIMEOUTS: Timeouts = {
  requestMs: 30_000,
  headersMs: 10_000,
  keepAliveMs: 72_000,
  mibMs: 1_000,
  silenceMs: 60_000,
  lookMs: 5_000,
}
