/** The Huffman code of HPACK (RFC 7541, 5.2 and appendix B). */
import { ConnectionError, ERROR } from './errors.ts'

/** Bits of the code of each byte and of the end of a string, as a digit of base 36. */
const CODE_BITS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu'
const CODE_BITS_MAX = 30
/** The symbol of the end, which no string has. */
const END = 256
/** A string ends with less than a byte of ones. */
const PADDING_BITS_MAX = 7

/** The codes of one length: they are consecutive numbers, in the order of their symbols. */
interface Codes {
  readonly first: number
  readonly symbols: readonly number[]
}

let codesByBits: readonly Codes[] | undefined

/** The codes by their length. The code is canonical: their lengths are enough to number them. */
function numberCodes(): readonly Codes[] {
  const byBits = Array.from({ length: CODE_BITS_MAX + 1 }, (): number[] => [])
  for (const [symbol, digit] of [...CODE_BITS].entries()) byBits[Number.parseInt(digit, 36)]?.push(symbol)
  let next = 0
  return byBits.map((symbols) => {
    const first = next * 2
    next = first + symbols.length
    return { first, symbols }
  })
}

/** The bytes that `encoded` stands for. Throws a ConnectionError for what is no string of the code. Pure. */
export function decodeHuffman(encoded: Uint8Array): Buffer {
  // Numbered when the first string arrives: the handshake comes first.
  codesByBits ??= numberCodes()
  const decoded: number[] = []
  let [code, bits] = [0, 0]
  for (const byte of encoded) {
    for (let shift = 7; shift >= 0; shift -= 1) {
      code = code * 2 + ((byte >> shift) & 1)
      bits += 1
      const codes = codesByBits[bits]
      const symbol = codes?.symbols[code - codes.first]
      if (symbol === undefined) continue
      if (symbol === END) throw invalid()
      decoded.push(symbol)
      code = 0
      bits = 0
    }
  }
  if (bits > PADDING_BITS_MAX || code !== 2 ** bits - 1) throw invalid()
  return Buffer.from(decoded)
}

function invalid(): ConnectionError {
  return new ConnectionError(ERROR.compression, 'a Huffman code is invalid')
}
