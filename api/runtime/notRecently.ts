/**
 * Returns a function that records a key, and returns whether the key was not recorded within the last `intervalMs`.
 * Forgets all keys when there are more than `keysMax`. `nowMs` is a monotonic clock (milliseconds).
 */
export function notRecently(
  intervalMs: number,
  keysMax: number,
  nowMs: () => number = () => performance.now(),
): (key: string) => boolean {
  const notedMs = new Map<string, number>()
  return (key) => {
    const now = nowMs()
    if (now - (notedMs.get(key) ?? Number.NEGATIVE_INFINITY) < intervalMs) return false
    if (notedMs.size >= keysMax) notedMs.clear()
    notedMs.set(key, now)
    return true
  }
}
