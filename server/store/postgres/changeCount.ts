import type { PublishedStore } from '../statusPageStore.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'
import type { OrgQueues } from './writes/orgQueues.ts'

/** Interval between polls for changes of other processes, while the count is in use (milliseconds). */
const POLL_MS = 200
/** Age of the last poll from which everything may have changed (milliseconds). */
const STALE_MS = 500

/**
 * The count of changes. Changes of this process count at once. Changes of other processes are found by polls, which
 * calls start: the count is at most STALE_MS behind them, because without a poll for that long the count changes by
 * itself.
 */
export function changeCount(
  { pools: { read }, queues }: { readonly pools: Pick<Pools, 'read'>; readonly queues: OrgQueues },
  monotonicMs: () => number,
): PublishedStore['changeCount'] {
  let count = 0
  let revisions: number | undefined
  let polledAtMs = Number.NEGATIVE_INFINITY
  let isPolling = false
  queues.onWrite(() => {
    count += 1
  })
  async function poll(): Promise<void> {
    const startedAtMs = monotonicMs()
    // Each change of published data raises the revision of its organisation.
    const text = 'SELECT coalesce(sum(revision), 0)::bigint + count(*) AS revisions FROM orgs'
    const found = (await rowOf<{ revisions: number }>(read, text, []))?.revisions
    if (found !== revisions) count += 1
    revisions = found
    polledAtMs = startedAtMs
  }
  return () => {
    const nowMs = monotonicMs()
    if (nowMs - polledAtMs >= POLL_MS && !isPolling) {
      isPolling = true
      poll()
        // Without a poll the count changes by itself.
        .catch(() => {})
        .finally(() => {
          isPolling = false
        })
    }
    if (nowMs - polledAtMs >= STALE_MS) {
      count += 1
      polledAtMs = nowMs
    }
    return count
  }
}
