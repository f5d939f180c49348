import { parsedUrl } from '../../../api/contract/endpointUrl.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { Measurements, ServiceOverview } from '../../results/measurements/measurements.ts'
import { ResultsBusyError } from '../../results/threads/resultsBusyError.ts'
import type { RenderedService, Store } from '../../store/store.ts'

/** Maximum number of cached services of all organisations, some hundred bytes each. */
const SERVICES_MAX = 50_000
/** Time after which all states are read again, changed or not (milliseconds). */
const RENEW_MS = 30_000
/** Maximum number of changed services read one by one; beyond, all services are read. */
const SINGLE_READS_MAX = 200
/** Services read at a time when they are too long to be read together. */
const GROUP_SERVICES = 10
/** Characters of services parsed in one turn of the event loop. */
const STEP_CHARS = 256 * 1_024

/** A service in lists and searches. */
export interface ListedService {
  readonly id: string
  readonly name: string
  /** Checks per round. */
  readonly checks: number
  /** Codes of its regions. */
  readonly regions: readonly string[]
  readonly intervalS: number
  readonly pausedAt: string | null
  readonly createdAt: string
  /** Searchable text: its name, and names and hosts of its endpoints, in lower case. */
  readonly searched: string
}

/** The services of an organisation. */
export interface ListedServices {
  /** Ordered by name. */
  readonly services: readonly ListedService[]
  /** States by id; absent before the first result. */
  readonly states: ReadonlyMap<string, ServiceOverview>
}

interface CachedOrg {
  readonly byId: Map<string, { readonly generation: number; readonly service: ListedService }>
  services: readonly ListedService[]
  /** Change count at which the services were read; -1 for none. */
  changeCount: number
  states: Map<string, ServiceOverview>
  /** When all states were read (monotonic milliseconds). */
  statesAtMs: number
  /** Services whose state changed since. */
  readonly changed: Set<string>
  renewal: Promise<void> | undefined
}

/** Data sources of the index. */
export interface IndexSources {
  readonly store: Pick<
    Store,
    'changeCount' | 'listServices' | 'renderServices' | 'serviceGenerations' | 'getService'
  >
  /** `undefined` when this process reads no results. */
  readonly measurements: Pick<Measurements, 'states' | 'overview' | 'onChange'> | undefined
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
}

/**
 * Caches the services of organisations in short, with their states, so that lists of ten thousand can be ordered,
 * counted and searched. Changes are read before each response.
 */
export class ServiceIndex {
  readonly #sources: IndexSources
  /** By organisation, least recently used first. */
  readonly #cache = new Map<string, CachedOrg>()
  readonly #stop: () => void

  constructor(sources: IndexSources) {
    this.#sources = sources
    const end = sources.measurements?.onChange((ids) => {
      for (const { byId, changed } of this.#cache.values()) {
        for (const id of ids) if (byId.has(id)) changed.add(id)
      }
    })
    this.#stop = end ?? (() => {})
  }

