/** The streams of a connection: which are open, which ids are used, and how many there may be. */
import { ConnectionError, ERROR, StreamError } from './errors.ts'
import type { FrameWriter } from './frameWriter.ts'
import { STREAMS_MAX } from './settings.ts'
import { Http2Stream } from './stream.ts'
import { DEFAULT_WINDOW_BYTES } from './windows.ts'

/**
 * Streams that a peer may give up beyond those that it lets end. Each costs the start of a call, so that a peer could ask for unlimited work
 * with few streams open.
 */
const GIVEN_UP_MAX = 1_000

export class Streams {
  readonly #writer: FrameWriter
  readonly #onNoneLeft: () => void
  readonly #open = new Map<number, Http2Stream>()
  #windowBytes = DEFAULT_WINDOW_BYTES
  /** The highest id that the peer used. */
  #highestId = 0
  /** The highest id of a stream that was opened. */
  #lastId = 0
  #isEnding = false
  #givenUp = 0

  /** `onNoneLeft` is called after `end`, when no stream is open. */
  constructor(writer: FrameWriter, onNoneLeft: () => void) {
    this.#writer = writer
    this.#onNoneLeft = onNoneLeft
  }

  /** The id that GOAWAY names: later streams get no response. */
  get lastId(): number {
    return this.#lastId
  }

  /**
   * The stream `id`; `undefined` for one that is closed. Throws a ConnectionError for one that was never opened: `id` may be 0, or one
   * that only a server uses.
   */
  get(id: number): Http2Stream | undefined {
    if (id % 2 === 0 || id > this.#highestId) {
      throw new ConnectionError(ERROR.protocol, `stream ${id} is not open`)
    }
    return this.#open.get(id)
  }

  /** Whether the peer used `id`, or a higher one. Throws a ConnectionError when it may not use it. */
  isUsed(id: number): boolean {
    if (id % 2 === 0) throw new ConnectionError(ERROR.protocol, `a request cannot have the stream ${id}`)
    return id <= this.#highestId
  }

  /** Opens the unused `id`; `undefined` after `end`. Throws a StreamError when too many are open. */
  open(id: number): Http2Stream | undefined {
    this.#highestId = id
    if (this.#isEnding) return undefined
    this.#lastId = id
    if (this.#open.size >= STREAMS_MAX) {
      throw new StreamError(id, ERROR.refusedStream, `${STREAMS_MAX} streams are open`)
    }
    const stream = new Http2Stream({
      id,
      writer: this.#writer,
      windowBytes: this.#windowBytes,
      onClose: (isComplete) => {
        this.#open.delete(id)
        this.#givenUp = isComplete ? Math.max(0, this.#givenUp - 1) : this.#givenUp + 1
        this.#callWhenNoneLeft()
      },
    })
    this.#open.set(id, stream)
    return stream
  }

  /** Closes `id`, if it is open, for its peer or for an error of it. Throws a ConnectionError for a peer that does this often. */
  giveUp(id: number): void {
    this.#open.get(id)?.abort()
    if (this.#givenUp > GIVEN_UP_MAX) {
      throw new ConnectionError(ERROR.enhanceYourCalm, 'too many streams were given up')
    }
  }

  /** Changes the window of all responses. Throws a ConnectionError when that of an open one gets too large. */
  setInitialWindow(bytes: number): void {
    const change = bytes - this.#windowBytes
    this.#windowBytes = bytes
    for (const stream of this.#open.values()) {
      if (!stream.enlarge(change)) throw new ConnectionError(ERROR.flowControl, 'a window is too large')
    }
  }

  /** Opens no more streams. */
  end(): void {
    this.#isEnding = true
    this.#callWhenNoneLeft()
  }

  /** Closes all streams. */
  abort(): void {
    for (const stream of this.#open.values()) stream.abort()
  }

  #callWhenNoneLeft(): void {
    if (this.#isEnding && this.#open.size === 0) this.#onNoneLeft()
  }
}
