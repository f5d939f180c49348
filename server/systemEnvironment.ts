import { randomBytes } from 'node:crypto'
import type { Environment } from './domain/environment.ts'
import { ORDERED_UUID_RANDOM_BYTES, orderedUuid } from './domain/orderedUuid.ts'

/** The real clock and the real randomness. */
export const systemEnvironment: Environment = {
  nowMs: () => Date.now(),
  uuid: () => orderedUuid(Date.now(), randomBytes(ORDERED_UUID_RANDOM_BYTES)),
  randomBytes: (size) => randomBytes(size),
}

/** Milliseconds of a clock that only runs forward, whatever is done to the wall clock. */
export function monotonicMs(): number {
  return performance.now()
}