  /** The current services of an organisation. Rejects with ResultsBusyError while the results thread is down. */
  async read(orgId: string): Promise<ListedServices> {
    const cached = this.#cacheOf(orgId)
    // A renewal in progress may have begun before the latest change.
    if (cached.renewal !== undefined) await cached.renewal.catch(() => {})
    if (!this.#isCurrent(cached)) {
      cached.renewal ??= this.#renew(orgId, cached).finally(() => {
        cached.renewal = undefined
      })
      await cached.renewal
    }
    return cached
  }

  /** As `read`, but with empty `states` and also while results cannot be read. */
  async readServices(orgId: string): Promise<ListedServices> {
    const cached = this.#cacheOf(orgId)
    const { services, changeCount } = cached
    if (changeCount === this.#sources.store.changeCount()) return { services, states: new Map() }
    // `read` renews the services before it fails on the states.
    await this.read(orgId).catch((error: unknown) => {
      if (!(error instanceof ResultsBusyError)) throw error
    })
    return { services: cached.services, states: new Map() }
  }

  /** Ends the subscription to changes. */
  stop(): void {
    this.#stop()
  }

  #cacheOf(orgId: string): CachedOrg {
    const cached = this.#cache.get(orgId) ?? {
      ...{ byId: new Map(), services: [], changeCount: -1, renewal: undefined },
      ...{ states: new Map(), statesAtMs: Number.NEGATIVE_INFINITY, changed: new Set<string>() },
    }
    this.#cache.delete(orgId)
    this.#cache.set(orgId, cached)
    return cached
  }

  #isCurrent({ changeCount, changed, statesAtMs }: CachedOrg): boolean {
    const { store, measurements, monotonicMs } = this.#sources
    if (changeCount !== store.changeCount()) return false
    return measurements === undefined || (changed.size === 0 && monotonicMs() - statesAtMs < RENEW_MS)
  }

  async #renew(orgId: string, cached: CachedOrg): Promise<void> {
    const changeCount = this.#sources.store.changeCount()
    if (changeCount !== cached.changeCount) {
      await this.#renewServices(orgId, cached)
      cached.changeCount = changeCount
      this.#shrink(orgId)
    }
    await this.#renewStates(orgId, cached)
  }

  async #renewServices(orgId: string, cached: CachedOrg): Promise<void> {
    const { byId } = cached
    const generations = await this.#sources.store.serviceGenerations(orgId)
    const ids = [...generations].flatMap(([id, generation]) =>
      byId.get(id)?.generation === generation ? [] : [id],
    )
    const removed = [...byId.keys()].filter((id) => !generations.has(id))
    if (ids.length === 0 && removed.length === 0) return
    for (const id of removed) {
      byId.delete(id)
      cached.states.delete(id)
    }
    let chars = 0
    for await (const found of this.#servicesOf(orgId, ids)) {
      if (found === undefined) continue
      // True because only rendered ServiceResponses are stored.
      const service = listed(JSON.parse(found.text) as ServiceResponse)
      byId.set(service.id, { generation: found.generation, service })
      // Its state may exist by now.
      if (!cached.states.has(service.id)) cached.changed.add(service.id)
      chars += found.text.length
      if (chars < STEP_CHARS) continue
      chars = 0
      await new Promise(setImmediate)
    }
    const unchanged = cached.services.filter((service) => byId.get(service.id)?.service === service)
    const known = new Set(unchanged)
    const others = [...byId.values()].map(({ service }) => service).filter((service) => !known.has(service))
    // Sorting an almost sorted array takes about one comparison per element.
    cached.services = [...unchanged, ...others.sort(byName)].sort(byName)
  }

  /** The services with these ids, or all if they are many and short. Definitions may have a gigabyte in all. */
  async *#servicesOf(orgId: string, ids: readonly string[]): AsyncGenerator<RenderedService | undefined> {
    const { store } = this.#sources
    if (ids.length > SINGLE_READS_MAX && (await store.renderServices(orgId)) !== undefined) {
      yield* await store.listServices(orgId)
      return
    }
    for (let at = 0; at < ids.length; at += GROUP_SERVICES) {
      yield* await Promise.all(ids.slice(at, at + GROUP_SERVICES).map((id) => store.getService(orgId, id)))
    }
  }

  async #renewStates(orgId: string, cached: CachedOrg): Promise<void> {
    const { measurements, monotonicMs } = this.#sources
    if (measurements === undefined) return
    const ids = [...cached.changed]
    const nowMs = monotonicMs()
    cached.changed.clear()
    try {
      if (nowMs - cached.statesAtMs >= RENEW_MS || ids.length > SINGLE_READS_MAX) {
        const all = await measurements.overview(orgId)
        cached.states = new Map(all.map((state) => [state.id, state]))
        cached.statesAtMs = nowMs
      } else if (ids.length > 0) {
        for (const state of await measurements.states(orgId, ids)) cached.states.set(state.id, state)
      }
    } catch (error) {
      for (const id of ids) cached.changed.add(id)
      throw error
    }
  }

  #shrink(current: string): void {
    let count = [...this.#cache.values()].reduce((sum, { byId }) => sum + byId.size, 0)
    for (const [orgId, { byId }] of this.#cache) {
      if (count <= SERVICES_MAX) return
      if (orgId === current) continue
      this.#cache.delete(orgId)
      count -= byId.size
    }
  }
}

function listed({ id, name, regions, endpoints, ...service }: ServiceResponse): ListedService {
  const texts = endpoints.flatMap((endpoint) => [endpoint.name ?? '', hostOf(endpoint.url)])
  return {
    id,
    name,
    checks: endpoints.length * regions.length,
    regions,
    intervalS: service.interval_secs,
    pausedAt: service.paused_at ?? null,
    createdAt: service.created_at,
    searched: [name, ...texts].join('\n').toLowerCase(),
  }
}

/** The host of a URL; path and query may contain a token. */
function hostOf(url: string): string {
  return parsedUrl(url)?.host ?? ''
}

const COLLATOR = new Intl.Collator('en', { sensitivity: 'base', numeric: true })

function byName(a: ListedService, b: ListedService): number {
  return COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)
}
