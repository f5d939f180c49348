/** Reads frames from the chunks of a connection. */
import { ConnectionError, ERROR } from './errors.ts'
import { FRAME_HEADER_BYTES, type Frame, PAYLOAD_BYTES_MAX, uint31 } from './frames.ts'

/** What a client sends first (RFC 9113, 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

interface FrameHeader extends Omit<Frame, 'payload'> {
  readonly payloadBytes: number
}

/** Keeps at most one frame beyond the last chunk. */
export class FrameReader {
  #chunks: Buffer[] = []
  #bytes = 0
  #hasPreface = false
  /** Of the frame whose payload is awaited. */
  #header: FrameHeader | undefined

  /** Adds the next bytes of the connection. */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** The next frame; `undefined` until more is added. Throws a ConnectionError for a wrong preface and a frame that is too long. */
  next(): Frame | undefined {
    if (!this.#hasPreface && !this.#readPreface()) return undefined
    this.#header ??= this.#readHeader()
    if (this.#header === undefined) return undefined
    const payload = this.#take(this.#header.payloadBytes)
    if (payload === undefined) return undefined
    const { type, flags, streamId } = this.#header
    this.#header = undefined
    return { type, flags, streamId, payload }
  }

  /** Whether the preface is complete. */
  #readPreface(): boolean {
    const preface = this.#take(PREFACE.length)
    if (preface === undefined) return false
    if (!preface.equals(PREFACE))
      throw new ConnectionError(ERROR.protocol, 'the caller does not speak HTTP/2')
    this.#hasPreface = true
    return true
  }

  #readHeader(): FrameHeader | undefined {
    const bytes = this.#take(FRAME_HEADER_BYTES)
    if (bytes === undefined) return undefined
    const payloadBytes = bytes.readUIntBE(0, 3)
    if (payloadBytes > PAYLOAD_BYTES_MAX) {
      throw new ConnectionError(ERROR.frameSize, `a frame has ${payloadBytes} bytes`)
    }
    return { payloadBytes, type: bytes.readUInt8(3), flags: bytes.readUInt8(4), streamId: uint31(bytes, 5) }
  }

  /** The next `count` bytes; `undefined` until there are that many. */
  #take(count: number): Buffer | undefined {
    if (this.#bytes < count) return undefined
    let [first = Buffer.alloc(0)] = this.#chunks
    if (first.length < count) {
      first = Buffer.concat(this.#chunks)
      this.#chunks = [first]
    }
    this.#bytes -= count
    if (first.length === count) this.#chunks.shift()
    else this.#chunks[0] = first.subarray(count)
    return first.subarray(0, count)
  }
}
