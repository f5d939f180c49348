import type { Heal } from './binding.ts'

/** Reversals of one field within the window from which another writer must be setting it. */
const HEALS_MAX = 3
const WINDOW_MS = 3_600_000

/** Pointers that were reverted so often recently that another reversal would not last. Pure. */
export function loopingPointers(heals: readonly Heal[], nowMs: number): ReadonlySet<string> {
  const recent = recentHeals(heals, nowMs).map(({ pointer }) => pointer)
  return new Set(recent.filter((pointer) => recent.filter((other) => other === pointer).length >= HEALS_MAX))
}

/** The recent `heals` and new ones for `pointers`. Pure. */
export function withHeals(
  heals: readonly Heal[],
  pointers: readonly string[],
  nowMs: number,
): readonly Heal[] {
  return [...recentHeals(heals, nowMs), ...pointers.map((pointer) => ({ pointer, atMs: nowMs }))]
}

function recentHeals(heals: readonly Heal[], nowMs: number): readonly Heal[] {
  return heals.filter(({ atMs }) => nowMs - atMs < WINDOW_MS)
}
