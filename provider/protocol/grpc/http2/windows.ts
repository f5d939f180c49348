/** Flow control (RFC 9113, 5.2 and 6.9): how many bytes of DATA may be on their way. */

/** The window of streams and connections until a peer changes it (RFC 9113, 6.9.2). */
export const DEFAULT_WINDOW_BYTES = 65_535
/** The largest window that the protocol permits. */
export const WINDOW_BYTES_MAX = 0x7fffffff
/** Windows of this server for what it receives, of each stream and of a connection. The default makes large states slow. */
export const RECEIVE_WINDOW_BYTES = 1024 * 1024

/**
 * What the peer may send. Received data counts as consumed at once, because messages are limited: no peer can send more than it may,
 * as half of the window is left when it is given back.
 */
export class ReceiveWindow {
  #used = 0

  /** Takes `count` received bytes, of one frame. Returns the bytes to give back to the peer: 0 until half of the window is used. */
  take(count: number): number {
    this.#used += count
    if (this.#used < RECEIVE_WINDOW_BYTES / 2) return 0
    const given = this.#used
    this.#used = 0
    return given
  }
}

/** What may still be sent to the peer. Negative after the peer reduced its initial window. */
export class SendWindow {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Bytes that may be sent now. */
  get available(): number {
    return Math.max(0, this.#left)
  }

  /** Subtracts `count` sent bytes. */
  take(count: number): void {
    this.#left -= count
  }

  /** Adds `count` bytes, which may be negative. Returns whether the window is one that the protocol permits. */
  add(count: number): boolean {
    this.#left += count
    return this.#left <= WINDOW_BYTES_MAX
  }
}
