/** An order to checker.ts. */
export type CheckerOrder =
  | {
      readonly kind: 'checks'
      /** Checks use these in turns, because thousands of closed connections to one port make the next one expensive. */
      readonly urls: readonly string[]
      readonly count: number
      /**
       * The checker: our library with stored results, the same without storing, axios, or a Node socket that checks
       * nothing.
       */
      readonly by: 'ours' | 'ours, not stored' | 'axios' | 'bare socket'
      /** CA certificates (PEM). */
      readonly authorities?: string
      /** Starts per second; as fast as possible when absent. */
      readonly perSecond?: number
    }
  | {
      readonly kind: 'schedule'
      /** Endpoints use these in turns. */
      readonly urls: readonly string[]
      readonly endpoints: number
      readonly seconds: number
    }

/** The reply of checker.ts. */
export type CheckerReply =
  | {
      /** CPU time for each check, including storing (microseconds). */
      readonly cpuUs: number
      /** Number of checks that were not up. */
      readonly failed: number
      readonly totalsUs: readonly number[]
    }
  | {
      readonly lateMs: number
      readonly timerMs: number
      readonly checks: number
      readonly failed: number
      /** Number of failed checks by reason. */
      readonly reasons: Readonly<Record<string, number>>
    }
