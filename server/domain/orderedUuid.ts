/**
 * A version 7 UUID (RFC 9562): 48 bits of `nowMs` (milliseconds since the epoch), then the 74 random bits of `random`,
 * a version 4 UUID in lower case.
 *
 * Ids created together are adjacent in an index, so that a commit with many creates writes few pages. Each fully random
 * id would dirty a different page. Pure.
 */
export function orderedUuid(nowMs: number, random: string): string {
  if (nowMs !== last.nowMs) last = { nowMs, prefix: prefixOf(nowMs) }
  return last.prefix + random.slice(RANDOM_FROM)
}

function prefixOf(nowMs: number): string {
  // A clock before the epoch, or beyond the year 10889, still gives a valid id.
  const time = Math.min(Math.max(0, nowMs), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7`
}

/** The prefix of the ids of one instant. */
let last = { nowMs: 0, prefix: prefixOf(0) }

/** Position of the first random bits common to both versions, including the variant. */
const RANDOM_FROM = 15
