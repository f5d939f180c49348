import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { LongList } from '../../store/store.ts'
import { type HeaderList, JSON_TYPE } from './answer.ts'
import type { GiveWay } from './loopTurns.ts'

const MIB = 1_024 * 1_024

/**
 * Memory of an answer that is written in pieces (bytes): some pieces, the largest service among them, and the pages of
 * its connection to the database. Gap G33.
 */
export const LONG_ANSWER_BYTES = 4 * MIB

/** How much faster than it has to be an answer may be taken before (MiB): a client may pause, and has its connection's buffers. */
const CREDIT_MIB = 8

/** An answer that is too long to be held at once. */
export interface LongAnswer {
  readonly status: number
  readonly headers: HeaderList
  readonly open: () => Promise<LongList>
  /** Called between two pieces. */
  readonly giveWay: GiveWay
  /** Least speed at which it has to be taken (milliseconds for each MiB). */
  readonly mibMs: number
}

/**
 * Writes a long answer in pieces, each when the one before has been taken. What is answered is kept as it was at one
 * instant, for which the database grows meanwhile: a client that takes longer than `mibMs` for each MiB is cut off.
 * Resolves, when that is done, to why it could not be read to its end, `undefined` otherwise. Rejects, with nothing
 * written, when it cannot be opened. Gap G33.
 */
export async function writeLongAnswer(reply: FastifyReply, answer: LongAnswer): Promise<unknown> {
  const list = await answer.open()
  reply.hijack()
  return await send(reply.raw, list, answer)
}

async function send(
  response: ServerResponse,
  list: LongList,
  { status, headers, giveWay, mibMs }: Omit<LongAnswer, 'open'>,
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
      await giveWay()
    }
  }
  try {
    // Without a length it is sent in chunks, of which the last one says that it is whole.
    const length = list.length === undefined ? [] : ['content-length', String(list.length)]
    response.writeHead(status, [...headers, 'content-type', JSON_TYPE, ...length])
    if (response.req.method === 'HEAD') response.end()
    else await pipeline(taken, response)
    return undefined
  } catch (error) {
    // An answer that has begun cannot become another one: ending its connection says that it is incomplete.
    response.destroy()
    return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
      ? undefined
      : error
  } finally {
    clearTimeout(timeout)
    await list.close()
  }
}
