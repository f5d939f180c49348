import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { httpsLink } from '../../monitoring/agent/httpsLink.ts'
import { LinkError } from '../../monitoring/agent/link.ts'
import {
  PROTOCOL,
  type ResultsResponse,
  type ResultsRequest,
  type StartedService,
  type SyncResponse,
} from '../../monitoring/protocol/messages.ts'
import { resultRow } from '../../server/results/testing/resultMessages.ts'

const MS_PER_SECOND = 1_000
const TOO_MANY_REQUESTS = 429

/** An agent that only sends requests. */
export class Asker {
  readonly instance = randomUUID()
  readonly series: number[] = []
  readonly #link: ReturnType<typeof httpsLink>
  readonly #stop = new AbortController()
  readonly #onStarted: (service: StartedService) => void
  #response: SyncResponse | undefined
  #batch = 0

  constructor(link: ReturnType<typeof httpsLink>, onStarted: (service: StartedService) => void) {
    this.#link = link
    this.#onStarted = onStarted
    void this.#follow()
  }

  async report(series: readonly number[], dueS: number): Promise<number> {
    this.#batch += 1
    const results = series.map((one) => resultRow({ series: one, dueS }))
    const batch = {
      ...{ protocol: PROTOCOL, store: this.#response?.store ?? '', instance: this.instance },
      ...{ batch: this.#batch, sent_ms: Date.now(), results, details: [], certificates: [] },
    }
    let response = await this.#sent(batch)
    while (response === undefined) {
      await sleep(MS_PER_SECOND)
      response = await this.#sent(batch)
    }
    if (response.refused.length > 0) throw new Error(`refused: ${JSON.stringify(response.refused[0])}`)
    return response.stored
  }

  /** Sends a batch. Resolves with the response, or `undefined` when the server is too busy. */
  async #sent(batch: ResultsRequest): Promise<ResultsResponse | undefined> {
    try {
      return await this.#link.results(batch)
    } catch (error) {
      if (error instanceof LinkError && error.status === TOO_MANY_REQUESTS) return undefined
      throw error
    }
  }

  stop(): void {
    this.#stop.abort()
    this.#link.close()
  }

  async #follow(): Promise<void> {
    const load = {
      in_flight: 0,
      lag_p99_ms: 0,
      skipped: 0,
      spooled: 0,
      dropped: 0,
      clock_ahead_ms: 0,
      suspect: false,
    }
    while (!this.#stop.signal.aborted) {
      const place = { epoch: this.#response?.epoch ?? 0, cursor: this.#response?.cursor ?? null }
      const request = {
        ...{ protocol: PROTOCOL, instance: this.instance, version: '0', ...place, load },
        ...{ inventory: { count: 0, hash: '' }, wait_ms: 25_000, leaving: false },
      }
      try {
        // True because the link has parsed the response.
        this.#response = (await this.#link.sync('', request, this.#stop.signal)) as SyncResponse
      } catch (error) {
        if (this.#stop.signal.aborted) return
        throw error
      }
      for (const service of this.#response?.start ?? []) {
        this.series.push(...service.endpoints.map(({ series }) => series))
        this.#onStarted(service)
      }
    }
  }
}
