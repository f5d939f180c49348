/** The server's side of a connection of HTTP/2 (RFC 9113) for requests that are calls: no pushes, no priorities, no upgrades. */
import type { Duplex } from 'node:stream'
import { ConnectionError, ERROR, StreamError } from './errors.ts'
import { FrameReader } from './frameReader.ts'
import { FLAG, type Frame, frame, numbersFrame, TYPE, uint31, withoutPadding } from './frames.ts'
import { FrameWriter } from './frameWriter.ts'
import { HeaderBlocks } from './headerBlocks.ts'
import { HeaderDecoder } from './headerDecoder.ts'
import { type Request, requestOf } from './request.ts'
import { initialWindowOf, ownSettings } from './settings.ts'
import type { Http2Stream, StreamListener } from './stream.ts'
import { Streams } from './streams.ts'
import { DEFAULT_WINDOW_BYTES, RECEIVE_WINDOW_BYTES, ReceiveWindow } from './windows.ts'

/** Responds to `request` on `stream`. Returns the listener for the stream's body and end. */
export type OnRequest = (stream: Http2Stream, request: Request) => StreamListener

export class Http2Connection {
  readonly #connection: Duplex
  readonly #onRequest: OnRequest
  readonly #reader = new FrameReader()
  readonly #writer: FrameWriter
  readonly #blocks = new HeaderBlocks()
  readonly #decoder = new HeaderDecoder()
  readonly #streams: Streams
  readonly #received = new ReceiveWindow()
  #hasSettings = false
  /** Whether nothing is read any more. */
  #isOver = false

  /** Serves the unread `connection`. Whatever it receives, nothing is thrown. */
  constructor(connection: Duplex, onRequest: OnRequest) {
    this.#connection = connection
    this.#onRequest = onRequest
    this.#writer = new FrameWriter(connection)
    this.#streams = new Streams(this.#writer, () => this.#writer.end())
    this.#writer.send(ownSettings())
    this.#writer.send(numbersFrame(TYPE.windowUpdate, 0, RECEIVE_WINDOW_BYTES - DEFAULT_WINDOW_BYTES))
    connection.on('data', (chunk: Buffer) => this.#read(chunk))
    connection.on('close', () => {
      this.#isOver = true
      this.#streams.abort()
    })
    // A caller that disconnects closes the connection; nothing else is necessary.
    connection.on('error', () => undefined)
  }

  /** Accepts no more requests, and closes the connection after the last response. */
  end(): void {
    if (this.#isOver) return
    this.#writer.send(goAway(this.#streams.lastId, ERROR.none, ''))
    this.#streams.end()
  }

  /** Drops the connection. */
  destroy(): void {
    this.#connection.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return
    try {
      this.#reader.add(chunk)
      for (let next = this.#reader.next(); next !== undefined; next = this.#reader.next()) this.#receive(next)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Tells the peer why the connection ends. Anything but a ConnectionError is a bug here, which ends this connection only. */
  #fail(error: unknown): void {
    this.#isOver = true
    const code = error instanceof ConnectionError ? error.code : ERROR.internal
    this.#writer.abandon(goAway(this.#streams.lastId, code, error instanceof Error ? error.message : ''))
    this.#streams.abort()
  }

  #receive(next: Frame): void {
    try {
      this.#blocks.checkOrder(next)
      if (!this.#hasSettings && next.type !== TYPE.settings) throw protocolError('SETTINGS have to be first')
      this.#dispatch(next)
    } catch (error) {
      if (!(error instanceof StreamError)) throw error
      this.#writer.reply(numbersFrame(TYPE.rstStream, error.streamId, error.code))
      this.#streams.giveUp(error.streamId)
    }
  }

  /** Frames of other types have no meaning (RFC 9113, 5.5). */
  #dispatch(next: Frame): void {
    switch (next.type) {
      case TYPE.data:
        this.#receiveData(next)
        break
      case TYPE.headers:
      case TYPE.continuation:
        this.#receiveHeaders(next)
        break
      case TYPE.priority:
        checkFrame(next, { bytes: 5, isOfConnection: false })
        break
      case TYPE.rstStream:
        this.#receiveReset(next)
        break
      case TYPE.settings:
        this.#receiveSettings(next)
        break
      case TYPE.pushPromise:
        throw protocolError('a client pushes nothing')
      case TYPE.ping:
        this.#receivePing(next)
        break
      case TYPE.goAway:
        // The peer opens no more streams, and closes the connection when it has its responses.
        checkFrame(next, { isOfConnection: true })
        break
      case TYPE.windowUpdate:
        this.#receiveWindowUpdate(next)
        break
    }
  }

  /** Data of a closed stream counts for the connection, and is dropped. */
  #receiveData(next: Frame): void {
    const stream = this.#streams.get(next.streamId)
    const { length } = next.payload
    const given = this.#received.take(length)
    if (given > 0) this.#writer.reply(numbersFrame(TYPE.windowUpdate, 0, given))
    stream?.receive(withoutPadding(next), length)
    if (next.flags & FLAG.endStream) stream?.endRequest()
  }

  #receiveHeaders(next: Frame): void {
    const complete = this.#blocks.add(next)
    if (complete === undefined) return
    const { streamId, isEnd } = complete
    // Decoded for a closed stream too: later blocks may refer to its headers.
    const headers = this.#decoder.decode(complete.block)
    if (this.#streams.isUsed(streamId)) {
      this.#receiveTrailers(streamId, isEnd)
      return
    }
    const stream = this.#streams.open(streamId)
    if (stream === undefined) return
    const request = requestOf(headers)
    if (request === undefined) throw new StreamError(streamId, ERROR.protocol, 'the request is malformed')
    stream.listen(this.#onRequest(stream, request))
    if (isEnd) stream.endRequest()
  }

  #receiveTrailers(streamId: number, isEnd: boolean): void {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    if (!isEnd) throw new StreamError(streamId, ERROR.protocol, 'trailers end a request')
    stream.endRequest()
  }

  #receiveReset(next: Frame): void {
    this.#streams.get(next.streamId)
    checkFrame(next, { bytes: 4, isOfConnection: false })
    this.#streams.giveUp(next.streamId)
  }

