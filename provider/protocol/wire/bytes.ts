/**
 * The protobuf encodings that the messages of this protocol use: varints, and length-delimited values.
 *
 * A library would take 3 ms of each process's start, and Terraform starts a provider several times per command.
 */

/** A varint has seven bits in each byte, so 64 bits take up to ten bytes. */
const VARINT_BYTES_MAX = 10
/** Number of bits of a varint that JavaScript numbers add up exactly. */
const EXACT_BITS = 49

/** Wire types. */
export const WIRE_TYPE = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const

/** Reads a message from its bytes. Every function throws a RangeError for a truncated or invalid message. */
export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  /** The bytes are not copied. */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** Reads a signed 64-bit integer; beyond 2^53 the result is the nearest number. */
  varint(): number {
    const start = this.#at
    let value = 0
    for (let bits = 0; bits < EXACT_BITS; bits += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** bits
      if (byte < 0x80) return value
    }
    this.#at = start
    return this.#longVarint()
  }

  /** Reads a length-delimited value, which shares the memory of the message. */
  bytes(): Buffer {
    const length = this.varint()
    const end = this.#at + length
    if (length < 0 || end > this.#bytes.length) throw cutOff()
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return bytes
  }

  text(): string {
    return this.bytes().toString()
  }

  /** Skips the value of a field of `wireType`. */
  skip(wireType: number): void {
    switch (wireType) {
      case WIRE_TYPE.varint:
        this.varint()
        return
      case WIRE_TYPE.lengthDelimited:
        this.bytes()
        return
      case WIRE_TYPE.fixed64:
        this.#skipBytes(8)
        return
      case WIRE_TYPE.fixed32:
        this.#skipBytes(4)
        return
      default:
        throw new RangeError(`wire type ${wireType} is not supported`)
    }
  }

  #longVarint(): number {
    let value = 0n
    for (let count = 0; count < VARINT_BYTES_MAX; count += 1) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << BigInt(7 * count)
      if (byte < 0x80) return Number(BigInt.asIntN(64, value))
    }
    throw new RangeError('a number in the message has more than 64 bits')
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw cutOff()
    this.#at += 1
    return byte
  }

  #skipBytes(count: number): void {
    this.#at += count
    if (this.#at > this.#bytes.length) throw cutOff()
  }
}

function cutOff(): RangeError {
  return new RangeError('the message is cut off')
}

/** Assembles a message. Written bytes must not change before `finish`, because they are not copied. */
export class WireWriter {
  readonly #parts: Uint8Array[] = []
  #length = 0

  /** Writes an integer; a negative one takes 64 bits. */
  varint(value: number): void {
    const bytes: number[] = []
    if (value < 0) {
      for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
        bytes.push(rest < 0x80n ? Number(rest) : Number(rest & 0x7fn) | 0x80)
        if (rest < 0x80n) break
      }
    } else {
      for (let rest = value; ; rest = Math.floor(rest / 0x80)) {
        bytes.push(rest < 0x80 ? rest : (rest % 0x80) | 0x80)
        if (rest < 0x80) break
      }
    }
    this.#add(Uint8Array.from(bytes))
  }

  /** Writes the number of a field and its wire type. */
  tag(id: number, wireType: number): void {
    this.varint(id * 8 + wireType)
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length)
    this.#add(value)
  }

  text(value: string): void {
    this.bytes(Buffer.from(value))
  }

  /** Writes the message that `write` creates, after its length. */
  message(write: (inner: WireWriter) => void): void {
    const inner = new WireWriter()
    write(inner)
    this.varint(inner.#length)
    for (const part of inner.#parts) this.#add(part)
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts, this.#length)
  }

  #add(part: Uint8Array): void {
    this.#parts.push(part)
    this.#length += part.length
  }
}
