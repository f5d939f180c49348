import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../domain/apiKeys.ts'
import { readmit } from './admission.ts'
import type { AdmittedRequest, Answer, ApiParts, Exchange, Operation } from './operations/operation.ts'
import { entityTag } from './operations/preconditions.ts'
import { type HeaderList, writeAnswer } from './transport/answer.ts'
import {
  type AnswerBudget,
  type MemoryReservation,
  SMALL_ANSWER_BYTES_MAX,
} from './transport/answerBudget.ts'
import { parsedBytes, SMALL_BODY_BYTES_MAX } from './transport/bodyBudget.ts'
import type { YieldTurn } from './transport/eventLoopTurns.ts'
import type { Lane } from './transport/fairQueue.ts'
import type { Answers } from './transport/gracefulClose.ts'
import { assertJson, parseJson } from './transport/jsonBody.ts'
import { LONG_ANSWER_BYTES, writeLongAnswer } from './transport/longAnswer.ts'

/** Dependencies for answering operations. */
export interface Answering {
  /** Reports a request whose answer was passed to the socket. */
  readonly done: (request: FastifyRequest, status: number) => void
  /** Counts a small answer until its client has read it. */
  readonly keepUntaken: (reply: FastifyReply) => void
  readonly answers: Answers
  readonly budget: AnswerBudget
  /** Memory for parsed bodies. */
  readonly bodies: AnswerBudget
  readonly turnsOf: (lane: Lane) => YieldTurn
  /** Minimum reading speed for a long answer (milliseconds for each MiB). */
  readonly mibMs: number
}

type OperationRequest = FastifyRequest<{ Params: { id?: string } }>

const NO_QUERY = new URLSearchParams()

/** Adds the route of `operation` for admitted requests: steps 8 to 13 of the order of checks (Gap G19). */
export function addOperation(
  app: FastifyInstance,
  operation: Operation,
  parts: ApiParts,
  answering: Answering,
): void {
  const { answers, turnsOf, budget, bodies } = answering
  app.route<{ Params: { id?: string } }>({
    method: operation.method,
    url: operation.path,
    handler: async (request, reply) => {
      if (answers.comesTooLate(reply.raw)) {
        reply.hijack()
        return
      }
      const { caller = null, headers = [] } = request.progress ?? {}
      if (caller === null) throw new Error('a request reached an operation without admission')
      if (operation.takesBody) {
        const { rawHeaders, socket: connection } = request.raw
        await readmit({ method: request.method, rawHeaders, connection }, parts.store)
      }
      if (operation.takesBody)
        assertJson(request.headers['content-type'], request.headers['content-encoding'])
      const admitted = admittedOf(request, caller, turnsOf(caller))
      const handle = (): Promise<Answer> =>
        withBody(operation, request, { asked: admitted, bodies }, (exchange) =>
          operation.handle(exchange, parts),
        )
      const { answer, room } = await answerWithRoom(operation, handle, { asked: admitted, parts, budget })
      const { generation } = answer
      if (generation !== undefined) headers.push('etag', entityTag(parts.store.storeId, generation))
      await write(request, reply, { answer, room, headers, yieldTurn: admitted.yieldTurn }, answering)
    },
  })
}

/**
 * The answer of `handle`. A long body is parsed when there is room for its values, and keeps the room until the request
 * is handled: twenty parsed bodies at the same time would fill a small heap. Gap G40.
 */
async function withBody(
  { takesBody }: Operation,
  { body: bytes }: FastifyRequest,
  { asked, bodies }: { readonly asked: AdmittedRequest; readonly bodies: AnswerBudget },
  handle: (exchange: Exchange) => Promise<Answer>,
): Promise<Answer> {
  if (!takesBody || !Buffer.isBuffer(bytes)) return await handle({ ...asked, body: undefined })
  const isLong = bytes.length > SMALL_BODY_BYTES_MAX
  const room = isLong ? await bodies.take(asked.caller, parsedBytes(bytes)) : undefined
  try {
    return await handle({ ...asked, body: await parseJson(bytes, asked.yieldTurn) })
  } finally {
    room?.release()
  }
}

/** An answer, and the room that it holds; a small one holds none. */
interface Roomed {
  readonly answer: Answer
  readonly room: MemoryReservation | undefined
}

/**
 * The answer of `operation`, and room for it. A change gets its room beforehand, because its result must not be lost. A
 * read runs again after a wait, so that waiting answers hold nothing. Gap G39.
 */
async function answerWithRoom(
  operation: Operation,
  handle: () => Promise<Answer>,
  {
    asked,
    parts,
    budget,
  }: { readonly asked: AdmittedRequest; readonly parts: ApiParts; readonly budget: AnswerBudget },
): Promise<Roomed> {
  const { caller: lane } = asked
  const most = (await operation.answerBytesMax?.(asked, parts)) ?? 0
  let room = most > SMALL_ANSWER_BYTES_MAX ? await budget.take(lane, most) : undefined
  try {
    for (;;) {
      const answer = await handle()
      const bytes = heldBytes(answer)
      if (bytes <= SMALL_ANSWER_BYTES_MAX) {
        room?.release()
        return { answer, room: undefined }
      }
      if (room?.resize(bytes) === true) return { answer, room }
      room?.release()
      room = budget.tryTake(lane, bytes)
      if (room !== undefined) return { answer, room }
      if (operation.method !== 'GET') throw new Error('an answer is larger than its operation announced')
      room = await budget.take(lane, bytes)
    }
  } catch (error) {
    room?.release()
    throw error
  }
}

function heldBytes({ text, openLong }: Answer): number {
  if (openLong !== undefined) return LONG_ANSWER_BYTES
  return text === undefined ? 0 : Buffer.byteLength(text)
}

/** An answer, and the dependencies for writing it. */
interface Written extends Roomed {
  readonly headers: HeaderList
  readonly yieldTurn: YieldTurn
}

async function write(
  request: FastifyRequest,
  reply: FastifyReply,
  { answer, room, headers, yieldTurn }: Written,
  { done, keepUntaken, answers, mibMs }: Answering,
): Promise<void> {
  const { status, openLong: open, text } = answer
  const response = reply.raw
  room?.cutWith(() => response.destroy())
  if (open === undefined) {
    writeAnswer(reply, status, headers, text)
    if (room === undefined) keepUntaken(reply)
    else answers.whenClosed(response, room.release)
    done(request, status)
    return
  }
  try {
    // The client may have disconnected during the slices of other requests.
    if (response.destroyed || request.raw.socket.destroyed) {
      reply.hijack()
    } else {
      const failure = await writeLongAnswer(reply, { status, headers, open, yieldTurn, mibMs })
      if (request.progress !== null) request.progress.failure = failure
    }
  } finally {
    room?.release()
  }
  done(request, status)
}

function admittedOf(request: OperationRequest, caller: Caller, yieldTurn: YieldTurn): AdmittedRequest {
  const question = request.raw.url?.indexOf('?') ?? -1
  return {
    caller,
    id: request.params.id ?? '',
    query: question === -1 ? NO_QUERY : new URLSearchParams(request.raw.url?.slice(question + 1)),
    bodyBytes: Buffer.isBuffer(request.body) ? request.body.length : 0,
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    yieldTurn,
  }
}
