/** The result of spending a request's token. */
export interface Allowance {
  readonly isAllowed: boolean
  /** Further requests permitted at once. */
  readonly remaining: number
  /** Time until the bucket is full again (milliseconds). */
  readonly fullInMs: number
}
