/** Decodes header blocks (RFC 7541, 5 and 6). */
import { ConnectionError, ERROR } from './errors.ts'
import { type Header, HeaderTable, headerBytes, TABLE_BYTES_MAX } from './headerTable.ts'
import { decodeHuffman } from './huffman.ts'
import { HEADERS_BYTES_MAX } from './settings.ts'

/** A number continues in at most three bytes, far beyond all limits here. */
const NUMBER_SHIFT_MAX = 14

/** What a header begins with: bits that say how it is represented, then a number. */
const FORM = {
  indexed: { bit: 0x80, numberBits: 7 },
  added: { bit: 0x40, numberBits: 6 },
  tableSize: { bit: 0x20, numberBits: 5 },
  /** Without indexing, or never indexed, which differ for intermediaries only. */
  literal: { numberBits: 4 },
} as const
const HUFFMAN = { bit: 0x80, numberBits: 7 } as const

/** Numbers and strings of a block, in order. */
class BlockReader {
  readonly #block: Buffer
  #at = 0

  constructor(block: Buffer) {
    this.#block = block
  }

  get isAtEnd(): boolean {
    return this.#at === this.#block.length
  }

  /** The next byte, which remains to be read. */
  peek(): number {
    const byte = this.#block[this.#at]
    if (byte === undefined) throw invalid('a header is cut off')
    return byte
  }

  /** A number that begins in the last `bits` of the next byte. */
  number(bits: number): number {
    const most = 2 ** bits - 1
    let value = this.peek() & most
    this.#at += 1
    if (value < most) return value
    for (let shift = 0; shift <= NUMBER_SHIFT_MAX; shift += 7) {
      const byte = this.peek()
      this.#at += 1
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw invalid('a number is too large')
  }

  text(): string {
    const isHuffman = (this.peek() & HUFFMAN.bit) !== 0
    const length = this.number(HUFFMAN.numberBits)
    const bytes = this.#block.subarray(this.#at, this.#at + length)
    if (bytes.length < length) throw invalid('a string is cut off')
    this.#at += length
    return (isHuffman ? decodeHuffman(bytes) : bytes).toString('latin1')
  }
}

/** The decoder of one connection, whose blocks have to be decoded in their order. */
export class HeaderDecoder {
  readonly #table = new HeaderTable()

  /** The headers of `block`. Throws a ConnectionError for an invalid block, and for headers that exceed HEADERS_BYTES_MAX. */
  decode(block: Buffer): readonly Header[] {
    const reader = new BlockReader(block)
    const headers: Header[] = []
    let bytes = 0
    while (!reader.isAtEnd) {
      const header = this.#next(reader, headers.length === 0)
      if (header === undefined) continue
      bytes += headerBytes(header)
      if (bytes > HEADERS_BYTES_MAX) {
        throw new ConnectionError(ERROR.enhanceYourCalm, `headers exceed ${HEADERS_BYTES_MAX} bytes`)
      }
      headers.push(header)
    }
    return headers
  }

  /** The next header; `undefined` for a change of the table's size, which only the start of a block may have. */
  #next(reader: BlockReader, isStart: boolean): Header | undefined {
    const first = reader.peek()
    if (first & FORM.indexed.bit) return this.#find(reader.number(FORM.indexed.numberBits))
    if (first & FORM.added.bit) {
      const header = this.#literal(reader, FORM.added.numberBits)
      this.#table.add(header)
      return header
    }
    if ((first & FORM.tableSize.bit) === 0) return this.#literal(reader, FORM.literal.numberBits)
    const size = reader.number(FORM.tableSize.numberBits)
    if (!isStart || size > TABLE_BYTES_MAX) throw invalid(`the table cannot have ${size} bytes here`)
    this.#table.resize(size)
    return undefined
  }

  /** A header whose value, and possibly name, is written out. */
  #literal(reader: BlockReader, numberBits: number): Header {
    const index = reader.number(numberBits)
    const name = index === 0 ? reader.text() : this.#find(index)[0]
    return [name, reader.text()]
  }

  #find(index: number): Header {
    const header = this.#table.get(index)
    if (header === undefined) throw invalid(`there is no header ${index}`)
    return header
  }
}

function invalid(message: string): ConnectionError {
  return new ConnectionError(ERROR.compression, message)
}
