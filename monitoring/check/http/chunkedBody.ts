import { parseHeader } from './responseHead.ts'

/** Maximum length of a line with a chunk's size, including extensions (bytes). */
const SIZE_LINE_BYTES_MAX = 16_384
/** Maximum size of the headers after the last chunk (bytes). */
const TRAILER_BYTES_MAX = 65_536

// Old servers pad the size with spaces. Unknown extensions are ignored.
const SIZE_LINE = /^0*([\da-f]{1,12})[ \t]*(?:;[\t\u0020-\u007e\u0080-\u00ff]*)?$/i

const CR = 0x0d
const LF = 0x0a

type Expected = 'size' | 'data' | 'end of data' | 'trailer' | 'nothing'

/** Parses the chunks of one body. Data is passed on as it arrives, and none of it is kept. */
export class ChunkedBody {
  #expected: Expected = 'size'
  /** Remaining bytes of the chunk. */
  #left = 0
  #line: Buffer[] = []
  #lineBytes = 0
  #trailerBytes = 0

  /**
   * Passes the data in `bytes` to `onData`. Returns `more` when the body is incomplete, `end` when it is complete, or
   * `fault` when `bytes` are not valid chunks. The latter two are final.
   */
  push(bytes: Buffer, onData: (data: Buffer) => void): 'more' | 'end' | 'fault' {
    let at = 0
    while (at < bytes.length) {
      if (this.#expected === 'data') {
        const data = bytes.subarray(at, at + this.#left)
        this.#left -= data.length
        at += data.length
        if (this.#left === 0) this.#expected = 'end of data'
        onData(data)
        continue
      }
      const end = bytes.indexOf(LF, at)
      const part = bytes.subarray(at, end === -1 ? bytes.length : end + 1)
      at += part.length
      this.#line.push(part)
      this.#lineBytes += part.length
      if (this.#lineBytes > this.#lineBytesMax()) return 'fault'
      if (end === -1) break
      const line = this.#takeLine()
      if (line === undefined || !this.#accept(line)) return 'fault'
      if (this.#expected === 'nothing') return 'end'
    }
    return 'more'
  }

  #lineBytesMax(): number {
    if (this.#expected === 'size') return SIZE_LINE_BYTES_MAX
    return this.#expected === 'trailer' ? TRAILER_BYTES_MAX - this.#trailerBytes : 2
  }

  /** The completed line without its CRLF; `undefined` when it ends otherwise. */
  #takeLine(): string | undefined {
    const line = this.#line.length === 1 ? this.#line[0] : Buffer.concat(this.#line)
    this.#line = []
    this.#lineBytes = 0
    return line?.at(-2) === CR ? line.toString('latin1', 0, line.length - 2) : undefined
  }

  /** Whether `line` is valid in the current state. */
  #accept(line: string): boolean {
    if (this.#expected === 'trailer') {
      this.#trailerBytes += line.length + 2
      if (line === '') this.#expected = 'nothing'
      return line === '' || parseHeader(line) !== undefined
    }
    if (this.#expected === 'end of data') {
      this.#expected = 'size'
      return line === ''
    }
    const size = SIZE_LINE.exec(line)?.[1]
    if (size === undefined) return false
    this.#left = Number.parseInt(size, 16)
    this.#expected = this.#left === 0 ? 'trailer' : 'data'
    return true
  }
}
