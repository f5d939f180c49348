import * as z from 'zod'
import type { PortAnswer, PortRequest } from '../../monitoring/agent/portLink.ts'
import { messageProblem } from '../../monitoring/protocol/messageProblem.ts'
import { REGIONS } from '../domain/regions.ts'
import type { Hub } from './hub.ts'

/** Status of a message that is not understood: the sender does not send it again. */
const NOT_UNDERSTOOD = 400
/** An agent of the server may finish a check in a region that another agent has by now: it is a result like any other. */
const ALL_REGIONS = REGIONS.map(({ code }) => code)

/** What answers an agent in a thread. */
export interface PortAnswerParts {
  readonly hub: Pick<Hub, 'sync' | 'ingest'>
  readonly post: (answer: PortAnswer) => void
}

/** Answers the requests of an agent in a thread, as the listener answers those of agents on other machines. */
export class PortAnswers {
  readonly #parts: PortAnswerParts
  readonly #waiting = new Map<number, AbortController>()

  constructor(parts: PortAnswerParts) {
    this.#parts = parts
  }

  /** Posts the answer to `request` when there is one; a request that is cancelled is answered at once. */
  async take(request: PortRequest): Promise<void> {
    const { id } = request
    if (request.kind === 'cancel') {
      this.#waiting.get(id)?.abort()
      return
    }
    const waiting = new AbortController()
    this.#waiting.set(id, waiting)
    const { hub, post } = this.#parts
    try {
      const body =
        request.kind === 'sync'
          ? await hub.sync({ region: request.region }, request.body, waiting.signal)
          : await hub.ingest(ALL_REGIONS, request.body)
      post({ id, kind: 'answer', body })
    } catch (error) {
      post({ id, ...failureOf(error) })
    } finally {
      this.#waiting.delete(id)
    }
  }

  /** Ends what waits: the agent is gone. */
  end(): void {
    for (const waiting of this.#waiting.values()) waiting.abort()
  }
}

/** Why there is no answer: a message that is not understood has the status that an agent elsewhere gets for it. */
function failureOf(error: unknown) {
  if (error instanceof z.ZodError) {
    return { kind: 'failed', reason: messageProblem(error), status: NOT_UNDERSTOOD } as const
  }
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) } as const
}
