import type { ResultsAnswer, ResultsRequest, SyncRequest } from '../protocol/messages.ts'

/** What a link adds to a sync by itself. */
export type LinkSyncRequest = Omit<SyncRequest, 'public_key'>

/** How an agent reaches its server. Every exchange is complete in itself: what failed is asked again. */
export interface Link {
  /**
   * What changed in `region`, as SyncAnswer with its secrets in clear; waits for a change for as long as the request allows. Rejects
   * when the server cannot be reached, and when `signal` aborts.
   */
  sync(region: string, request: LinkSyncRequest, signal: AbortSignal): Promise<unknown>
  /** Hands results over; resolves when they are stored. Rejects with a LinkError when the server refuses them. */
  results(request: ResultsRequest): Promise<ResultsAnswer>
}

/** A server refused what an agent sent. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
  readonly status: number
  /** Whether the server does not speak the agent's protocol: nothing is wrong with the message. */
  readonly isProtocol: boolean

  constructor(status: number, message: string, isProtocol = false) {
    super(message)
    this.status = status
    this.isProtocol = isProtocol
  }
}
