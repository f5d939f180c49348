import { randomBytes, randomFillSync } from 'node:crypto'
import type { Environment } from './domain/environment.ts'
import { ORDERED_UUID_RANDOM_BYTES, orderedUuid } from './domain/orderedUuid.ts'

/** Random bytes for ids that are drawn at once: a draw for each id costs more than the rest of making it. */
const pool = Buffer.alloc(ORDERED_UUID_RANDOM_BYTES * 512)
let drawn = pool.length

function idBytes(): Buffer {
  if (drawn === pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  drawn += ORDERED_UUID_RANDOM_BYTES
  return pool.subarray(drawn - ORDERED_UUID_RANDOM_BYTES, drawn)
}

/** The real clock and the real randomness. */
export const systemEnvironment: Environment = {
  nowMs: () => Date.now(),
  uuid: () => orderedUuid(Date.now(), idBytes()),
  randomBytes: (size) => randomBytes(size),
}

/** Milliseconds of a clock that only runs forward, whatever is done to the wall clock. */
export function monotonicMs(): number {
  return performance.now()
}
