import type { LineColumn } from '../manifestProblem.ts'

/** A text, or where the first byte stands that belongs to none. */
export type DecodedText = { readonly text: string } | { readonly badAt: LineColumn }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const REPLACEMENT = '\uFFFD'
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT)

/**
 * `bytes` as UTF-8 text. A byte that is none is never replaced: what is sent would be another text than what
 * its author wrote. A byte order mark stays. Pure.
 */
export function decodeUtf8(bytes: Buffer): DecodedText {
  try {
    return { text: decoder.decode(bytes) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { badAt: firstBadByte(bytes) }
  }
}

function firstBadByte(bytes: Buffer): LineColumn {
  const text = bytes.toString('utf8')
  let at = text.indexOf(REPLACEMENT)
  let offset = Buffer.byteLength(text.slice(0, at))
  // The replacement character may also be what its author wrote.
  while (bytes.subarray(offset, offset + REPLACEMENT_BYTES.length).equals(REPLACEMENT_BYTES)) {
    const next = text.indexOf(REPLACEMENT, at + 1)
    offset += Buffer.byteLength(text.slice(at, next))
    at = next
  }
  const lines = text.slice(0, at).split(/\r\n|\n|\r/)
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}