  #receiveSettings(next: Frame): void {
    const isAck = (next.flags & FLAG.ack) !== 0
    checkFrame(next, { ...(isAck ? { bytes: 0 } : {}), isOfConnection: true })
    if (isAck) {
      if (!this.#hasSettings) throw protocolError('SETTINGS have to be first')
      return
    }
    this.#hasSettings = true
    const windowBytes = initialWindowOf(next.payload)
    if (windowBytes !== undefined) this.#streams.setInitialWindow(windowBytes)
    this.#writer.reply(frame(TYPE.settings, FLAG.ack, 0, next.payload.subarray(0, 0)))
  }

  #receivePing(next: Frame): void {
    checkFrame(next, { bytes: 8, isOfConnection: true })
    if ((next.flags & FLAG.ack) === 0) this.#writer.reply(frame(TYPE.ping, FLAG.ack, 0, next.payload))
  }

  #receiveWindowUpdate(next: Frame): void {
    const { streamId, payload } = next
    checkFrame(next, { bytes: 4, isOfConnection: streamId === 0 })
    const bytes = uint31(payload, 0)
    const stream = streamId === 0 ? this.#writer : this.#streams.get(streamId)
    const code =
      bytes === 0 ? ERROR.protocol : stream?.enlarge(bytes) === false ? ERROR.flowControl : ERROR.none
    if (code === ERROR.none) return
    const message = `a window cannot grow by ${bytes}`
    throw streamId === 0 ? new ConnectionError(code, message) : new StreamError(streamId, code, message)
  }
}

/** Throws a ConnectionError unless `next` is of the connection, or of a stream, and has `bytes` of payload. */
function checkFrame(
  { type, streamId, payload }: Frame,
  expected: { readonly bytes?: number; readonly isOfConnection: boolean },
): void {
  if ((streamId === 0) !== expected.isOfConnection) {
    throw protocolError(`a frame of type ${type} has the stream ${streamId}`)
  }
  const bytes = expected.bytes ?? payload.length
  if (payload.length !== bytes) {
    throw new ConnectionError(ERROR.frameSize, `a frame of type ${type} has ${payload.length} bytes`)
  }
}

function goAway(lastId: number, code: number, message: string): Buffer {
  const payload = Buffer.alloc(8)
  payload.writeUInt32BE(lastId, 0)
  payload.writeUInt32BE(code, 4)
  return frame(TYPE.goAway, 0, 0, Buffer.concat([payload, Buffer.from(message)]))
}

function protocolError(message: string): ConnectionError {
  return new ConnectionError(ERROR.protocol, message)
}
