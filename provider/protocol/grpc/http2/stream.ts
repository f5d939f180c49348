/** One stream: a request, and its response (RFC 9113, 5.1 and 8.1). */
import { ERROR, StreamError } from './errors.ts'
import { frameHeader, numbersFrame, PAYLOAD_BYTES_MAX, TYPE } from './frames.ts'
import type { DataFrames, FrameWriter } from './frameWriter.ts'
import { type HeaderList, headerFrames } from './headerEncoder.ts'
import { ReceiveWindow, SendWindow } from './windows.ts'

/** Bytes of a response that are kept until the caller takes them, before its author should wait. */
const QUEUE_BYTES_MAX = PAYLOAD_BYTES_MAX

/** What the owner of a stream hears of it. */
export interface StreamListener {
  /** A part of the request's body. */
  data(chunk: Buffer): void
  /** The request is complete. */
  end(): void
  /** Nothing is received or sent any more. */
  close(): void
}

interface StreamParts {
  readonly id: number
  readonly writer: FrameWriter
  /** The first window of its response (bytes). */
  readonly windowBytes: number
  /** Called when the stream is closed: by its response, or by an error or its caller. */
  onClose(isComplete: boolean): void
}

export class Http2Stream {
  readonly #parts: StreamParts
  readonly #window: SendWindow
  readonly #received = new ReceiveWindow()
  #listener: StreamListener | undefined
  #isRequestOver = false
  #hasHeaders = false
  #isClosed = false
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  #trailers: HeaderList | undefined
  #onDrained: (() => void) | undefined

  constructor(parts: StreamParts) {
    this.#parts = parts
    this.#window = new SendWindow(parts.windowBytes)
  }

  /** Whether a response has begun. */
  get hasHeaders(): boolean {
    return this.#hasHeaders
  }

  /** Sets who hears of it. Everything before is lost. */
  listen(listener: StreamListener): void {
    this.#listener = listener
  }

  /** Begins the response. Nothing of a closed stream is sent, here and below. */
  respond(headers: HeaderList): void {
    if (this.#isClosed) return
    this.#hasHeaders = true
    this.#parts.writer.send(headerFrames(this.#parts.id, headers, false))
  }

  /** Sends a part of the response's body, which is not empty. */
  write(bytes: Buffer): void {
    if (this.#isClosed) return
    this.#queue.push(bytes)
    this.#queuedBytes += bytes.length
    this.#parts.writer.wake(this)
  }

  /** Resolves when more may be queued: the caller has taken most of the response, or is gone. */
  async drained(): Promise<void> {
    if (this.#isClosed || this.#queuedBytes < QUEUE_BYTES_MAX) return
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve
    })
  }

  /** Ends the response with `headers`: its only ones, or its trailers. */
  end(headers: HeaderList): void {
    if (this.#isClosed) return
    this.#trailers = headers
    if (this.#queue.length > 0) return
    this.#parts.writer.send(this.#lastFrames(headers))
  }

  /** Takes data of the request; `frameBytes` includes its padding. Throws a StreamError for data that may not be sent. */
  receive(data: Buffer, frameBytes: number): void {
    this.#checkRequest()
    const given = this.#received.take(frameBytes)
    if (given > 0) this.#parts.writer.reply(numbersFrame(TYPE.windowUpdate, this.#parts.id, given))
    if (data.length > 0) this.#listener?.data(data)
  }

  /** The request is complete. Throws a StreamError when it was before. */
  endRequest(): void {
    this.#checkRequest()
    this.#isRequestOver = true
    this.#listener?.end()
  }

  /** Changes the window of the response by `bytes`. Returns whether it is one that the protocol permits. */
  enlarge(bytes: number): boolean {
    if (this.#queue.length > 0) this.#parts.writer.wake(this)
    return this.#window.add(bytes)
  }

  /** Closes the stream before its response is complete. */
  abort(): void {
    this.#close(false)
  }

  nextFrames(bytesMax: number): DataFrames | undefined {
    const [first] = this.#queue
    if (first === undefined) return undefined
    const dataBytes = Math.min(first.length, PAYLOAD_BYTES_MAX, bytesMax, this.#window.available)
    if (dataBytes === 0) return undefined
    this.#window.take(dataBytes)
    if (dataBytes === first.length) this.#queue.shift()
    else this.#queue[0] = first.subarray(dataBytes)
    this.#queuedBytes -= dataBytes
    if (this.#queuedBytes < QUEUE_BYTES_MAX) this.#onDrained?.()
    const frames = [frameHeader(dataBytes, TYPE.data, 0, this.#parts.id), first.subarray(0, dataBytes)]
    if (this.#queue.length === 0 && this.#trailers !== undefined)
      frames.push(this.#lastFrames(this.#trailers))
    return { frames, dataBytes }
  }

  /** The end of the response, which closes the stream: RST_STREAM stops a request that goes on (RFC 9113, 8.1). */
  #lastFrames(headers: HeaderList): Buffer {
    const last = headerFrames(this.#parts.id, headers, true)
    const stop = this.#isRequestOver ? [] : [numbersFrame(TYPE.rstStream, this.#parts.id, ERROR.none)]
    this.#close(true)
    return Buffer.concat([last, ...stop])
  }

  #close(isComplete: boolean): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue.length = 0
    this.#onDrained?.()
    this.#parts.onClose(isComplete)
    this.#listener?.close()
  }

  #checkRequest(): void {
    if (!this.#isRequestOver) return
    throw new StreamError(this.#parts.id, ERROR.streamClosed, 'the request was complete')
  }
}
