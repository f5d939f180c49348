import type { Caller } from '../../domain/apiKeys.ts'
import type { Environment } from '../../domain/environment.ts'
import type { MasterKey } from '../../domain/seal.ts'
import type { LongList, Store } from '../../store/store.ts'
import type { GiveWay } from '../transport/loopTurns.ts'

/** The parts that operations work with. */
export interface ApiParts {
  readonly store: Store
  readonly environment: Environment
  /** Throws when the key cannot be found. */
  readonly findMasterKey: (id: string) => MasterKey
  readonly isBlocked: (url: string) => boolean
}

/** A request that was let in, before its body is read. */
export interface Asked {
  readonly caller: Caller
  /** The `{…}` of the path, decoded. */
  readonly id: string
  /** Of the query string: parameters in order, repeated ones several times. */
  readonly query: URLSearchParams
  /** How long the body was (bytes); 0 when there was none. */
  readonly bodyBytes: number
  /** A request header, several of the same name joined; `undefined` when absent. */
  readonly header: (name: string) => string | undefined
  /** Lets others have their turn; work that takes long calls it between its slices. Gap G40. */
  readonly giveWay: GiveWay
}

/** A request that was let in, as an operation sees it. */
export interface Exchange extends Asked {
  /** Parsed JSON; `undefined` when there was none or the operation takes none. */
  readonly body: unknown
}

/** The answer of an operation that does not throw an ApiError. */
export interface Answer {
  readonly status: 200 | 201 | 204
  /** JSON, as text or as its bytes; absent for 204. */
  readonly text?: string | Uint8Array
  /** Opens the answer in place of `text` when that is too long to be held at once. */
  readonly openLong?: () => Promise<LongList>
  /** Generation of a service, answered as its ETag. */
  readonly generation?: number
}

/** One of the thirteen operations. Contract: Endpoints. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** As Fastify writes it, with `:id`. */
  readonly path: string
  /** Whether a body is read; one that comes to another operation is ignored (Gap G20). */
  readonly takesBody: boolean
  /**
   * Most bytes that the answer may have, of an operation that changes something and whose answer may be more than a small
   * one. What only reads is asked again when there is room.
   */
  readonly answerBytesMax?: (asked: Asked, parts: ApiParts) => Promise<number>
  readonly handle: (exchange: Exchange, parts: ApiParts) => Promise<Answer>
}
