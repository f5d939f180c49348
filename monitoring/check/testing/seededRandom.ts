/** A source of pseudo-random numbers. */
export interface SeededRandom {
  /** An integer from 0 to below `bound`. */
  readonly below: (bound: number) => number
  readonly oneOf: <T>(values: readonly [T, ...T[]]) => T
  /** True with a probability of `percent` percent. */
  readonly isLikely: (percent: number) => boolean
}

/** Numbers that depend only on `seed` (mulberry32). */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound) | 0
  }
  return {
    below,
    oneOf: (values) => values[below(values.length)] ?? values[0],
    isLikely: (percent) => below(100) < percent,
  }
}
