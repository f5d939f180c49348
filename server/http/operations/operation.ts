import type { Caller } from '../../domain/apiKeys.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MasterKey } from '../../domain/seal.ts'
import type { LongList, Store } from '../../store/store.ts'
import type { YieldTurn } from '../transport/eventLoopTurns.ts'

/** Dependencies of operations. */
export interface ApiParts {
  readonly store: Store
  readonly environment: Environment
  /** Throws when the key cannot be found. */
  readonly findMasterKey: (id: string) => MasterKey
  readonly isBlocked: (url: string) => boolean
}

/** An admitted request, before its body is read. */
export interface AdmittedRequest {
  readonly caller: Caller
  /** The path parameters (`{…}`), decoded. */
  readonly id: string
  /** Parameters of the query string in order, including repeated ones. */
  readonly query: URLSearchParams
  /** Length of the body (bytes); 0 when there was none. */
  readonly bodyBytes: number
  /** A request header, with several of the same name joined; `undefined` when absent. */
  readonly header: (name: string) => string | undefined
  /** Yields to other requests. Long work calls it between slices. Gap G40. */
  readonly yieldTurn: YieldTurn
}

/** An admitted request with its body, as an operation receives it. */
export interface Exchange extends AdmittedRequest {
  /** Parsed JSON; `undefined` without a body or when the operation reads none. */
  readonly body: unknown
}

/** The response of an operation that does not throw an ApiError. */
export interface OperationResponse {
  readonly status: 200 | 201 | 204
  /** JSON as text or bytes; absent for 204. */
  readonly text?: string | Uint8Array
  /** Opens a response that is too long for memory as a stream; replaces `text`. */
  readonly openLong?: () => Promise<LongList>
  /** Generation of a service, sent as the ETag. */
  readonly generation?: number
}

/** One of the thirteen operations. Contract: Endpoints. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path in Fastify's form, with `:id`. */
  readonly path: string
  /** Whether the operation reads a body. Other operations ignore it (Gap G20). */
  readonly takesBody: boolean
  /**
   * Maximum size of the response (bytes) of a change whose response may not be small. Absent for a read, which runs
   * again when there is free memory.
   */
  readonly responseBytesMax?: (asked: AdmittedRequest, parts: ApiParts) => Promise<number>
  readonly handle: (exchange: Exchange, parts: ApiParts) => Promise<OperationResponse>
}
