import type { FastifyReply, FastifyRequest } from 'fastify'

/** Headers in wire order: name, value, name, value … */
export type HeaderList = string[]

/** The content type of every response with a body. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Writes a whole response and bypasses Fastify's reply, whose serialisation costs as much as the rest of a short read:
 * our responses are already text. `text` is JSON as text or bytes; absent for a response without a body.
 */
export function writeResponse(
  reply: FastifyReply,
  status: number,
  headers: HeaderList,
  text: string | Uint8Array | undefined,
): void {
  reply.hijack()
  const response = reply.raw
  if (text === undefined) {
    // A 204 has no length (RFC 9110).
    if (status !== 204) headers.push('content-length', '0')
    response.writeHead(status, headers).end()
    return
  }
  headers.push('content-type', JSON_TYPE, 'content-length', String(Buffer.byteLength(text)))
  response.writeHead(status, headers).end(text)
}

/** Idle time of the sender after which a connection marked for closing is closed (milliseconds). */
const SILENCE_MS_MAX = 500

/**
 * Writes the last response of a connection. The connection ends when the body of `request` has arrived, when its sender
 * falls silent, or when no more of it is read (`dropBody`). Node would close it right after the response. Data still in
 * flight would then reset the connection, and the sender might never read the response.
 */
export function writeLastResponse(
  { raw: request }: FastifyRequest,
  reply: FastifyReply,
  { status, headers, text }: { readonly status: number; readonly headers: HeaderList; readonly text: string },
): void {
  reply.hijack()
  const response = reply.raw
  const length = String(Buffer.byteLength(text))
  headers.push('content-type', JSON_TYPE, 'content-length', length)
  response.writeHead(status, headers).write(text)
  const silence = setTimeout(() => response.end(), SILENCE_MS_MAX)
  request.on('data', () => silence.refresh())
  request.once('end', () => response.end())
  response.once('close', () => clearTimeout(silence))
}
