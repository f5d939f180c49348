const NOTHING = Buffer.alloc(0)

/**
 * Bytes that arrive in parts, in one piece of memory: a server may send each byte alone, and as a buffer of its own it would
 * take two hundred times its size.
 */
export class JoinedBytes {
  readonly #bytesMax: number
  #memory: Buffer = NOTHING
  #length = 0

  /** Takes at most about `bytesMax`: no more is reserved ahead. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get length(): number {
    return this.#length
  }

  /** Takes a part, which is not changed afterwards. */
  push(part: Buffer): void {
    const start = this.#length
    this.#length += part.length
    // Most responses come in one part, which needs no copy.
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
