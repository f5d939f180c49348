import { Transform } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { Refusal } from './refusal.ts'

/** Size from which bodies are limited in number (bytes): each may take its whole size in memory. */
const LARGE_BODY_BYTES = 1024 * 1024
const LARGE_BODIES_MAX = 4

/** Whether the body may be large, by its announced length. Pure. */
export function isLargeBody(headers: Readonly<Record<string, unknown>>): boolean {
  const length = headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : 'unknown')
  return !(Number(length) <= LARGE_BODY_BYTES)
}

/**
 * Limits `app` to four large bodies at a time; a fifth one is refused with 503. A body counts as large from its first byte
 * beyond the bound, so that announced or slow bodies do not block others.
 */
export function limitLargeBodies(app: FastifyInstance): void {
  let largeBodies = 0
  app.addHook('preParsing', async (request, reply, payload) => {
    if (!isLargeBody(request.headers)) return payload
    let bytes = 0
    let isLarge = false
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        bytes += chunk.length
        if (!isLarge && bytes > LARGE_BODY_BYTES) {
          if (largeBodies >= LARGE_BODIES_MAX)
            return done(new Refusal(503, 'busy: send it again', { 'Retry-After': '5' }))
          isLarge = true
          largeBodies += 1
        }
        done(null, chunk)
      },
    })
    const { socket } = request.raw
    const end = (): void => {
      reply.raw.off('close', end)
      socket.off('close', end)
      counted.destroy()
      if (isLarge) largeBodies -= 1
    }
    reply.raw.on('close', end)
    // On a lost connection, a response queued behind another gets no close event.
    socket.on('close', end)
    return payload.pipe(counted)
  })
}
