/** Writes frames to a connection, as fast as the peer takes them. */
import type { Duplex } from 'node:stream'
import { ConnectionError, ERROR } from './errors.ts'
import { DEFAULT_WINDOW_BYTES, SendWindow } from './windows.ts'

/** Bytes that are handed to the connection at a time, so that data is not copied far ahead of the peer. */
const BATCH_BYTES_MAX = 256 * 1024
/** Frames that a peer may cause without reading one. A chunk of what it sends causes fewer. */
const REPLIES_MAX = 10_000

/** Frames with data, which windows limit. */
export interface DataFrames {
  readonly frames: readonly Buffer[]
  readonly dataBytes: number
}

/** What sends data. */
interface Sender {
  /**
   * One frame of at most `bytesMax` bytes of data, and what follows the last one. `undefined` when there is none, or its own window is used
   * up.
   */
  nextFrames(bytesMax: number): DataFrames | undefined
}

/**
 * The sending side of a connection. Frames are collected until the running code ends, and written together: first those that are
 * complete, then DATA of each sender in turn.
 */
export class FrameWriter {
  readonly #connection: Duplex
  readonly #window = new SendWindow(DEFAULT_WINDOW_BYTES)
  readonly #senders = new Set<Sender>()
  #frames: Buffer[] = []
  #replies = 0
  #isScheduled = false
  /** Whether the connection has more than it can send. */
  #isBlocked = false
  #isEnding = false

  constructor(connection: Duplex) {
    this.#connection = connection
    connection.on('drain', () => {
      this.#isBlocked = false
      this.#flush()
    })
  }

  /** Sends `frames` as they are. */
  send(frames: Buffer): void {
    this.#frames.push(frames)
    this.#schedule()
  }

  /** Sends a frame that the peer caused. Throws a ConnectionError when it causes frames and does not read them. */
  reply(frame: Buffer): void {
    if (this.#replies === REPLIES_MAX) {
      throw new ConnectionError(ERROR.enhanceYourCalm, `${REPLIES_MAX} frames wait to be read`)
    }
    this.#replies += 1
    this.send(frame)
  }

  /** Asks `sender` for frames as long as it has some. */
  wake(sender: Sender): void {
    this.#senders.add(sender)
    this.#schedule()
  }

  /** Adds `bytes` to the window of the connection. Returns whether it is one that the protocol permits. */
  enlarge(bytes: number): boolean {
    this.#schedule()
    return this.#window.add(bytes)
  }

  /** Ends the connection when all frames are written. */
  end(): void {
    this.#isEnding = true
    this.#schedule()
  }

  /** Ends the connection with `lastFrame`, which a peer that does not read is not sent. */
  abandon(lastFrame: Buffer): void {
    this.#senders.clear()
    if (this.#isBlocked) {
      this.#connection.destroy()
      return
    }
    this.send(lastFrame)
    this.end()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isBlocked) return
    this.#isScheduled = true
    process.nextTick(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    while (!this.#isBlocked && this.#connection.writable) {
      this.#collectData()
      if (this.#frames.length === 0) {
        // Without waiting for the peer to close its side.
        if (this.#isEnding) this.#connection.end(() => this.#connection.destroy())
        return
      }
      const bytes = Buffer.concat(this.#frames)
      this.#frames = []
      this.#replies = 0
      this.#isBlocked = !this.#connection.write(bytes)
    }
  }

  /** Takes frames of the senders in turn, until the window is used up or the batch is full. */
  #collectData(): void {
    let batchBytes = 0
    while (this.#window.available > 0 && batchBytes < BATCH_BYTES_MAX) {
      const [sender] = this.#senders
      if (sender === undefined) return
      this.#senders.delete(sender)
      const next = sender.nextFrames(this.#window.available)
      if (next === undefined) continue
      this.#senders.add(sender)
      this.#frames.push(...next.frames)
      this.#window.take(next.dataBytes)
      batchBytes += next.dataBytes
    }
  }
}
