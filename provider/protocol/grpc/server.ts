/**
 * A gRPC server on HTTP/2 with the features that the caller of a plugin uses: each call has one message, and its answer has any
 * number of messages and a status. Deadlines and compression are not supported.
 */
import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { framed, IncomingMessage } from './frame.ts'
import { GrpcError, STATUS, statusTrailers } from './status.ts'

/** The limit of other providers' servers. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024
/** Flow control windows of a stream and a connection. HTTP/2's default of 64 KiB makes large states slow. */
const WINDOW_BYTES = 1024 * 1024

const CONTENT_TYPE = 'application/grpc'
const ANSWER_HEADERS = { ':status': 200, 'content-type': CONTENT_TYPE }

export interface Method {
  /**
   * The messages of the answer to `request`. A thrown GrpcError becomes the status of the call, any other error INTERNAL. `signal`
   * aborts at the end of the call, including a cancellation by its caller.
   */
  answer(request: Uint8Array, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Whether the caller may keep its stream open, which is not read: `request` is empty, and the answer begins at once. */
  readonly isRequestStream?: boolean
}

export interface GrpcServer {
  /** Serves the unread `connection`. */
  serve(connection: Duplex): void
  /** Accepts no more calls, and closes each connection after its last answer. */
  end(): void
  /** Drops every connection. */
  close(): void
}

/** Returns the method of a path; `undefined` for none. */
type FindMethod = (path: string) => Promise<Method | undefined>

/**
 * A server of the methods that `find` returns; other calls are answered UNIMPLEMENTED, and those whose message is longer than
 * `messageBytesMax` RESOURCE_EXHAUSTED.
 */
export function createGrpcServer(find: FindMethod, messageBytesMax = MESSAGE_BYTES_MAX): GrpcServer {
  const sessions = new Set<ServerHttp2Session>()
  return {
    serve: (connection) => {
      const session = performServerHandshake(connection, {
        settings: { initialWindowSize: WINDOW_BYTES },
        // The limit applies to all messages that wait to be sent (MB); beyond it Node refuses calls.
        maxSessionMemory: Number.MAX_SAFE_INTEGER,
      })
      sessions.add(session)
      session.setLocalWindowSize(WINDOW_BYTES)
      session.on('stream', (stream, headers) => {
        void serveCall({ stream, headers, incoming: new IncomingMessage(messageBytesMax) }, find)
      })
      session.on('close', () => void sessions.delete(session))
      // A caller that disconnects closes the session; nothing else is necessary.
      session.on('error', () => undefined)
    },
    end: () => {
      for (const session of sessions) session.close()
    },
    close: () => {
      for (const session of sessions) session.destroy()
    },
  }
}

interface Exchange {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly incoming: IncomingMessage
}

async function serveCall({ stream, headers, incoming }: Exchange, find: FindMethod): Promise<void> {
  const gone = new AbortController()
  stream.on('close', () => gone.abort())
  stream.on('error', () => undefined)
  if (headers[':method'] !== 'POST' || !headers['content-type']?.startsWith(CONTENT_TYPE)) {
    return stream.respond({ ':status': 415 }, { endStream: true })
  }
  const message = receive(stream, incoming)
  // The rejection is handled after the method is found.
  message.catch(() => undefined)
  try {
    const path = headers[':path'] ?? ''
    const method = await find(path)
    if (method === undefined) throw new GrpcError(STATUS.unimplemented, `there is no method ${path}`)
    const request = method.isRequestStream ? new Uint8Array(0) : await message
    for await (const part of method.answer(request, gone.signal)) {
      if (stream.writableNeedDrain) await roomIn(stream)
      send(stream, part)
    }
    finish(stream, STATUS.ok)
  } catch (error) {
    const code = error instanceof GrpcError ? error.code : STATUS.internal
    finish(stream, code, error instanceof Error ? error.message : String(error))
  }
}

/** The complete message of a call. Rejects with a GrpcError for an invalid one. */
function receive(stream: ServerHttp2Stream, incoming: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const add = (chunk: Buffer): void => {
      try {
        incoming.add(chunk)
      } catch (error) {
        stream.off('data', add).resume()
        reject(error)
      }
    }
    const take = (): void => {
      try {
        resolve(incoming.take())
      } catch (error) {
        reject(error)
      }
    }
    stream.on('data', add).on('end', take)
  })
}

/** Resolves when the caller has read the buffered data or disconnected, so that a long answer is never buffered completely. */
function roomIn(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) return resolve()
    const done = (): void => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}

function send(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (stream.destroyed) return
  if (!stream.headersSent) stream.respond(ANSWER_HEADERS, { waitForTrailers: true })
  stream.write(framed(message))
}

/** Ends the answer of a call with a status. */
function finish(stream: ServerHttp2Stream, code: number, reason?: string): void {
  if (stream.destroyed) return
  const trailers = statusTrailers(code, reason)
  if (stream.headersSent) {
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end()
  } else {
    stream.respond({ ...ANSWER_HEADERS, ...trailers }, { endStream: true })
  }
}
