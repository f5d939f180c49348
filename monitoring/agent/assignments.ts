import { Inventory } from '../protocol/inventory.ts'
import type { StartedService, SyncResponse } from '../protocol/messages.ts'
import { ownerOf } from './sharing.ts'

/** A service of the region. */
interface Running {
  readonly service: StartedService
  /** Series of the service that this agent checks. */
  readonly owned: ReadonlySet<number>
}

/** The changes that a response makes. */
export interface Reassignment {
  /** Services with the endpoints to start. */
  readonly started: readonly StartedService[]
  /** Series that this agent no longer checks. */
  readonly endedSeries: readonly number[]
}

const NO_SERIES: ReadonlySet<number> = new Set()

/**
 * The services that the server assigns in one region, and the series of them that this agent checks. Their
 * generations show which response is newer: repeated and older responses change nothing.
 */
export class Assignments {
  readonly #instance: string
  readonly #running = new Map<string, Running>()
  readonly #inventory = new Inventory()
  #members: readonly string[] = []
  #store: string | undefined
  /** Services named so far by the pages of a whole feed. */
  #named = new Set<string>()
  #isInWhole = false

  constructor(instance: string) {
    this.#instance = instance
  }

  /** The known generations, including those of services that other agents check. */
  get inventory(): { readonly count: number; readonly hash: string } {
    return this.#inventory.value
  }

  /** Applies a response. Returns the changes to make. */
  take(response: SyncResponse): Reassignment {
    const started: StartedService[] = []
    const endedSeries: number[] = []
    // Generations of another store cannot be compared, so all services count as new.
    if (this.#store !== undefined && this.#store !== response.store) endedSeries.push(...this.endAll())
    this.#store = response.store
    if (response.whole && !this.#isInWhole) this.#named = new Set()
    this.#isInWhole = response.whole && response.more
    for (const { service, generation } of response.end) {
      const known = this.#running.get(service)
      if (known !== undefined && known.service.generation < generation)
        endedSeries.push(...this.#end(service))
    }
    if (response.members.join() !== this.#members.join()) {
      this.#members = response.members
      for (const { service } of [...this.#running.values()]) {
        const { gained, lost } = this.#share(service)
        endedSeries.push(...lost)
        if (gained.endpoints.length > 0) started.push({ ...gained, first: false })
      }
    }
    for (const service of response.start) {
      this.#named.add(service.service)
      const known = this.#running.get(service.service)
      if (known !== undefined && known.service.generation >= service.generation) continue
      endedSeries.push(...this.#share(service).lost)
      this.#inventory.set(service.service, service.generation)
      started.push({
        ...service,
        endpoints: service.endpoints.filter(({ series }) => this.#owns(service, series)),
      })
    }
    if (response.whole && !response.more) {
      for (const service of [...this.#running.keys()]) {
        if (!this.#named.has(service)) endedSeries.push(...this.#end(service))
      }
    }
    return { started, endedSeries }
  }

  /** Drops all services. Returns the series that end. */
  endAll(): readonly number[] {
    return [...this.#running.keys()].flatMap((service) => this.#end(service))
  }

  /** Decides which endpoints of `service` this agent checks from now on. Returns the changes. */
  #share(service: StartedService): { readonly gained: StartedService; readonly lost: readonly number[] } {
    const before = this.#running.get(service.service)?.owned ?? NO_SERIES
    const own = service.endpoints.filter(({ id }) => ownerOf(id, this.#members) === this.#instance)
    const owned = new Set(own.map(({ series }) => series))
    this.#running.set(service.service, { service, owned })
    return {
      gained: { ...service, endpoints: own.filter(({ series }) => !before.has(series)) },
      lost: [...before].filter((series) => !owned.has(series)),
    }
  }

  #owns({ service }: StartedService, series: number): boolean {
    return this.#running.get(service)?.owned.has(series) === true
  }

  #end(service: string): readonly number[] {
    const owned = this.#running.get(service)?.owned ?? NO_SERIES
    this.#running.delete(service)
    this.#inventory.set(service, undefined)
    return [...owned]
  }
}
