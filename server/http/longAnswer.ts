import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { LongList } from '../store/store.ts'
import { type HeaderList, JSON_TYPE } from './answer.ts'

const MIB = 1_024 * 1_024

/** An answer that is too long to be held at once. */
export interface LongAnswer {
  readonly status: number
  readonly headers: HeaderList
  /** Whose it is: one is written at a time for each of them. */
  readonly orgId: string
  readonly open: () => Promise<LongList>
  /** Called when it has left or was given up: with the reason, if that was not that its connection was lost. */
  readonly onDone: (failure?: unknown) => void
}

/** Writes a long answer; resolves when that is done. Rejects, with nothing written, when it cannot be opened. */
export type WriteLongAnswer = (reply: FastifyReply, answer: LongAnswer) => Promise<void>

/**
 * Writes long answers in pieces, each when the one before has been taken. What is answered is kept as it was at one
 * instant, for which the database grows meanwhile: whoever takes longer than `mibMs` (milliseconds) for each MiB
 * is cut off, and an organisation has one such answer at a time; others of it wait. Gap G33.
 */
export function longAnswers(mibMs: number): WriteLongAnswer {
  const inTurn = turns()
  return (reply, answer) =>
    inTurn(answer.orgId, async () => {
      const { req: request, destroyed } = reply.raw
      // Whoever asked may have gone while others had their turn.
      const list = destroyed || request.socket.destroyed ? undefined : await answer.open()
      reply.hijack()
      answer.onDone(list === undefined ? undefined : await send(reply.raw, list, { ...answer, mibMs }))
    })
}

/** Sends `list` and closes it; resolves to why it could not be read to its end, `undefined` otherwise. */
async function send(
  response: ServerResponse,
  list: LongList,
  { status, headers, mibMs }: Pick<LongAnswer, 'status' | 'headers'> & { readonly mibMs: number },
): Promise<unknown> {
  const patience = setTimeout(() => response.destroy(), Math.ceil(list.length / MIB) * mibMs)
  try {
    response.writeHead(status, [...headers, 'content-type', JSON_TYPE, 'content-length', String(list.length)])
    if (response.req.method === 'HEAD') response.end()
    else await pipeline(Readable.from(list.pieces), response)
    return undefined
  } catch (error) {
    // What has begun cannot become another answer: that its connection ends says that it is not whole.
    response.destroy()
    return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
      ? undefined
      : error
  } finally {
    clearTimeout(patience)
    list.close()
  }
}

/** Does one thing at a time for each name, in the order in which they came. */
function turns(): (name: string, work: () => Promise<void>) => Promise<void> {
  const newest = new Map<string, Promise<void>>()
  return (name, work) => {
    const before = newest.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    newest.set(name, mine)
    const forget = (): void => {
      if (newest.get(name) === mine) newest.delete(name)
    }
    mine.then(forget, forget)
    return mine
  }
}
