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
  /** The message. Rejects with a GrpcError unless there is exactly one, uncompressed, complete and not too long. */
  readonly message: Promise<Buffer>
  readonly #bytesMax: number
  #chunks: Buffer[] = []
  #bytes = 0
  #resolve: (message: Buffer) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined

  /** `bytesMax` is the maximum length of the message. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.message = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A method that does not read it ignores a rejection.
    this.message.catch(() => undefined)
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes - PREFIX_BYTES <= this.#bytesMax) {
      this.#chunks.push(chunk)
      return
    }
    this.#chunks = []
    this.#reject(new GrpcError(STATUS.resourceExhausted, `the message has more than ${this.#bytesMax} bytes`))
  }

  /** There are no more chunks. */
  end(): void {
    try {
      this.#resolve(this.#take())
    } catch (error) {
      this.#reject(error)
    }
  }

  #take(): Buffer {
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
