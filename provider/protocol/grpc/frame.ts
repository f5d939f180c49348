/** Messages on a stream of gRPC: a byte that says whether it is compressed, four bytes of length, the message. */
import { GrpcError, STATUS } from './status.ts'

const PREFIX_BYTES = 5

/** `message` with its prefix, uncompressed. Pure. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, PREFIX_BYTES)
  return frame
}

/** Assembles the message of a call from chunks. */
export class IncomingMessage {
  readonly #bytesMax: number
  readonly #chunks: Buffer[] = []
  #bytes = 0

  /** `bytesMax` is the maximum length of the message. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Adds a chunk. Throws a GrpcError when the message is too long. */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes - PREFIX_BYTES <= this.#bytesMax) return
    throw new GrpcError(STATUS.resourceExhausted, `the message has more than ${this.#bytesMax} bytes`)
  }

  /** The message. Throws a GrpcError unless there is exactly one, uncompressed and complete. */
  take(): Buffer {
    const frame = Buffer.concat(this.#chunks)
    if (frame.length < PREFIX_BYTES) throw new GrpcError(STATUS.internal, 'the call has no message')
    if (frame[0] !== 0) throw new GrpcError(STATUS.unimplemented, 'compressed messages are not supported')
    const length = frame.readUInt32BE(1)
    if (frame.length !== PREFIX_BYTES + length) {
      throw new GrpcError(
        STATUS.internal,
        `the call has ${frame.length - PREFIX_BYTES} bytes of a message of ${length}`,
      )
    }
    return frame.subarray(PREFIX_BYTES)
  }
}
