/** Minimum interval between reports of waits (milliseconds). */
const NOTICE_INTERVAL_MS = 15_000

/**
 * Returns a function that decides for each wait whether to report it: the first one, and then at most one every 15
 * seconds.
 */
export function waitNotices(nowMs: () => number = () => performance.now()): () => boolean {
  let noticedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const now = nowMs()
    if (now - noticedAtMs < NOTICE_INTERVAL_MS) return false
    noticedAtMs = now
    return true
  }
}
