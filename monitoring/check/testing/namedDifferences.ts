import { isDeepStrictEqual } from 'node:util'
import { generatedResponse } from './generatedResponse.ts'
import { type Reading, readOwn, readWithNode } from './readResponse.ts'

/** One response on which the two readers disagree. */
interface Disagreement {
  /** The bytes that our reader used for the response, in Latin-1. */
  readonly text: string
  readonly own: Reading
  readonly node: Reading
}

/** A known disagreement between the readers, the reason why ours is right, and the test that recognises it. */
interface NamedDifference {
  readonly name: string
  readonly holds: (disagreement: Disagreement) => boolean
}

/** A difference that our reader refuses on purpose: `pattern` occurs in the head or at the start of the body. */
const refuses = (name: string, pattern: RegExp): NamedDifference => ({
  name,
  holds: ({ text, own, node }) => own.kind === 'none' && node.kind === 'whole' && pattern.test(text),
})
const accepts = (name: string, pattern: RegExp): NamedDifference => ({
  name,
  holds: ({ text, own, node }) => own.kind === 'whole' && node.kind === 'none' && pattern.test(text),
})

/**
 * All differences from node:http. Our reader ignores bytes after the response, so they are cut off before the
 * comparison.
 */
export const NAMED_DIFFERENCES: readonly NamedDifference[] = [
  refuses(
    'versions other than HTTP/1.0 and HTTP/1.1, and other protocols',
    /(?:HTTP\/(?!1\.[01] )|RTSP\/|ICE\/)\S* \d/,
  ),
  refuses('a status below 100, and an unrequested change of protocol', /HTTP\/1\.[01] (?:0\d\d|101)/),
  {
    name: 'unrequested transfer codings, chunks in chunks, an empty coding',
    holds: ({ text, own, node }) =>
      own.kind === 'none' && node.kind === 'whole' && !/^(?:chunked|identity|)$/.test(codingsOf(text)),
  },
  refuses(
    'a carriage return that stands for the end of the status line',
    /HTTP\/1\.[01] \d\d\d[^\r\n]*\r[^\n]/,
  ),
  accepts('blanks between the size of a chunk and the end of its line', /\n[\da-f]+[ \t]+(?:;.*)?\r\n/i),
  accepts('any text as extension of a chunk', /\n[\da-f]+;[^\r\n]*\r\n/i),
  {
    name: 'a tab around a length or a transfer coding, which node:http takes for a part of it',
    holds: ({ text, own }) =>
      own.kind === 'whole' &&
      /\n(?:Content-Length|Transfer-Encoding):(?:[ ]*\t|[^\r\n]*\t[ ]*\r)/i.test(text),
  },
  accepts(
    'headers about the body after its last chunk',
    /\n0+[ \t]*(?:;.*)?\r\n(?:.*\r\n)*(?:Content-Length|Transfer-Encoding):/i,
  ),
]

/** The transfer codings in the headers of `text`, separated by `,`; a coding without a name is `empty`. */
function codingsOf(text: string): string {
  const values = [...text.matchAll(/\nTransfer-Encoding:[ \t]*([^\r\n]*?)[ \t]*\r/gi)]
  return values.map(([, value = '']) => value.toLowerCase() || 'empty').join(',')
}

/** The result of comparing the readers on some seeds. */
export interface Comparison {
  /** Number of responses that node:http read completely. */
  readonly whole: number
  /** Number of occurrences of each named difference. */
  readonly named: Readonly<Record<string, number>>
  /** Seeds on which the readers disagree for an unknown reason. */
  readonly unnamed: readonly number[]
}

/** Compares both readers on the responses of `count` seeds from `firstSeed`. */
export async function compareReaders(firstSeed: number, count: number): Promise<Comparison> {
  const named: Record<string, number> = {}
  const unnamed: number[] = []
  let whole = 0
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const { bytes, pieces } = generatedResponse(seed)
    const own = readOwn(pieces).reading
    const first = await readWithNode(bytes)
    if (first.kind === 'whole') whole += 1
    if (isDeepStrictEqual(own, first)) continue
    const used = bytes.subarray(0, own.kind === 'whole' ? usedBytesOf(bytes) : bytes.length)
    const node = await readWithNode(used)
    if (isDeepStrictEqual(own, node)) continue
    const disagreement = { text: used.toString('latin1'), own, node }
    const difference = NAMED_DIFFERENCES.find(({ holds }) => holds(disagreement))
    if (difference === undefined) unnamed.push(seed)
    else named[difference.name] = (named[difference.name] ?? 0) + 1
  }
  return { whole, named, unnamed }
}

/** Length of the response at the start of `bytes`. */
function usedBytesOf(bytes: Buffer): number {
  return readOwn([...bytes].map((byte) => Buffer.from([byte]))).usedBytes
}
