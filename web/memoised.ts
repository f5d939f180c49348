/** Maximum number of cached results. All are dropped when there are more, so that unusual requests cost no memory. */
const KEPT_MAX = 1_000

/** The pure function `compute` with a cache of recent results. */
export function memoised<T>(compute: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    if (kept.size >= KEPT_MAX) kept.clear()
    const computed = compute(text)
    kept.set(text, computed)
    return computed
  }
}
