import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { Measurements, ServiceOverview } from '../../results/measurements/measurements.ts'
import { ResultsBusyError } from '../../results/threads/resultsBusyError.ts'
import type { Store } from '../../store/store.ts'

/** Most services that are kept, of all organisations: some hundred bytes each. */
const SERVICES_MAX = 50_000
/** Time after which all states are read again, whatever was reported as changed (milliseconds). */
const RENEW_MS = 30_000
/** Changed services that are read one by one; more are read with all others. */
const SINGLE_READS_MAX = 200
/** Services that are parsed in one turn. */
const TURN_SERVICES = 200

/** What lists show of a service and find it by. */
export interface ListedService {
  readonly id: string
  readonly name: string
  /** How many checks are made for each round. */
  readonly checks: number
  /** Codes of its regions. */
  readonly regions: readonly string[]
  readonly intervalS: number
  readonly pausedAt: string | null
  readonly createdAt: string
  /** Its name, and names and hosts of its endpoints, in lower case. */
  readonly searched: string
}

/** The services of an organisation. */
export interface ListedServices {
  /** By name. */
  readonly services: readonly ListedService[]
  /** What their checks say by id; one without a first result is absent. */
  readonly states: ReadonlyMap<string, ServiceOverview>
}

interface Kept {
  readonly byId: Map<string, { readonly generation: number; readonly service: ListedService }>
  services: readonly ListedService[]
  /** Count of commits under which the services were read; -1 for none. */
  changeCount: number
  states: Map<string, ServiceOverview>
  /** When all states were read (monotonic milliseconds). */
  statesAtMs: number
  /** Services whose state changed since. */
  readonly changed: Set<string>
  renewing: Promise<void> | undefined
}

/** What the index reads. */
export interface IndexSources {
  readonly store: Pick<Store, 'changeCount' | 'listServices' | 'serviceGenerations' | 'getService'>
  /** `undefined` when nothing is checked from this process. */
  readonly measurements: Pick<Measurements, 'states' | 'overview' | 'onChange'> | undefined
  /** Milliseconds of a clock that only runs forward. */
  readonly monotonicMs: () => number
}

/**
 * The services of organisations in short, with their states, in memory: a list of ten thousand is ordered, counted and
 * searched without reading them anew. What changed since is read before each answer.
 */
export class ServiceIndex {
  readonly #sources: IndexSources
  /** By organisation, the least recently used first. */
  readonly #kept = new Map<string, Kept>()
  readonly #stop: () => void

  constructor(sources: IndexSources) {
    this.#sources = sources
    const end = sources.measurements?.onChange((ids) => {
      for (const { byId, changed } of this.#kept.values()) {
        for (const id of ids) if (byId.has(id)) changed.add(id)
      }
    })
    this.#stop = end ?? (() => {})
  }

  /** The services of an organisation as they are now. Rejects with ResultsBusyError while the results thread is down. */
  async read(orgId: string): Promise<ListedServices> {
    const kept = this.#keptOf(orgId)
    // One that was under way may have begun before the change that this reader comes for.
    if (kept.renewing !== undefined) await kept.renewing.catch(() => {})
    if (!this.#isCurrent(kept)) {
      kept.renewing ??= this.#renew(orgId, kept).finally(() => {
        kept.renewing = undefined
      })
      await kept.renewing
    }
    return kept
  }

  /** As `read`, also while the results cannot be read: `states` is empty. */
  async readServices(orgId: string): Promise<ListedServices> {
    const kept = this.#keptOf(orgId)
    // The services are read before the states.
    await this.read(orgId).catch((error: unknown) => {
      if (!(error instanceof ResultsBusyError)) throw error
    })
    return { services: kept.services, states: new Map() }
  }

  /** Ends the subscription to changes. */
  stop(): void {
    this.#stop()
  }

  #keptOf(orgId: string): Kept {
    const kept = this.#kept.get(orgId) ?? {
      ...{ byId: new Map(), services: [], changeCount: -1, renewing: undefined },
      ...{ states: new Map(), statesAtMs: Number.NEGATIVE_INFINITY, changed: new Set<string>() },
    }
    this.#kept.delete(orgId)
    this.#kept.set(orgId, kept)
    return kept
  }

  #isCurrent({ changeCount, changed, statesAtMs }: Kept): boolean {
    const { store, measurements, monotonicMs } = this.#sources
    if (changeCount !== store.changeCount()) return false
    return measurements === undefined || (changed.size === 0 && monotonicMs() - statesAtMs < RENEW_MS)
  }

  async #renew(orgId: string, kept: Kept): Promise<void> {
    const changeCount = this.#sources.store.changeCount()
    if (changeCount !== kept.changeCount) {
      await this.#renewServices(orgId, kept)
      kept.changeCount = changeCount
      this.#shrink(orgId)
    }
    await this.#renewStates(orgId, kept)
  }

  async #renewServices(orgId: string, kept: Kept): Promise<void> {
    const { store } = this.#sources
    const { byId } = kept
    const generations = await store.serviceGenerations(orgId)
    const ids = [...generations].flatMap(([id, generation]) =>
      byId.get(id)?.generation === generation ? [] : [id],
    )
    const gone = [...byId.keys()].filter((id) => !generations.has(id))
    if (ids.length === 0 && gone.length === 0) return
    for (const id of gone) {
      byId.delete(id)
      kept.states.delete(id)
    }
    const read =
      ids.length > SINGLE_READS_MAX
        ? await store.listServices(orgId)
        : await Promise.all(ids.map((id) => store.getService(orgId, id)))
    for (const [index, found] of read.entries()) {
      if (found === undefined) continue
      // True because only rendered ServiceResponses are stored.
      const service = listed(JSON.parse(found.text) as ServiceResponse)
      byId.set(service.id, { generation: found.generation, service })
      // It may have a state by now.
      if (!kept.states.has(service.id)) kept.changed.add(service.id)
      if (index % TURN_SERVICES === TURN_SERVICES - 1) await new Promise(setImmediate)
    }
    const unchanged = kept.services.filter((service) => byId.get(service.id)?.service === service)
    const known = new Set(unchanged)
    const others = [...byId.values()].map(({ service }) => service).filter((service) => !known.has(service))
    // Sorting what is almost in order costs one comparison for each.
    kept.services = [...unchanged, ...others.sort(byName)].sort(byName)
  }

  async #renewStates(orgId: string, kept: Kept): Promise<void> {
    const { measurements, monotonicMs } = this.#sources
    if (measurements === undefined) return
    const ids = [...kept.changed]
    const nowMs = monotonicMs()
    kept.changed.clear()
    try {
      if (nowMs - kept.statesAtMs >= RENEW_MS || ids.length > SINGLE_READS_MAX) {
        const all = await measurements.overview(orgId)
        kept.states = new Map(all.map((state) => [state.id, state]))
        kept.statesAtMs = nowMs
      } else if (ids.length > 0) {
        for (const state of await measurements.states(orgId, ids)) kept.states.set(state.id, state)
      }
    } catch (error) {
      for (const id of ids) kept.changed.add(id)
      throw error
    }
  }

  #shrink(current: string): void {
    let count = [...this.#kept.values()].reduce((sum, { byId }) => sum + byId.size, 0)
    for (const [orgId, { byId }] of this.#kept) {
      if (count <= SERVICES_MAX) return
      if (orgId === current) continue
      this.#kept.delete(orgId)
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

/** The host of a URL: its path and query may hold a token. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

const COLLATOR = new Intl.Collator('en', { sensitivity: 'base', numeric: true })

function byName(a: ListedService, b: ListedService): number {
  return COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)
}
