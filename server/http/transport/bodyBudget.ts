import { RESPONSE_BOUNDS, type ResponseBounds } from './responseBudget.ts'

const MIB = 1_024 * 1_024

/**
 * Maximum size of a body that is read without reserving memory (bytes), because it takes less memory than its connection.
 */
export const SMALL_BODY_BYTES_MAX = 16 * 1_024

/**
 * Memory bounds for all bodies being read or handled (bytes by `parsedBytes`): the part of the smallest heap that
 * responses leave. The share of one organisation fits the most expensive body. Gap G40.
 */
export const BODY_BOUNDS: ResponseBounds = {
  ...RESPONSE_BOUNDS,
  bytesMax: 64 * MIB,
  orgBytesMax: 32 * MIB,
  refusal: 'too many long bodies are being read',
}

/** Memory of an object or array, a member, an element and a character, measured with V8 (bytes). */
const COSTS: ReadonlyMap<string, number> = new Map([
  ['{', 64],
  ['[', 64],
  [':', 64],
  [',', 16],
])
const CHAR_BYTES = 2

const COST_OF_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => COSTS.get(String.fromCharCode(byte)) ?? 0)

/**
 * Upper bound for the memory of the JSON value in `body` (bytes), without parsing it: thirty times its length when it
 * is full of empty objects. Never too low, but too high for texts with many commas. Pure.
 */
export function parsedBytes(body: Uint8Array): number {
  let cost = CHAR_BYTES * body.length
  for (const byte of body) cost += COST_OF_BYTE[byte] ?? 0
  return cost
}
