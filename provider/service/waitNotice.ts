/** How often a wait is reported (milliseconds). */
const NOTICE_INTERVAL_MS = 15_000

/** A function that says, for each wait, whether it is reported: the first is, and then one each 15 seconds. */
export function waitNotices(nowMs: () => number = () => performance.now()): () => boolean {
  let noticedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const now = nowMs()
    if (now - noticedAtMs < NOTICE_INTERVAL_MS) return false
    noticedAtMs = now
    return true
  }
}
