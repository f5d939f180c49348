/**
 * Encodes header blocks, without tables and Huffman codes: responses have three short headers, and no table has to be
 * kept in step.
 */
import { FLAG, frame, PAYLOAD_BYTES_MAX, TYPE } from './frames.ts'

/** Names are in lower case, pseudo-headers first. */
export type HeaderList = { readonly [name: string]: string }

/**
 * The table has no bytes (RFC 7541, 6.3). Sent with each block, because a peer that limits the table waits for the new size at
 * the start of the next one.
 */
const NO_TABLE = Buffer.from([0x20])
/** A literal header without indexing, whose name is written out (RFC 7541, 6.2.2). */
const LITERAL = Buffer.from([0])
const LENGTH_BITS = 7

/** The frames with `headers`: HEADERS, then CONTINUATION for what exceeds a frame. Values are of Latin-1. Pure. */
export function headerFrames(streamId: number, headers: HeaderList, isEnd: boolean): Buffer {
  const block = encodeHeaders(headers)
  const frames: Buffer[] = []
  for (let at = 0; at < block.length; at += PAYLOAD_BYTES_MAX) {
    const end = at + PAYLOAD_BYTES_MAX
    const endHeaders = end < block.length ? 0 : FLAG.endHeaders
    const [type, flags] = at === 0 ? [TYPE.headers, isEnd ? FLAG.endStream : 0] : [TYPE.continuation, 0]
    frames.push(frame(type, flags | endHeaders, streamId, block.subarray(at, end)))
  }
  return Buffer.concat(frames)
}

function encodeHeaders(headers: HeaderList): Buffer {
  const parts = Object.entries(headers).flatMap((header) => [LITERAL, ...header.flatMap(text)])
  return Buffer.concat([NO_TABLE, ...parts])
}

/** A string with its length, which has seven bits and continues in as many bytes as it needs (RFC 7541, 5.1 and 5.2). */
function text(value: string): readonly Buffer[] {
  const most = 2 ** LENGTH_BITS - 1
  const length = [Math.min(value.length, most)]
  for (let rest = value.length - most; rest >= 0; rest = rest < 0x80 ? -1 : rest >> 7) {
    length.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80)
  }
  return [Buffer.from(length), Buffer.from(value, 'latin1')]
}
