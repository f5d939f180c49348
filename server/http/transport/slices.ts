import type { YieldTurn } from './eventLoopTurns.ts'

/** Work of one slice, some milliseconds, in units of a visited value or a few characters. Gap G40. */
export const SLICE_WORK = 2_048
/** Number of characters that are as expensive as one value. */
const CHARS_PER_UNIT = 16

/** Counts the work of the current slice. */
export class Slices {
  #left = SLICE_WORK

  /** Counts a value of `chars` characters, or other work of `units`. Returns whether to yield now. */
  spend(chars = 0, units = 1): boolean {
    this.#left -= units + chars / CHARS_PER_UNIT
    if (this.#left > 0) return false
    this.#left = SLICE_WORK
    return true
  }
}

/**
 * Runs `work` to its end. Other requests run each time it yields, and after it if it yielded at all. Rejects with its
 * error.
 */
export async function inSlices<Result>(work: Generator<void, Result>, yieldTurn: YieldTurn): Promise<Result> {
  let isLong = false
  for (;;) {
    const step = work.next()
    if (step.done !== true || isLong) await yieldTurn()
    if (step.done === true) return step.value
    isLong = true
  }
}
