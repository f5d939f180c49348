import type { ResultsAnswer, ResultsRequest, SyncRequest } from '../protocol/messages.ts'

/** How an agent reaches its server. Every exchange is complete in itself: what failed is asked again. */
export interface Link {
  /**
   * What changed in `region`, as SyncAnswer; waits for a change for as long as the request allows. Rejects when the server
   * cannot be reached, and when `signal` aborts.
   */
  sync(region: string, request: SyncRequest, signal: AbortSignal): Promise<unknown>
  /** Hands results over; resolves when they are stored. Rejects when they have to be sent again. */
  results(request: ResultsRequest): Promise<ResultsAnswer>
}
