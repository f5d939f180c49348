import { reasonName } from '../../monitoring/protocol/outcomes.ts'
import type { FailingRound, Recovery } from '../domain/autoIncidentTexts.ts'
import { SET_BACK_S_MAX } from '../domain/serviceState.ts'
import type { EndpointEntry, SeriesEntry, ServiceEntry } from './boardEntries.ts'
import type { BoardMemory } from './boardMemory.ts'
import { type ResultsDatabase, upsertSql } from './database/resultsDatabase.ts'
import type { StateRows } from './stateRows.ts'

/** Maximum number of endpoints explained in a failing round. */
const EXPLAINED_MAX = 5

/** Up time of a service with automatic incidents. */
interface Watch {
  /** Required uninterrupted up time (seconds); `null` until the main thread has sent it. */
  readonly steadyS: number | null
  /** Since when all of its endpoints are up (seconds since the epoch); `null` while one is not. */
  readonly clearSinceS: number | null
  /** Whether it was reported as steady since then. */
  readonly isSteady: boolean
}

/**
 * Watches services with automatic incidents. Writes a transition for each round with a down endpoint, when all
 * endpoints are up, and when they have been up for long enough, in the transaction of the causing results.
 */
export class RoundWatch {
  readonly #rows: Pick<StateRows, 'addTransition'>
  readonly #memory: BoardMemory
  readonly #watches = new Map<string, Watch>()
  /** The newest failing round of each endpoint. A round that is reported again after a restart counts once. */
  readonly #rounds = new Map<number, number>()
  readonly #put
  readonly #remove
  readonly #textOf

  constructor(database: ResultsDatabase, rows: Pick<StateRows, 'addTransition'>, memory: BoardMemory) {
    this.#rows = rows
    this.#memory = memory
    this.#put = database.prepare(upsertSql('service_watches', ['service_id'], ['clear_since_s', 'is_steady']))
    this.#remove = database.prepare('DELETE FROM service_watches WHERE service_id = ?')
    this.#textOf = database
      .prepare<[number], string>('SELECT text FROM details WHERE series = ? ORDER BY due_s DESC LIMIT 1')
      .pluck()
    const stored = database.prepare<[], { id: string; clearSinceS: number | null; isSteady: number }>(
      'SELECT service_id AS id, clear_since_s AS "clearSinceS", is_steady AS "isSteady" FROM service_watches',
    )
    for (const { id, clearSinceS, isSteady } of stored.all()) {
      this.#watches.set(id, { steadyS: null, clearSinceS, isSteady: isSteady === 1 })
    }
  }

  /** Applies a change of `service` at `nowS`; `steadyS` is `null` while it has no automatic incidents. */
  update(service: ServiceEntry, steadyS: number | null, nowS: number): void {
    if (steadyS === null) {
      this.end(service.id)
      return
    }
    const known = this.#watches.get(service.id)
    // A new service starts as not up: its incident may have been opened before results were lost.
    const watch = known ?? { clearSinceS: null, isSteady: false }
    this.#memory.set(this.#watches, service.id, { ...watch, steadyS })
    if (known === undefined) this.#put.run(service.id, null, 0)
    this.refresh(service, nowS)
  }

