import type { Heal } from './binding.ts'

/** How often the same field is put back within the window before another writer must be setting it. */
const HEALS_MAX = 3
const WINDOW_MS = 3_600_000

/** Pointers that were put back so often lately that doing it again would only go on. Pure. */
export function loopingPointers(heals: readonly Heal[], nowMs: number): ReadonlySet<string> {
  const recent = recentHeals(heals, nowMs).map(({ pointer }) => pointer)
  return new Set(recent.filter((pointer) => recent.filter((other) => other === pointer).length >= HEALS_MAX))
}

/** `heals` and those of `pointers` now, without what is too long ago to count. Pure. */
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
