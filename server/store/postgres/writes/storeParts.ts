import type { Pools } from '../connections/pools.ts'
import type { OrgQueues } from './orgQueues.ts'

/** Dependencies of the parts of a store. */
export interface StoreParts {
  readonly pools: Pools
  readonly queues: OrgQueues
  /** Wall clock (milliseconds since the epoch). */
  readonly nowMs: () => number
}
