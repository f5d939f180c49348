import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { systemTiming, type Timing } from '../../../api/client/limiter.ts'
import { type RouteAnswer, refusal } from './route.ts'

/** Longest that a body may take once its head is here (milliseconds): forges themselves give up after ten seconds. */
const BODY_MS_MAX = 10_000
/** Bodies beyond this (bytes) are few at a time: each may take its whole size in memory. */
const LARGE_BODY_BYTES = 1024 * 1024
const LARGE_BODIES_MAX = 4

/** Gives `handle` the body of a request, or refuses it. */
export type WithBody = (
  incoming: IncomingMessage,
  bytesMax: number,
  handle: (body: Buffer) => RouteAnswer | Promise<RouteAnswer>,
) => Promise<RouteAnswer>

/** Whether the body may be a large one, by what its sender says of it. Pure. */
export function isLargeBody(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > LARGE_BODY_BYTES
}

/**
 * Reads bodies for one listener: each within ten seconds, and no more than a few large ones at a time. One counts as
 * large from its first byte beyond the bound on: who only announces much, or sends slowly, keeps nobody else out.
 */
export function bodyReader({ after }: Pick<Timing, 'after'> = systemTiming): WithBody {
  let largeBodies = 0
  return async (incoming, bytesMax, handle) => {
    let isLarge = false
    const mayGrow = (bytes: number): boolean => {
      if (isLarge || bytes <= LARGE_BODY_BYTES) return true
      if (largeBodies >= LARGE_BODIES_MAX) return false
      isLarge = true
      largeBodies += 1
      return true
    }
    try {
      const read = await bodyOf(incoming, { bytesMax, mayGrow, after })
      return 'status' in read ? read : await handle(read)
    } finally {
      if (isLarge) largeBodies -= 1
    }
  }
}

interface BodyLimits {
  readonly bytesMax: number
  /** Whether there is room for so many bytes. */
  readonly mayGrow: (bytes: number) => boolean
  readonly after: Timing['after']
}

/** The whole body, or a refusal as soon as it is known to break a limit. Rejects when the connection breaks. */
function bodyOf(incoming: IncomingMessage, limits: BodyLimits): Promise<Buffer | RouteAnswer> {
  const { bytesMax, mayGrow, after } = limits
  const tooLarge = refusal(413, `more than ${bytesMax} bytes`)
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve(tooLarge)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const done = (result: Buffer | RouteAnswer): void => {
      cancel()
      incoming.off('data', take)
      resolve(result)
    }
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > bytesMax) done(tooLarge)
      else if (mayGrow(bytes)) chunks.push(chunk)
      else done(refusal(503, 'busy: send it again', { 'Retry-After': '5' }))
    }
    const cancel = after(BODY_MS_MAX, () =>
      done(refusal(408, `the body did not arrive within ${BODY_MS_MAX / 1_000} s: send it faster`)),
    )
    incoming.on('data', take)
    incoming.once('end', () => done(Buffer.concat(chunks)))
    incoming.once('error', (error) => {
      cancel()
      reject(error)
    })
  })
}
