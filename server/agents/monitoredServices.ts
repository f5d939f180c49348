import type { ServiceResponse } from '../../api/contract/service.ts'
import { Inventory } from '../../monitoring/protocol/inventory.ts'
import { settingsOf, steadyS } from '../domain/autoIncidentSettings.ts'
import { isRegionCode, REGIONS } from '../domain/regions.ts'
import type { MonitoredChange, MonitoredService } from '../results/monitoredService.ts'
import type { MonitoringStore, RegionMode, StoredDefinition } from '../store/monitoringStore.ts'
import { timeoutMsOf } from './endpointTask.ts'

/** Services read at once. */
const PAGE_SERVICES = 200

/** Check rates of a service: checks per second and scheme, in one region. */
interface Rates {
  readonly http: number
  readonly https: number
}

interface Known {
  readonly regions: readonly string[]
  readonly rates: Rates
}

/** The monitored services of the store: read for the results thread, with every endpoint numbered, and cached in short. */
export class MonitoredServices {
  readonly #store: MonitoringStore
  readonly #known = new Map<string, Known>()
  readonly #inventories = new Map(REGIONS.map(({ code }) => [code, new Inventory()]))
  #modes: ReadonlyMap<string, RegionMode> = new Map()

  constructor(store: MonitoringStore) {
    this.#store = store
  }

  modeOf(region: string): RegionMode {
    return this.#modes.get(region) ?? 'embedded'
  }

  /** Reads the modes of the regions; resolves to whether one has changed. */
  async readModes(): Promise<boolean> {
    const modes = await this.#store.regionModes()
    const before = REGIONS.map(({ code }) => this.modeOf(code)).join()
    this.#modes = modes
    return REGIONS.map(({ code }) => this.modeOf(code)).join() !== before
  }

  /** The regions with `mode`. */
  regionsIn(mode: RegionMode): readonly string[] {
    return REGIONS.map(({ code }) => code).filter((code) => this.modeOf(code) === mode)
  }

  /** The generations that `region` should run. */
  inventoryOf(region: string): { readonly count: number; readonly hash: string } {
    return this.#inventories.get(region)?.value ?? { count: 0, hash: '' }
  }

  /** Check rates of the known services over the regions with `mode`. */
  ratesIn(mode: RegionMode): Rates {
    const sum = { http: 0, https: 0 }
    for (const { regions, rates } of this.#known.values()) {
      const count = regions.filter((region) => this.modeOf(region) === mode).length
      sum.http += count * rates.http
      sum.https += count * rates.https
    }
    return sum
  }

  /** All services, read page by page. Rejects with the reason of `signal` when that is aborted. */
  async readAll(signal?: AbortSignal): Promise<readonly MonitoredService[]> {
    const services: MonitoredService[] = []
    const removed = new Set(this.#known.keys())
    let last = ''
    for (;;) {
      signal?.throwIfAborted()
      const page = await this.#store.definitionsAfter(last, PAGE_SERVICES)
      services.push(...(await this.#take(page)))
      for (const { id } of page) removed.delete(id)
      const newest = page.at(-1)
      if (newest === undefined) break
      last = newest.id
      // Lets other work run between pages.
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    for (const id of removed) this.#forget(id)
    return services
  }

  /** Changes of these services. */
  async readSome(serviceIds: readonly string[]): Promise<MonitoredChange> {
    const found: StoredDefinition[] = []
    const ended: string[] = []
    for (const id of serviceIds) {
      const definition = await this.#store.definitionOf(id)
      if (definition === undefined) {
        this.#forget(id)
        ended.push(id)
      } else found.push(definition)
    }
    return { services: await this.#take(found), ended, isWhole: false }
  }

  async #take(definitions: readonly StoredDefinition[]): Promise<readonly MonitoredService[]> {
    const read = definitions.map((definition) => ({
      definition,
      // True because only rendered ServiceResponses are stored.
      response: JSON.parse(definition.text) as ServiceResponse,
    }))
    const numbers = await this.#numbersOf(read.map(({ response }) => response))
    return read.map(({ definition, response }) => this.#know(definition, response, numbers))
  }

  #know(
    { id, orgId, generation, runningIn }: StoredDefinition,
    response: ServiceResponse,
    numbers: ReadonlyMap<string, number>,
  ): MonitoredService {
    for (const [region, inventory] of this.#inventories) {
      inventory.set(id, runningIn.includes(region) ? generation : undefined)
    }
    this.#known.set(id, { regions: runningIn, rates: ratesOf(response) })
    const { paused_at: pausedAt, interval_secs: intervalS } = response
    const pausedAtS = pausedAt == null ? null : Math.floor(Date.parse(pausedAt) / 1_000)
    const regions = response.regions.filter((region) => isRegionCode(region) && this.modeOf(region) !== 'off')
    const endpoints = response.endpoints.map(({ id: endpointId, call }) => ({
      id: endpointId,
      number: numbers.get(endpointId) ?? 0,
      // A stored number of milliseconds is whole.
      timeoutMs: Math.ceil(timeoutMsOf(call)),
    }))
    const settings = settingsOf(response)
    return {
      ...{ id, orgId, generation, pausedAtS, intervalS, regions, endpoints },
      steadyS: settings === null ? null : steadyS(settings, response),
    }
  }

  /** Numbers of the endpoints of `services`, by their ids. Asked once, because a start would wait for each question. */
  async #numbersOf(services: readonly ServiceResponse[]): Promise<ReadonlyMap<string, number>> {
    const ids = services.map(({ id }) => id)
    const known = await this.#store.endpointNumbers(ids)
    const missing = services.flatMap(({ id: serviceId, endpoints }) =>
      endpoints.filter(({ id }) => !known.has(id)).map(({ id }) => ({ id, serviceId })),
    )
    if (missing.length === 0) return known
    await this.#store.numberEndpoints(missing)
    return this.#store.endpointNumbers(ids)
  }

  #forget(serviceId: string): void {
    this.#known.delete(serviceId)
    for (const inventory of this.#inventories.values()) inventory.set(serviceId, undefined)
  }
}

function ratesOf({ endpoints, interval_secs }: ServiceResponse): Rates {
  const checked = endpoints.filter(({ blocked }) => !blocked)
  const https = checked.filter(({ url }) => /^https:/i.test(url)).length
  const intervalS = Math.max(1, interval_secs)
  return { http: (checked.length - https) / intervalS, https: https / intervalS }
}
