/** What decisions need from the outside world, passed in so that a test can decide it. */
export interface Environment {
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: () => number
  /** A fresh UUID that nobody can guess, lower case. */
  readonly uuid: () => string
  /** `size` bytes of cryptographic randomness. */
  readonly randomBytes: (size: number) => Buffer
}

/** `nowMs` as the API writes instants: ISO 8601, UTC, milliseconds (Gap G20). Pure. */
export function timestamp(nowMs: number): string {
  return new Date(nowMs).toISOString()
}
