import type { LineColumn } from '../manifestProblem.ts'

/** A text, or the place of the first invalid byte. */
export type DecodedText = { readonly text: string } | { readonly badAt: LineColumn }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const REPLACEMENT = '\uFFFD'
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT)

/**
 * Decodes `bytes` as UTF-8. An invalid byte is never replaced, which would send another text than its author wrote. A byte
 * order mark is kept. Pure.
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
  // The text may also contain the replacement character itself.
  while (bytes.subarray(offset, offset + REPLACEMENT_BYTES.length).equals(REPLACEMENT_BYTES)) {
    const next = text.indexOf(REPLACEMENT, at + 1)
    offset += Buffer.byteLength(text.slice(at, next))
    at = next
  }
  const lines = text.slice(0, at).split(/\r\n|\n|\r/)
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}
