import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Server as TlsHttpServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, type ErrorCode } from '../../../api/contract/apiError.ts'
import type { Responses } from './gracefulClose.ts'
import { refusalOf } from './refusal.ts'

/** The responses to errors of Node's parser by code. All other codes mean a malformed request. Gap G20. */
const CODE_OF_PARSER_ERROR: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'header_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Refuses input that is not a request, on the raw socket. Gap G20. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  // A disconnected client needs no response.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code = CODE_OF_PARSER_ERROR[error.code ?? ''] ?? 'invalid'
  endWith(socket, new ApiError(code, CONNECTION_TEXT[code] ?? 'malformed request'))
}

/** Refuses CONNECT like any unsupported method, and closes the connection. Gap G20. */
export function refuseTunnels(server: Server | TlsHttpServer): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node passes the raw connection without listeners and time limits: its reset would end the process, and a client
    // that does not close it would keep it for ever.
    socket.on('error', () => socket.destroy())
    socket.once('finish', () => socket.destroy())
    endWith(socket, new ApiError('invalid', 'this server is not a proxy'))
  })
}

function endWith(socket: Duplex, error: ApiError): void {
  const { status, text } = refusalOf(error)
  const headers = { ...headersOf(text), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n'))
}

/** The headers of the refusal `text`, which no hook sets, because the request reaches none. */
function headersOf(text: string) {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': randomUUID(),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
}

const CONNECTION_TEXT: Partial<Readonly<Record<ErrorCode, string>>> = {
  header_too_large: 'request headers are too large',
  request_timeout: 'request took too long',
}

/**
 * Refuses an unknown Expect with 417. A request whose sender waits for `100 Continue` is admitted first; `permitBody`
 * then sends it. Gap G20.
 */
export function handleExpectations(server: Server, responses: Pick<Responses, 'announceEnd'>): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request)
    // After a refusal the client may or may not send the body, so the next bytes on the connection would be ambiguous.
    response.setHeader('connection', 'close')
    server.emit('request', request, response)
  })
  refuseExpectations(server, responses)
}

/**
 * Refuses an unknown Expect with 417 and closes the connection, because the body may follow or not. A server with
 * watched responses needs this: Node itself responds with 417 only when nothing listens for such requests. Gap G20.
 */
export function refuseExpectations(server: Server, { announceEnd }: Pick<Responses, 'announceEnd'>): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, text } = refusalOf(new ApiError('expectation_failed', 'expectation is not supported'))
    announceEnd(response)
    response.writeHead(status, headersOf(text))
    response.end(text)
  })
}

/** Requests whose sender waits for `100 Continue`. */
const waiting = new WeakSet<IncomingMessage>()

/** Sends `100 Continue` to a sender that waits for it. */
export function permitBody(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return
  response.removeHeader('connection')
  response.writeContinue()
}

/** Throws for requests that get 400 according to RFC 9112: HTTP/1.1 without a Host, or any version with two. */
export function assertHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  const hosts = countHosts(rawHeaders)
  if (hosts > 1) throw new ApiError('invalid', 'header Host must be given once')
  if (hosts === 0 && httpVersion === '1.1') throw new ApiError('invalid', 'header Host is missing')
}

/** The number of Host headers in raw headers (name, value, name, value …). Pure. */
export function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts += 1
  }
  return hosts
}

const HOST = 'host'
