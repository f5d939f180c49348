/**
 * A gRPC server on HTTP/2 with the features that the caller of a plugin uses: each call has one message, and its
 * response has any number of messages and a status. Deadlines and compression are not supported.
 */
import type { Duplex } from 'node:stream'
import { framed, IncomingMessage } from './frame.ts'
import { Http2Connection } from './http2/connection.ts'
import type { Request } from './http2/request.ts'
import type { Http2Stream, StreamListener } from './http2/stream.ts'
import { GrpcError, STATUS, statusTrailers } from './status.ts'

/** The limit of other providers' servers. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024

const CONTENT_TYPE = 'application/grpc'
const RESPONSE_HEADERS = { ':status': '200', 'content-type': CONTENT_TYPE }

export interface Method {
  /**
   * The messages of the response to `request`. A thrown GrpcError becomes the status of the call, any other error
   * INTERNAL. `signal` aborts at the end of the call, including a cancellation by its caller.
   */
  respond(request: Uint8Array, signal: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Whether the caller may keep its stream open, which is not read: `request` is empty, and the response begins at
   * once.
   */
  readonly isRequestStream?: boolean
}

export interface GrpcServer {
  /** Serves the unread `connection`. */
  serve(connection: Duplex): void
  /** Accepts no more calls, and closes each connection after its last response. */
  end(): void
  /** Drops every connection. */
  close(): void
}

/** Returns the method of a path; `undefined` for none. */
type FindMethod = (path: string) => Promise<Method | undefined>

/**
 * A server of the methods that `find` returns; other calls get UNIMPLEMENTED, and those whose message is longer than
 * `messageBytesMax` RESOURCE_EXHAUSTED.
 */
export function createGrpcServer(find: FindMethod, messageBytesMax = MESSAGE_BYTES_MAX): GrpcServer {
  const connections = new Set<Http2Connection>()
  return {
    serve: (connection) => {
      const served = new Http2Connection(connection, (stream, request) =>
        openCall(stream, request, { find, incoming: new IncomingMessage(messageBytesMax) }),
      )
      connections.add(served)
      connection.on('close', () => void connections.delete(served))
    },
    end: () => {
      for (const served of connections) served.end()
    },
    close: () => {
      for (const served of connections) served.destroy()
    },
  }
}

interface CallParts {
  readonly find: FindMethod
  readonly incoming: IncomingMessage
}

/** Responds to a call, or refuses another request. Returns the listener for its stream. */
function openCall(stream: Http2Stream, request: Request, { find, incoming }: CallParts): StreamListener {
  const gone = new AbortController()
  if (request.method === 'POST' && request.contentType.startsWith(CONTENT_TYPE)) {
    void respondToCall(stream, { path: request.path, find, incoming, signal: gone.signal })
  } else {
    stream.end({ ':status': '415' })
  }
  return {
    data: (chunk) => incoming.add(chunk),
    end: () => incoming.end(),
    close: () => gone.abort(),
  }
}

interface OpenCall extends CallParts {
  readonly path: string
  readonly signal: AbortSignal
}

async function respondToCall(stream: Http2Stream, { path, find, incoming, signal }: OpenCall): Promise<void> {
  try {
    const method = await find(path)
    if (method === undefined) throw new GrpcError(STATUS.unimplemented, `there is no method ${path}`)
    const request = method.isRequestStream ? new Uint8Array(0) : await incoming.message
    if (signal.aborted) return
    for await (const part of method.respond(request, signal)) {
      // A long response is never kept completely.
      await stream.drained()
      if (!stream.hasHeaders) stream.respond(RESPONSE_HEADERS)
      stream.write(framed(part))
    }
    finish(stream, STATUS.ok)
  } catch (error) {
    const code = error instanceof GrpcError ? error.code : STATUS.internal
    finish(stream, code, error instanceof Error ? error.message : String(error))
  }
}

/** Ends the response to a call with a status. */
function finish(stream: Http2Stream, code: number, reason?: string): void {
  const trailers = statusTrailers(code, reason)
  stream.end(stream.hasHeaders ? trailers : { ...RESPONSE_HEADERS, ...trailers })
}
