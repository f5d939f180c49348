const NOTHING = Buffer.alloc(0)

/**
 * Collects parts of a byte stream in one buffer. A server may send each byte separately, and a buffer for each would
 * take two hundred times its size.
 */
export class JoinedBytes {
  readonly #bytesMax: number
  #memory: Buffer = NOTHING
  #length = 0

  /** For about `bytesMax` at most; no more is reserved in advance. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get length(): number {
    return this.#length
  }

  /** Appends a part, which must not change afterwards. */
  push(part: Buffer): void {
    const start = this.#length
    this.#length += part.length
    // Most responses arrive in one part, which needs no copy.
    if (start === 0) this.#memory = part
    else {
      if (this.#length > this.#memory.length) this.#grow(start)
      part.copy(this.#memory, start)
    }
  }

  /** All bytes so far. */
  all(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  #grow(filled: number): void {
    const ahead = Math.min(2 * this.#memory.length, this.#bytesMax)
    const memory = Buffer.allocUnsafeSlow(Math.max(this.#length, ahead))
    this.#memory.copy(memory, 0, 0, filled)
    this.#memory = memory
  }
}
