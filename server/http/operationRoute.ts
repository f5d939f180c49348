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
    ...(operation.takesBody || operation.method === 'GET' ? {} : { onRequest: ignoreBodyType }),
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
      const { response, reservation } = await responseWithReservation(operation, handle, {
        asked: admitted,
        parts,
        budget,
      })
      const { generation } = response
      if (generation !== undefined) headers.push('etag', entityTag(parts.store.storeId, generation))
      await write(
        request,
        reply,
        { response, reservation, headers, yieldTurn: admitted.yieldTurn },
        responseParts,
      )
    },
  })
}

/** Hides the type of a body that is ignored, because Fastify refuses a malformed one, except with GET. Gap G20. */
async function ignoreBodyType({ raw }: FastifyRequest): Promise<void> {
  delete raw.headers['content-type']
}

/**
 * The response of `handle`. A long body is parsed when there is memory for its values, and keeps it until the
 * request is handled: twenty parsed bodies at the same time would fill a small heap. Gap G40.
 */
async function withBody(
  { takesBody }: Operation,
  { body: bytes }: FastifyRequest,
  { asked, bodies }: { readonly asked: AdmittedRequest; readonly bodies: ResponseBudget },
  handle: (exchange: Exchange) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  if (!takesBody || !Buffer.isBuffer(bytes)) return await handle(exchangeOf(asked, undefined))
  const isLong = bytes.length > SMALL_BODY_BYTES_MAX
  const reservation = isLong ? await bodies.take(asked.caller, parsedBytes(bytes)) : undefined
  try {
    return await handle(exchangeOf(asked, await parseJson(bytes, asked.yieldTurn)))
  } finally {
    reservation?.release()
  }
}

/** Names each field, because spreading costs every request as much as its authentication. */
function exchangeOf(asked: AdmittedRequest, body: unknown): Exchange {
  const { caller, id, query, bodyBytes, header, yieldTurn } = asked
  return { caller, id, query, bodyBytes, header, yieldTurn, body }
}

/** A response, and the memory that it holds; a small one holds none. */
interface ReservedResponse {
  readonly response: OperationResponse
  readonly reservation: MemoryReservation | undefined
}

/**
 * The response of `operation`, and memory for it. A change reserves its memory beforehand, because its result must not be lost.
 * A read runs again after a wait, so that waiting responses hold nothing. Gap G39.
 */
async function responseWithReservation(
  operation: Operation,
  handle: () => Promise<OperationResponse>,
  { asked, parts, budget }: { asked: AdmittedRequest; parts: ApiParts; budget: ResponseBudget },
): Promise<ReservedResponse> {
  const { caller: lane } = asked
  const most = (await operation.responseBytesMax?.(asked, parts)) ?? 0
  let reservation = most > SMALL_RESPONSE_BYTES_MAX ? await budget.take(lane, most) : undefined
  try {
    for (;;) {
      const response = await handle()
      const bytes = heldBytes(response)
      if (bytes <= SMALL_RESPONSE_BYTES_MAX) {
        reservation?.release()
        return { response, reservation: undefined }
      }
      if (reservation?.resize(bytes) === true) return { response, reservation }
      reservation?.release()
      reservation = budget.tryTake(lane, bytes)
      if (reservation !== undefined) return { response, reservation }
      if (operation.method !== 'GET') throw new Error('a response is larger than its operation announced')
      reservation = await budget.take(lane, bytes)
    }
  } catch (error) {
    reservation?.release()
    throw error
  }
}

function heldBytes({ text, openLong }: OperationResponse): number {
  if (openLong !== undefined) return LONG_RESPONSE_BYTES
  return text === undefined ? 0 : Buffer.byteLength(text)
}

/** A response, and the dependencies for writing it. */
interface Written extends ReservedResponse {
  readonly headers: HeaderList
  readonly yieldTurn: YieldTurn
}

async function write(
  request: FastifyRequest,
  reply: FastifyReply,
  { response, reservation, headers, yieldTurn }: Written,
  { done, keepUntaken, responses, mibMs }: ResponseParts,
): Promise<void> {
  const { status, openLong: open, text } = response
  const raw = reply.raw
  reservation?.cutWith(() => raw.destroy())
  if (open === undefined) {
    writeResponse(reply, status, headers, text)
    if (reservation === undefined) keepUntaken(reply)
    else responses.whenClosed(raw, reservation.release)
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
    reservation?.release()
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
