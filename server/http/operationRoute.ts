import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../domain/apiKeys.ts'
import { readmit } from './admission.ts'
import type {
  AdmittedRequest,
  OperationResponse,
  ApiParts,
  Exchange,
  Operation,
} from './operations/operation.ts'
import { entityTag } from './operations/preconditions.ts'
import { type HeaderList, writeResponse } from './transport/response.ts'
import {
  type ResponseBudget,
  type MemoryReservation,
  SMALL_RESPONSE_BYTES_MAX,
} from './transport/responseBudget.ts'
import { parsedBytes, SMALL_BODY_BYTES_MAX } from './transport/bodyBudget.ts'
import type { YieldTurn } from './transport/eventLoopTurns.ts'
import type { Lane } from './transport/fairQueue.ts'
import type { Responses } from './transport/gracefulClose.ts'
import { assertJson, parseJson } from './transport/jsonBody.ts'
import { LONG_RESPONSE_BYTES, writeLongResponse } from './transport/longResponse.ts'

/** Dependencies for sending the responses of operations. */
export interface ResponseParts {
  /** Reports a request whose response was passed to the socket. */
  readonly done: (request: FastifyRequest, status: number) => void
  /** Counts a small response until its client has read it. */
  readonly keepUntaken: (reply: FastifyReply) => void
  readonly responses: Responses
  readonly budget: ResponseBudget
  /** Memory for parsed bodies. */
  readonly bodies: ResponseBudget
  readonly turnsOf: (lane: Lane) => YieldTurn
  /** Minimum reading speed for a long response (milliseconds for each MiB). */
  readonly mibMs: number
}

type OperationRequest = FastifyRequest<{ Params: { id?: string } }>

const NO_QUERY = new URLSearchParams()

/** Adds the route of `operation` for admitted requests: steps 8 to 13 of the order of checks (Gap G19). */
export function addOperation(
  app: FastifyInstance,
  operation: Operation,
  parts: ApiParts,
  responseParts: ResponseParts,
): void {
  const { responses, turnsOf, budget, bodies } = responseParts
  app.route<{ Params: { id?: string } }>({
    method: operation.method,
    url: operation.path,
    handler: async (request, reply) => {
      if (responses.comesTooLate(reply.raw)) {
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
      const handle = (): Promise<OperationResponse> =>
        withBody(operation, request, { asked: admitted, bodies }, (exchange) =>
          operation.handle(exchange, parts),
        )
      const { response, room } = await responseWithRoom(operation, handle, { asked: admitted, parts, budget })
      const { generation } = response
      if (generation !== undefined) headers.push('etag', entityTag(parts.store.storeId, generation))
      await write(request, reply, { response, room, headers, yieldTurn: admitted.yieldTurn }, responseParts)
    },
  })
}

/**
 * The response of `handle`. A long body is parsed when there is room for its values, and keeps the room until the
 * request is handled: twenty parsed bodies at the same time would fill a small heap. Gap G40.
 */
async function withBody(
  { takesBody }: Operation,
  { body: bytes }: FastifyRequest,
  { asked, bodies }: { readonly asked: AdmittedRequest; readonly bodies: ResponseBudget },
  handle: (exchange: Exchange) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  if (!takesBody || !Buffer.isBuffer(bytes)) return await handle({ ...asked, body: undefined })
  const isLong = bytes.length > SMALL_BODY_BYTES_MAX
  const room = isLong ? await bodies.take(asked.caller, parsedBytes(bytes)) : undefined
  try {
    return await handle({ ...asked, body: await parseJson(bytes, asked.yieldTurn) })
  } finally {
    room?.release()
  }
}

/** A response, and the room that it holds; a small one holds none. */
interface Roomed {
  readonly response: OperationResponse
  readonly room: MemoryReservation | undefined
}

/**
 * The response of `operation`, and room for it. A change gets its room beforehand, because its result must not be lost.
 * A read runs again after a wait, so that waiting responses hold nothing. Gap G39.
 */
async function responseWithRoom(
  operation: Operation,
  handle: () => Promise<OperationResponse>,
  {
    asked,
    parts,
    budget,
  }: { readonly asked: AdmittedRequest; readonly parts: ApiParts; readonly budget: ResponseBudget },
): Promise<Roomed> {
  const { caller: lane } = asked
  const most = (await operation.responseBytesMax?.(asked, parts)) ?? 0
  let room = most > SMALL_RESPONSE_BYTES_MAX ? await budget.take(lane, most) : undefined
  try {
    for (;;) {
      const response = await handle()
      const bytes = heldBytes(response)
      if (bytes <= SMALL_RESPONSE_BYTES_MAX) {
        room?.release()
        return { response, room: undefined }
      }
      if (room?.resize(bytes) === true) return { response, room }
      room?.release()
      room = budget.tryTake(lane, bytes)
      if (room !== undefined) return { response, room }
      if (operation.method !== 'GET') throw new Error('a response is larger than its operation announced')
      room = await budget.take(lane, bytes)
    }
  } catch (error) {
    room?.release()
    throw error
  }
}

function heldBytes({ text, openLong }: OperationResponse): number {
  if (openLong !== undefined) return LONG_RESPONSE_BYTES
  return text === undefined ? 0 : Buffer.byteLength(text)
}

/** A response, and the dependencies for writing it. */
interface Written extends Roomed {
  readonly headers: HeaderList
  readonly yieldTurn: YieldTurn
}

async function write(
  request: FastifyRequest,
  reply: FastifyReply,
  { response, room, headers, yieldTurn }: Written,
  { done, keepUntaken, responses, mibMs }: ResponseParts,
): Promise<void> {
  const { status, openLong: open, text } = response
  const raw = reply.raw
  room?.cutWith(() => raw.destroy())
  if (open === undefined) {
    writeResponse(reply, status, headers, text)
    if (room === undefined) keepUntaken(reply)
    else responses.whenClosed(raw, room.release)
    done(request, status)
    return
  }
  try {
    // The client may have disconnected during the slices of other requests.
    if (raw.destroyed || request.raw.socket.destroyed) {
      reply.hijack()
    } else {
      const failure = await writeLongResponse(reply, { status, headers, open, yieldTurn, mibMs })
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
