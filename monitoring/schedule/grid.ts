import { createHash } from 'node:crypto'

/**
 * Minimum time between two slots of a series, regardless of its definition (milliseconds). Contract: interval_secs may
 * be 0.
 */
export const INTERVAL_MS_MIN = 1_000

/** Number of values of an unsigned 32-bit hash. */
const HASH_VALUES = 2 ** 32

/**
 * The instants at which a series is due, on the server's clock: `phaseMs` + k × `intervalMs` since the epoch. They
 * depend only on the identity and interval of the series, so that a restart, another agent or a corrected clock gives
 * the same slots.
 */
export interface Grid {
  readonly phaseMs: number
  readonly intervalMs: number
}

/**
 * The grid of an endpoint in a region. The phase is a hash, so that endpoints of one service, and regions of one
 * endpoint, are spread over the interval. Pure.
 */
export function gridOf(endpointId: string, region: string, intervalSecs: number): Grid {
  const intervalMs = Math.max(INTERVAL_MS_MIN, intervalSecs * 1_000)
  const hash = createHash('sha256').update(`${endpointId}|${region}`).digest().readUInt32BE()
  return { phaseMs: Math.floor((hash / HASH_VALUES) * intervalMs), intervalMs }
}

/** The first slot after `instantMs` (milliseconds since the epoch). Pure. */
export function slotAfter({ phaseMs, intervalMs }: Grid, instantMs: number): number {
  return phaseMs + (Math.floor((instantMs - phaseMs) / intervalMs) + 1) * intervalMs
}

/** The last slot that is not after `instantMs` (milliseconds since the epoch). Pure. */
export function slotUpTo({ phaseMs, intervalMs }: Grid, instantMs: number): number {
  return phaseMs + Math.floor((instantMs - phaseMs) / intervalMs) * intervalMs
}

/** The key under which the result of the slot at `dueMs` is stored: whole seconds since the epoch. Pure. */
export function slotKey(dueMs: number): number {
  return Math.floor(dueMs / 1_000)
}
