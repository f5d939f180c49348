/** The result of spending a token on a request. */
export interface Allowance {
  readonly isAllowed: boolean
  /** Number of further requests that are permitted immediately. */
  readonly remaining: number
  /** Time until the bucket is full again (milliseconds). */
  readonly fullInMs: number
}
