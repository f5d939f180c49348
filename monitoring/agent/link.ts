import type { ResultsResponse, ResultsRequest, SyncRequest } from '../protocol/messages.ts'

/** A sync request without the field that the link adds. */
export type LinkSyncRequest = Omit<SyncRequest, 'public_key'>

/** The connection of an agent to its server. Every exchange is self-contained, so a failed one is repeated. */
export interface Link {
  /**
   * The changes in `region`, as a SyncResponse with its secrets in plain text. Waits for a change as long as the request
   * allows. Rejects when the server cannot be reached, and when `signal` aborts.
   */
  sync(region: string, request: LinkSyncRequest, signal: AbortSignal): Promise<unknown>
  /** Delivers results; resolves when they are stored. Rejects with a LinkError when the server refuses them. */
  results(request: ResultsRequest): Promise<ResultsResponse>
}

/** A server's refusal of a message from an agent. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
  readonly status: number
  /** Whether the server refused the version of the agent's protocol, not this message. */
  readonly isProtocol: boolean

  constructor(status: number, message: string, isProtocol = false) {
    super(message)
    this.status = status
    this.isProtocol = isProtocol
  }
}
