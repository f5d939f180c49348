import type { PublishedStore } from '../statusPageStore.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'
import type { OrgQueues } from './writes/orgQueues.ts'

/** How often it is looked for changes of other processes, while the count is asked for (milliseconds). */
const LOOK_MS = 200
/** Time after the last look from which everything may have changed (milliseconds). */
const UNKNOWN_MS = 500

/**
 * The count of changes. Those of this process count at once. Those of others are found by looks that the questions cause:
 * an answer is at most UNKNOWN_MS behind them, because without a look for that long the count changes by itself.
 */
export function changeCount(
  { pools: { read }, queues }: { readonly pools: Pick<Pools, 'read'>; readonly queues: OrgQueues },
  monotonicMs: () => number,
): PublishedStore['changeCount'] {
  let count = 0
  let revisions: number | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let isLooking = false
  queues.onWrite(() => {
    count += 1
  })
  async function look(): Promise<void> {
    const startedAtMs = monotonicMs()
    // Each change of what is shown raises the revision of its organisation.
    const text = 'SELECT coalesce(sum(revision), 0)::bigint + count(*) AS revisions FROM orgs'
    const found = (await rowOf<{ revisions: number }>(read, text, []))?.revisions
    if (found !== revisions) count += 1
    revisions = found
    lookedAtMs = startedAtMs
  }
  return () => {
    const nowMs = monotonicMs()
    if (nowMs - lookedAtMs >= LOOK_MS && !isLooking) {
      isLooking = true
      look()
        // Without a look the count changes by itself.
        .catch(() => {})
        .finally(() => {
          isLooking = false
        })
    }
    if (nowMs - lookedAtMs >= UNKNOWN_MS) {
      count += 1
      lookedAtMs = nowMs
    }
    return count
  }
}
