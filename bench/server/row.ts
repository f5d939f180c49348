/** Number of connections, and therefore of concurrent requests. */
export const CLIENTS = 64
/** Number of creates for each key, below the burst, so that nothing is refused. */
export const CREATES_PER_KEY = 16
/** Number of rounds of creates; the best counts. */
export const ROUNDS = 8

/** A measurement, and whether it meets its target. */
export interface Row {
  readonly what: string
  readonly measured: string
  readonly bar: string
  readonly holds: boolean
}
