/** Connections, and so requests at once. */
export const CLIENTS = 64
/** Rounds of creates of which the best counts. */
export const ROUNDS = 3

/** What was measured, and whether it is good enough. */
export interface Row {
  readonly what: string
  readonly measured: string
  readonly bar: string
  readonly holds: boolean
}
