/** What checker.ts is asked to do. */
export type CheckerOrder =
  | {
      readonly kind: 'checks'
      /** Checks take turns on these: thousands of closed connections to one port make the next one dear. */
      readonly urls: readonly string[]
      readonly count: number
      /** Who checks: our library with results stored, the same without, axios, or a socket of Node that checks nothing. */
      readonly by: 'ours' | 'ours, not stored' | 'axios' | 'bare socket'
      /** Certificates of authorities (PEM). */
      readonly authorities?: string
      /** Starts a second; as fast as it goes when absent. */
      readonly perSecond?: number
    }
  | {
      readonly kind: 'schedule'
      /** Endpoints take turns on these. */
      readonly urls: readonly string[]
      readonly endpoints: number
      readonly seconds: number
    }

/** What it answers. */
export type CheckerAnswer =
  | {
      /** CPU time for each check, storing included (microseconds). */
      readonly cpuUs: number
      /** Checks that were not up. */
      readonly failed: number
      readonly totalsUs: readonly number[]
    }
  | {
      readonly lateMs: number
      readonly timerMs: number
      readonly checks: number
      readonly failed: number
      /** How many checks failed for each reason. */
      readonly reasons: Readonly<Record<string, number>>
    }
