/** Time and randomness for decisions, passed in so that a test controls them. */
export interface Environment {
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: () => number
  /** A random UUID from a secure source, lower case. */
  readonly uuid: () => string
  /** `size` bytes of cryptographic randomness. */
  readonly randomBytes: (size: number) => Buffer
}

/** The last instant written: changes of the same instant share it. */
let last = { nowMs: 0, text: new Date(0).toISOString() }

/** `nowMs` as the API writes instants: ISO 8601, UTC, milliseconds (Gap G20). Pure. */
export function timestamp(nowMs: number): string {
  if (nowMs !== last.nowMs) last = { nowMs, text: new Date(nowMs).toISOString() }
  return last.text
}
