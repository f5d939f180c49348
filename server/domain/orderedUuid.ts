/**
 * A UUID of version 7 (RFC 9562): 48 bits of `nowMs` (milliseconds since the epoch), then the 74 random ones of
 * `random`, a UUID of version 4 in lower case.
 *
 * Ids that are made together stand together in an index, so that a commit of many creates writes few pages; a
 * wholly random id dirties a page of its own. Pure.
 */
export function orderedUuid(nowMs: number, random: string): string {
  if (nowMs !== last.nowMs) last = { nowMs, prefix: prefixOf(nowMs) }
  return last.prefix + random.slice(RANDOM_FROM)
}

function prefixOf(nowMs: number): string {
  // A clock before the epoch, or beyond the year 10889, still makes an id.
  const time = Math.min(Math.max(0, nowMs), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7`
}

/** The prefix of the ids of one instant. */
let last = { nowMs: 0, prefix: prefixOf(0) }

/** Where the random bits of a UUID begin that both versions have, the variant among them. */
const RANDOM_FROM = 15
