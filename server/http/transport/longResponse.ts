import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { LongList } from '../../store/store.ts'
import { type HeaderList, JSON_TYPE } from './response.ts'
import type { YieldTurn } from './eventLoopTurns.ts'

const MIB = 1_024 * 1_024

/**
 * Memory of a streamed response (bytes): some pieces, including the largest service, and the page cache of its database
 * connection. Gap G33.
 */
export const LONG_RESPONSE_BYTES = 4 * MIB

/** Lead that a client can have over the minimum speed (MiB), because it may pause and its connection has buffers. */
const CREDIT_MIB = 8

/** A response too long for memory. */
export interface LongResponse {
  readonly status: number
  readonly headers: HeaderList
  readonly open: () => Promise<LongList>
  /** Called between two pieces. */
  readonly yieldTurn: YieldTurn
  /** Minimum reading speed, in milliseconds for each MiB. */
  readonly mibMs: number
}

/**
 * Writes a long response in pieces, each after the previous one has been read. The content is a snapshot, during which
 * the database grows, so a client that takes longer than `mibMs` for each MiB is disconnected. Resolves at the end with
 * the read error that interrupted the response, or `undefined`. Rejects, with nothing written, when the response cannot
 * be opened. Gap G33.
 */
export async function writeLongResponse(reply: FastifyReply, response: LongResponse): Promise<unknown> {
  const list = await response.open()
  reply.hijack()
  return await send(reply.raw, list, response)
}

async function send(
  response: ServerResponse,
  list: LongList,
  { status, headers, yieldTurn, mibMs }: Omit<LongResponse, 'open'>,
): Promise<unknown> {
  const startedAtMs = performance.now()
  const cut = (): unknown => response.destroy()
  let timeout = setTimeout(cut, CREDIT_MIB * mibMs)
  async function* taken(): AsyncGenerator<Uint8Array, void> {
    let bytes = 0
    for await (const piece of list.pieces) {
      yield piece
      bytes += piece.length
      clearTimeout(timeout)
      const endsAtMs = startedAtMs + (CREDIT_MIB + bytes / MIB) * mibMs
      timeout = setTimeout(cut, Math.max(0, endsAtMs - performance.now()))
      await yieldTurn()
    }
  }
  try {
    // Without a length the response is chunked, and the last chunk marks it as complete.
    const length = list.length === undefined ? [] : ['content-length', String(list.length)]
    response.writeHead(status, [...headers, 'content-type', JSON_TYPE, ...length])
    if (response.req.method === 'HEAD') response.end()
    else await pipeline(taken, response)
    return undefined
  } catch (error) {
    // A started response cannot become an error. Closing its connection marks it as incomplete.
    response.destroy()
    return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
      ? undefined
      : error
  } finally {
    clearTimeout(timeout)
    await list.close()
  }
}
