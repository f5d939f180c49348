import type { FastifyReply } from 'fastify'

/** Headers as they are written: name, value, name, value … */
export type HeaderList = string[]

const JSON_TYPE = 'application/json; charset=utf-8'

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
