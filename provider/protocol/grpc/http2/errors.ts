/** Errors of HTTP/2 (RFC 9113, 5.4 and 7): those that end a connection, and those that end one stream. */

/** The codes that this server sends. */
export const ERROR = {
  none: 0x0,
  protocol: 0x1,
  internal: 0x2,
  flowControl: 0x3,
  streamClosed: 0x5,
  frameSize: 0x6,
  refusedStream: 0x7,
  compression: 0x9,
  enhanceYourCalm: 0xb,
} as const

/** The connection cannot go on: the peer gets GOAWAY with `code`, one of ERROR, and the message. */
export class ConnectionError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** One stream cannot go on: the peer gets RST_STREAM with `code`, one of ERROR. */
export class StreamError extends Error {
  readonly streamId: number
  readonly code: number

  constructor(streamId: number, code: number, message: string) {
    super(message)
    this.streamId = streamId
    this.code = code
  }
}
