/** Random bytes of which a time-ordered UUID is made, beside the time. */
export const ORDERED_UUID_RANDOM_BYTES = 10

/**
 * A UUID of version 7 (RFC 9562): 48 bits of `nowMs` (milliseconds since the epoch), then 74 of `random`.
 *
 * Ids that are made together stand together in an index, so that a commit of many creates writes few pages; a
 * wholly random id dirties a page of its own. Pure.
 */
export function orderedUuid(nowMs: number, random: Buffer): string {
  const bytes = Buffer.alloc(16)
  // A clock before the epoch, or beyond the year 10889, still makes an id.
  bytes.writeUIntBE(Math.min(Math.max(0, nowMs), 2 ** 48 - 1), 0, 6)
  random.copy(bytes, 6, 0, ORDERED_UUID_RANDOM_BYTES)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
