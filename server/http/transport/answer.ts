import type { FastifyReply, FastifyRequest } from 'fastify'

/** Headers as they are written: name, value, name, value … */
export type HeaderList = string[]

/** The content type of every answer with a body. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Writes a whole answer, past what Fastify's reply does for answers that are still to be serialised: ours
 * are text already, and for a short one that way costs as much as the rest of a read. `text` is JSON, as text
 * or as its bytes; absent for an answer without a body.
 */
export function writeAnswer(
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

/** Silence of a sender after which a connection that has to end does (milliseconds). */
const SILENCE_MS_MAX = 500

/**
 * Writes an answer that was announced as the last of its connection, which ends when the body of `request` has
 * come, when its sender falls silent, or when no more of it is taken (`dropBody`). Node closes as soon as such an
 * answer is ended; what is still on its way would then reset the connection, and its sender might never read it.
 */
export function writeLastAnswer(
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
