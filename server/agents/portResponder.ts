import * as z from 'zod'
import type { PortResponse, PortRequest } from '../../monitoring/agent/portLink.ts'
import { messageProblem } from '../../monitoring/protocol/messageProblem.ts'
import { REGIONS } from '../domain/regions.ts'
import type { Hub } from './hub.ts'

/** Status of a malformed message, which the sender does not retry. */
const NOT_UNDERSTOOD = 400
/** The embedded agent may deliver results of regions that it no longer checks. */
const ALL_REGIONS = REGIONS.map(({ code }) => code)

/** Responds to the requests of an agent in a thread, as the listener does for remote agents. */
export class PortResponder {
  readonly #hub: Pick<Hub, 'sync' | 'ingest'>
  readonly #post: (response: PortResponse) => void
  readonly #waiting = new Map<number, AbortController>()

  constructor(hub: Pick<Hub, 'sync' | 'ingest'>, post: (response: PortResponse) => void) {
    this.#hub = hub
    this.#post = post
  }

  /** Posts the response to `request`; a cancelled request gets its response at once. */
  async take(request: PortRequest): Promise<void> {
    const { id } = request
    if (request.kind === 'cancel') {
      this.#waiting.get(id)?.abort()
      return
    }
    const waiting = new AbortController()
    this.#waiting.set(id, waiting)
    try {
      const body =
        request.kind === 'sync'
          ? await this.#hub.sync({ region: request.region }, request.body, waiting.signal)
          : await this.#hub.ingest(ALL_REGIONS, request.body)
      this.#post({ id, kind: 'response', body })
    } catch (error) {
      this.#post({ id, ...failureOf(error) })
    } finally {
      this.#waiting.delete(id)
    }
  }

  /** Ends waiting requests, because the agent is gone. */
  end(): void {
    for (const waiting of this.#waiting.values()) waiting.abort()
  }
}

/** The failure of a request; a malformed message has the same status as for remote agents. */
function failureOf(error: unknown) {
  if (error instanceof z.ZodError) {
    return { kind: 'failed', reason: messageProblem(error), status: NOT_UNDERSTOOD } as const
  }
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) } as const
}
