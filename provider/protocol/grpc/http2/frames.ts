/** Frames of HTTP/2 (RFC 9113, 4.1 and 6): types, flags and bytes. */
import { ConnectionError, ERROR } from './errors.ts'

/** The length of a frame's header. */
export const FRAME_HEADER_BYTES = 9
/** The longest payload of a frame, in both directions: the least that RFC 9113 (6.5.2) lets a peer limit it to. */
export const PAYLOAD_BYTES_MAX = 16_384

export const TYPE = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const

export const FLAG = {
  /** Of SETTINGS and PING. */
  ack: 0x1,
  /** Of DATA and HEADERS. */
  endStream: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const

/** The highest bit of a stream's id and of a window's increment is reserved, and ignored. */
const UNRESERVED = 0x7fffffff

export interface Frame {
  readonly type: number
  readonly flags: number
  /** 0 for the connection. */
  readonly streamId: number
  readonly payload: Buffer
}

/** The header of a frame whose payload has `payloadBytes`. Pure. */
export function frameHeader(payloadBytes: number, type: number, flags: number, streamId: number): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES)
  header.writeUIntBE(payloadBytes, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(streamId, 5)
  return header
}

/** The bytes of a frame. Pure. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  return Buffer.concat([frameHeader(payload.length, type, flags, streamId), payload])
}

/** A frame whose payload is `numbers`, of 32 bits each. Pure. */
export function numbersFrame(type: number, streamId: number, ...numbers: readonly number[]): Buffer {
  const payload = Buffer.allocUnsafe(4 * numbers.length)
  for (const [index, number] of numbers.entries()) payload.writeUInt32BE(number, 4 * index)
  return frame(type, 0, streamId, payload)
}

/** The number of 31 bits at `offset` of `bytes`. Pure. */
export function uint31(bytes: Buffer, offset: number): number {
  return bytes.readUInt32BE(offset) & UNRESERVED
}

/** The payload of DATA or HEADERS without its padding. Throws a ConnectionError when there is more padding than payload. Pure. */
export function withoutPadding({ flags, payload }: Frame): Buffer {
  if ((flags & FLAG.padded) === 0) return payload
  const [padding] = payload
  if (padding === undefined) throw new ConnectionError(ERROR.frameSize, 'a padded frame is empty')
  if (padding >= payload.length) throw new ConnectionError(ERROR.protocol, 'the padding exceeds its frame')
  return payload.subarray(1, payload.length - padding)
}
