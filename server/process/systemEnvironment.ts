import { randomBytes, randomUUID } from 'node:crypto'
import type { Environment } from '../domain/environment.ts'
import { orderedUuid } from '../domain/orderedUuid.ts'

/** The real clock and real randomness. */
export const systemEnvironment: Environment = {
  nowMs: () => Date.now(),
  uuid: () => orderedUuid(Date.now(), randomUUID()),
  randomBytes: (size) => randomBytes(size),
}

/** Milliseconds of a monotonic clock, independent of the wall clock. */
export function monotonicMs(): number {
  return performance.now()
}
