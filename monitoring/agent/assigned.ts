import { Inventory } from '../protocol/inventory.ts'
import type { EndpointTask, StartedService, SyncAnswer } from '../protocol/messages.ts'

/** A service that the agent runs. */
interface Running {
  readonly generation: number
  readonly endpoints: readonly EndpointTask[]
}

/** What an answer changes. */
export interface Reassignment {
  readonly started: readonly StartedService[]
  /** Series that are not checked any more. */
  readonly endedSeries: readonly number[]
}

/**
 * What the server wants checked in one region. Answers that are repeated, or that are older than what is known, change
 * nothing: generations fence.
 */
export class Assigned {
  readonly #running = new Map<string, Running>()
  readonly #inventory = new Inventory()
  #store: string | undefined
  /** Services that the pages of a whole feed named so far. */
  #named = new Set<string>()
  #isInWhole = false

  /** Identity of the store whose services these are; `undefined` before the first answer. */
  get store(): string | undefined {
    return this.#store
  }

  /** Which generations run. */
  get inventory(): { readonly count: number; readonly hash: string } {
    return this.#inventory.value
  }

  /** Takes an answer; what has to be done. */
  take(answer: SyncAnswer): Reassignment {
    const started: StartedService[] = []
    const endedSeries: number[] = []
    // Generations of another store say nothing: all of it is taken as new.
    if (this.#store !== undefined && this.#store !== answer.store) endedSeries.push(...this.endAll())
    this.#store = answer.store
    if (answer.whole && !this.#isInWhole) this.#named = new Set()
    this.#isInWhole = answer.whole && answer.more
    for (const { service, generation } of answer.end) {
      const known = this.#running.get(service)
      if (known !== undefined && known.generation < generation) endedSeries.push(...this.#end(service))
    }
    for (const service of answer.start) {
      this.#named.add(service.service)
      const known = this.#running.get(service.service)
      if (known !== undefined && known.generation >= service.generation) continue
      const kept = new Set(service.endpoints.map(({ series }) => series))
      endedSeries.push(...seriesOf(known).filter((series) => !kept.has(series)))
      this.#running.set(service.service, service)
      this.#inventory.set(service.service, service.generation)
      started.push(service)
    }
    if (answer.whole && !answer.more) {
      for (const service of [...this.#running.keys()]) {
        if (!this.#named.has(service)) endedSeries.push(...this.#end(service))
      }
    }
    return { started, endedSeries }
  }

  /** Forgets everything; the series that end. */
  endAll(): readonly number[] {
    return [...this.#running.keys()].flatMap((service) => this.#end(service))
  }

  #end(service: string): readonly number[] {
    const series = seriesOf(this.#running.get(service))
    this.#running.delete(service)
    this.#inventory.set(service, undefined)
    return series
  }
}

function seriesOf(running: Running | undefined): readonly number[] {
  return running === undefined ? [] : running.endpoints.map(({ series }) => series)
}
