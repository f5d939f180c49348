/** Time and randomness for decisions, passed in so that tests control them. */
export interface Environment {
  /** The wall clock (milliseconds since the epoch). */
  readonly nowMs: () => number
  /** A random UUID from a secure source, lower case. */
  readonly uuid: () => string
  /** `size` bytes of cryptographic randomness. */
  readonly randomBytes: (size: number) => Buffer
}

/** The last instant and its text, which changes of the same instant share. */
let last = { nowMs: 0, text: new Date(0).toISOString() }

/** `nowMs` in the API's format of instants: ISO 8601, UTC, milliseconds (Gap G20). Pure. */
export function timestamp(nowMs: number): string {
  if (nowMs !== last.nowMs) last = { nowMs, text: new Date(nowMs).toISOString() }
  return last.text
}