  end(serviceId: string): void {
    if (!this.#watches.has(serviceId)) return
    this.#memory.set(this.#watches, serviceId, undefined)
    this.#remove.run(serviceId)
  }

  /** Applies a change of the state of a series of `service` at `atS`. */
  refresh(service: ServiceEntry, atS: number): void {
    const watch = this.#watches.get(service.id)
    if (watch === undefined || watch.steadyS === null) return
    const isClear = this.#isClear(service)
    if (isClear === (watch.clearSinceS !== null)) return
    this.#change(service.id, { ...watch, clearSinceS: isClear ? atS : null, isSteady: false })
    if (isClear) this.#report(service.id, 'service.recovered', atS, { since_s: atS })
  }

  /** Applies a known result of an endpoint of `service`, due at `dueS`, at `nowS`. The states are already updated. */
  afterResult(
    service: ServiceEntry,
    { endpoint: number, times }: SeriesEntry,
    { dueS, nowS }: { readonly dueS: number; readonly nowS: number },
  ): void {
    const watch = this.#watches.get(service.id)
    if (watch === undefined || watch.steadyS === null) return
    const endpoint = this.#memory.endpoints.get(number)
    if (endpoint?.state === 'down') {
      this.#reportRound(service, endpoint, { times, dueS, nowS })
      return
    }
    const { clearSinceS, isSteady, steadyS } = watch
    if (clearSinceS === null || isSteady) return
    if (clearSinceS > nowS + SET_BACK_S_MAX) {
      this.#change(service.id, { ...watch, clearSinceS: dueS })
      return
    }
    if (dueS - clearSinceS < steadyS) return
    this.#change(service.id, { ...watch, isSteady: true })
    this.#report(service.id, 'service.steady', dueS, { since_s: clearSinceS })
  }

  #change(serviceId: string, watch: Watch): void {
    this.#memory.set(this.#watches, serviceId, watch)
    this.#put.run(serviceId, watch.clearSinceS, Number(watch.isSteady))
  }

  /** Whether all endpoints are up. Endpoints that were never known, such as forbidden addresses, are left out. */
  #isClear({ endpoints, isPaused }: ServiceEntry): boolean {
    if (isPaused) return false
    const known = endpoints
      .flatMap((number) => this.#memory.endpoints.get(number) ?? [])
      .filter(({ state, series }) => state !== 'unknown' || series.some((one) => this.#wasKnown(one)))
    return known.length > 0 && known.every(({ state }) => state === 'up')
  }

  #wasKnown(series: number): boolean {
    return (this.#memory.series.get(series)?.state.knownDueS ?? 0) > 0
  }

  #reportRound(
    service: ServiceEntry,
    endpoint: EndpointEntry,
    { times, dueS, nowS }: Pick<SeriesEntry, 'times'> & { readonly dueS: number; readonly nowS: number },
  ): void {
    const intervalS = Math.max(1, times.intervalS)
    const round = Math.floor(dueS / intervalS)
    const newest = this.#rounds.get(endpoint.number) ?? 0
    // A round that has not begun yet was reported before the clock was set back. Regions also report late.
    if (round <= newest && newest * intervalS <= nowS + SET_BACK_S_MAX) return
    this.#memory.set(this.#rounds, endpoint.number, round)
    const named = { endpoint_id: endpoint.id, round, interval_s: intervalS }
    this.#report(service.id, 'service.round', dueS, { ...named, ...this.#downOf(service) })
  }

  #downOf(service: ServiceEntry): Omit<FailingRound, 'endpoint_id' | 'round' | 'interval_s'> {
    const endpoints = service.endpoints.flatMap((number) => this.#memory.endpoints.get(number) ?? [])
    const down = endpoints.filter(({ state }) => state === 'down')
    const series = down.map((endpoint) =>
      endpoint.series.flatMap((one) => this.#memory.series.get(one) ?? []),
    )
    const regionsOf = (entries: readonly SeriesEntry[]) =>
      entries.filter(({ state }) => state.state === 'down').map(({ region }) => region)
    return {
      mark: down.map(({ number }) => number).join(),
      down_count: down.length,
      endpoint_count: endpoints.length,
      regions: [...new Set(series.flatMap(regionsOf))],
      is_everywhere:
        down.length === endpoints.length &&
        series.flat().every(({ state }) => state.state === 'down' || state.state === 'unknown'),
      explained: down.slice(0, EXPLAINED_MAX).map(({ id }, index) => ({
        endpoint_id: id,
        regions: regionsOf(series[index] ?? []),
        text: this.#reasonOf(series[index] ?? []),
      })),
    }
  }

  #reasonOf(series: readonly SeriesEntry[]): string {
    const first = series.find(({ state }) => state.state === 'down')
    if (first === undefined) return 'no reason is known'
    return this.#textOf.get(first.number) ?? reasonName(first.state.reason)
  }

  #report(
    serviceId: string,
    kind: 'service.round' | 'service.recovered' | 'service.steady',
    atS: number,
    body: FailingRound | Recovery,
  ): void {
    this.#rows.addTransition({ atS, serviceId, kind, body: JSON.stringify(body) })
  }
}
