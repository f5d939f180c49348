/** Connections, and so requests at once. */
export const CLIENTS = 64
/** Creates that one key is used for: below the burst, so that nothing is refused. */
export const CREATES_PER_KEY = 16
/** Rounds of creates of which the best counts. */
export const ROUNDS = 8

/** What was measured, and whether it is good enough. */
export interface Row {
  readonly what: string
  readonly measured: string
  readonly bar: string
  readonly holds: boolean
}
