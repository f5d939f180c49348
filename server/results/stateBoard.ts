import { seriesNumber } from '../domain/regions.ts'
import {
  afterResult,
  atInstant,
  endpointState,
  newSeries,
  SET_BACK_S_MAX,
  type SeriesResult,
  type SeriesState,
  type State,
  setBackTo,
  serviceState,
  staleFromS,
} from '../domain/serviceState.ts'
import { newService, type SeriesEntry, type ServiceEntry } from './boardEntries.ts'
import { BoardMemory } from './boardMemory.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'
import { reasonOfSeries } from './file/reasonOfSeries.ts'
import type { StoredState } from './file/resultsSchema.ts'
import type { MonitoredChange, MonitoredService } from './monitoredService.ts'
import { RoundWatch } from './roundWatch.ts'
import { setBackStates } from './setBackStates.ts'
import { prepareStateRows, type StateRows } from './stateRows.ts'

/**
 * The states of all monitored services, in memory and in the database. Every change runs inside `transact`; an error
 * there leaves both unchanged.
 */
export class StateBoard {
  readonly #memory: BoardMemory
  readonly #rows: StateRows
  readonly #rounds: RoundWatch
  #changed = new Set<string>()

  /** Loads the states of `database`, as `loadStates`. */
  constructor(database: ResultsDatabase, storeId: string) {
    this.#memory = new BoardMemory(database, storeId)
    this.#rows = prepareStateRows(database)
    this.#rounds = new RoundWatch(database, this.#rows, this.#memory)
  }

  /** Runs `work` in one transaction. Rethrows its error with nothing changed. */
  transact<Result>(work: () => Result): Result {
    return this.#memory.transact(work)
  }

  /** The series with this number; `undefined` when it never existed or was removed. */
  find(series: number): SeriesEntry | undefined {
    return this.#memory.series.get(series)
  }

  /** The state of an endpoint across its regions; `unknown` when it is not checked. */
  endpointStateOf(endpoint: number): State {
    const state = this.#memory.endpoints.get(endpoint)?.state
    return state === undefined || state === 'paused' || state === 'ended' ? 'unknown' : state
  }

  /** Applies a change of the monitored services at `nowS`. */
  update({ services, ended, isWhole }: MonitoredChange, nowS: number): void {
    for (const service of services) this.#updateService(service, nowS)
    const named = new Set(services.map(({ id }) => id))
    this.#end(isWhole ? [...this.#memory.services.keys()].filter((id) => !named.has(id)) : ended, nowS)
  }

  #end(serviceIds: readonly string[], nowS: number): void {
    for (const id of serviceIds) {
      const service = this.#memory.services.get(id)
      if (service === undefined) continue
      for (const endpoint of service.endpoints) this.#endEndpoint(endpoint, nowS)
      this.#rounds.end(id)
      this.#rows.removeService(id)
      this.#rows.markForRemoval(id, true)
      this.#rows.addServiceSpan(id, nowS, 'ended')
      this.#memory.set(this.#memory.services, id, undefined)
      this.#changed.add(id)
    }
  }

  /**
   * Applies a new result to the state of an active series, its endpoint and its service at `nowS`. A result that is too
   * old to be the current state, because an agent delivers it hours later, opens no incident, and leaves an unknown
   * series unknown: otherwise the next result would continue its state, and the time between them would count as known.
   */
  applyResult(seriesId: number, result: SeriesResult, nowS: number): void {
    const series = this.#memory.series.get(seriesId)
    if (series === undefined) return
    const { state: before, times } = series
    const after = afterResult(before, result, times)
    const { lastDueS, knownDueS } = after
    const isKnown = after !== before && knownDueS === result.dueS
    const isCurrent = isKnown && nowS < staleFromS(after, times)
    const isTooLate = isKnown && !isCurrent && before.state === 'unknown'
    this.#changeSeries(series, isTooLate ? { ...before, lastDueS, knownDueS } : after, result.dueS)
    const service = this.#memory.services.get(this.#memory.endpoints.get(series.endpoint)?.serviceId ?? '')
    if (service !== undefined && isCurrent)
      this.#rounds.afterResult(service, series, { dueS: result.dueS, nowS })
  }

  /**
   * Sets series to unknown when their last known result is too old at `nowS`. `isSetBack` says that the clock was set
   * back by more than SET_BACK_S_MAX since the last call, which a result that is due later shows too.
   */
  markStale(nowS: number, isSetBack = false): void {
    const newestS = this.#memory.newestDueS()
    const wasSetBack = isSetBack || newestS > nowS + SET_BACK_S_MAX
    for (const series of this.#memory.series.values()) {
      if (series.endedAtS !== null) continue
      const isAhead = wasSetBack && series.state.lastDueS > nowS
      const state = isAhead ? setBackTo(series.state, nowS) : atInstant(series.state, series.times, nowS)
      if (state === series.state) continue
      if (isAhead)
        setBackStates({ memory: this.#memory, rows: this.#rows }, series.endpoint, { nowS, newestS })
      this.#changeSeries(series, state, state.sinceS)
    }
  }

  /** Numbers of all series, recently ended ones included. */
  seriesNumbers(): readonly number[] {
    return [...this.#memory.series.keys()]
  }

  /** Writes the row of a series, which is otherwise written only when its state changes. */
  writeSeries(number: number): void {
    const entry = this.#memory.series.get(number)
    if (entry !== undefined && entry.endedAtS === null) this.#putSeries(entry)
  }

  /** Forgets a series whose history was removed. */
  forgetSeries(number: number): void {
    this.#memory.series.delete(number)
  }

  /** The active series of an endpoint, with their states. */
  seriesOf(endpoint: number): readonly SeriesEntry[] {
    return this.#memory.seriesOf(endpoint)
  }

  /** Ids of the services whose state or reasons changed since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed
    this.#changed = new Set()
    return changed
  }

  #updateService(update: MonitoredService, nowS: number): void {
    const { id, orgId, generation } = update
    const known = this.#memory.services.get(id)
    // A newer generation has already been applied.
    if (known !== undefined && known.generation > generation) return
    const endpoints = update.endpoints.map(({ number }) => number)
    const service: ServiceEntry = {
      ...(known === undefined ? newService(update, nowS) : { state: known.state, sinceS: known.sinceS }),
      ...{ id, orgId, generation, isPaused: update.pausedAtS !== null, endpoints },
    }
    this.#memory.set(this.#memory.services, id, service)
    this.#changed.add(id)
    if (known === undefined) {
      this.#rows.addServiceSpan(id, nowS, service.state)
      // A restored backup may bring a deleted service back.
      this.#rows.markForRemoval(id, false)
    }
    if (known === undefined || known.generation !== generation) this.#rows.putService(service)
    for (const number of known?.endpoints ?? []) {
      if (!endpoints.includes(number)) this.#endEndpoint(number, nowS)
    }
    for (const endpoint of update.endpoints) this.#updateEndpoint(update, endpoint, nowS)
    for (const number of endpoints) this.#refreshEndpoint(number, nowS)
    this.#refreshService(id, nowS)
    this.#rounds.update(service, update.steadyS, nowS)
  }

  #updateEndpoint(
    service: MonitoredService,
    { number, id, timeoutMs }: MonitoredService['endpoints'][number],
    nowS: number,
  ): void {
    const known = this.#memory.endpoints.get(number)
    const isPaused = service.pausedAtS !== null
    const regions = isPaused ? [] : service.regions
    const wanted = regions.map((region) => ({ region, series: seriesNumber(number, region) }))
    const numbers = wanted.map(({ series }) => series)
    for (const series of known?.series ?? []) {
      if (!numbers.includes(series)) this.#endSeries(series, nowS)
    }
    const { orgId, generation, intervalS } = service
    for (const { region, series } of wanted) {
      const before = this.#memory.series.get(series)
      const isRunning = before?.endedAtS === null
      if (isRunning && before.generation === generation) continue
      const state = isRunning ? before.state : { ...newSeries(nowS), lastDueS: before?.state.lastDueS ?? 0 }
      this.#putSeries({
        ...{ number: series, region, orgId, endpoint: number, generation, changedAtS: nowS },
        ...{ endedAtS: null, times: { intervalS, timeoutMs }, state },
      })
    }
    if (known !== undefined) {
      this.#memory.set(this.#memory.endpoints, number, { ...known, series: numbers })
      return
    }
    const state = isPaused ? 'paused' : 'unknown'
    const entry = { number, id, serviceId: service.id, orgId, series: numbers, state, sinceS: nowS } as const
    this.#memory.set(this.#memory.endpoints, number, entry)
    this.#rows.putEndpoint(entry)
    this.#rows.addSpan({ endpoint: number, fromS: nowS, state, regionsDown: '' })
  }

  #endEndpoint(number: number, nowS: number): void {
    const endpoint = this.#memory.endpoints.get(number)
    if (endpoint === undefined) return
    for (const series of endpoint.series) this.#endSeries(series, nowS)
    this.#rows.putEndpoint({ ...endpoint, state: 'ended', sinceS: nowS })
    this.#rows.addSpan({ endpoint: number, fromS: nowS, state: 'ended', regionsDown: '' })
    this.#memory.set(this.#memory.endpoints, number, undefined)
  }

  #endSeries(number: number, nowS: number): void {
    const series = this.#memory.series.get(number)
    // The row stays for a while, because checks in flight still report results.
    if (series !== undefined) this.#putSeries({ ...series, endedAtS: nowS })
  }

  #changeSeries(series: SeriesEntry, state: SeriesState, atS: number): void {
    const { state: before } = series
    const entry = { ...series, state }
    const isSame =
      before.state === state.state && before.clean === state.clean && before.reason === state.reason
    // A start reads `last_due_s` from the log: writing a row for each result would dirty a page each time.
    if (isSame) this.#memory.set(this.#memory.series, series.number, entry)
    else this.#putSeries(entry)
    const serviceId = this.#memory.endpoints.get(series.endpoint)?.serviceId
    if (serviceId !== undefined && !isSame) this.#changed.add(serviceId)
    if (before.state === state.state) return
    this.#refreshEndpoint(series.endpoint, atS)
    const service = this.#memory.services.get(serviceId ?? '')
    if (service === undefined) return
    this.#refreshService(service.id, atS)
    this.#rounds.refresh(service, atS)
  }

  #refreshEndpoint(number: number, atS: number): void {
    const endpoint = this.#memory.endpoints.get(number)
    if (endpoint === undefined) return
    const series = this.#memory.seriesOf(number)
    const isPaused = this.#memory.services.get(endpoint.serviceId)?.isPaused === true
    const state: StoredState = isPaused ? 'paused' : endpointState(series.map((one) => one.state.state))
    if (state === endpoint.state) return
    // Regions report at different times: a state never begins before its predecessor.
    const sinceS = Math.max(atS, endpoint.sinceS)
    const changed = { ...endpoint, state, sinceS }
    this.#memory.set(this.#memory.endpoints, number, changed)
    this.#rows.putEndpoint(changed)
    const down = series.filter((one) => one.state.state === 'down').map(({ region }) => region)
    this.#rows.addSpan({ endpoint: number, fromS: sinceS, state, regionsDown: down.join(',') })
  }

  #refreshService(id: string, atS: number): void {
    const service = this.#memory.services.get(id)
    if (service === undefined) return
    const states = service.endpoints.flatMap((number) => {
      const state = this.#memory.endpoints.get(number)?.state
      return state === undefined || state === 'paused' || state === 'ended' ? [] : [state]
    })
    const state: StoredState = service.isPaused ? 'paused' : serviceState(states)
    if (state === service.state) return
    const sinceS = Math.max(atS, service.sinceS)
    const changed = { ...service, state, sinceS }
    this.#memory.set(this.#memory.services, id, changed)
    this.#rows.putService(changed)
    this.#rows.addServiceSpan(id, sinceS, state)
    const body = JSON.stringify({ from: service.state, to: state, reasons: this.#reasonsOf(service) })
    this.#rows.addTransition({ atS: sinceS, serviceId: id, kind: 'service.state', body })
  }

  /** State and reason of each series of `service` that is not up. */
  #reasonsOf(service: ServiceEntry) {
    return service.endpoints.flatMap((number) => {
      const endpoint = this.#memory.endpoints.get(number)
      return (endpoint?.series ?? []).flatMap((one) => {
        const series = this.#memory.series.get(one)
        if (series === undefined || series.state.state === 'up') return []
        const { region, state } = series
        return [{ endpoint_id: endpoint?.id, region, state: state.state, reason: reasonOfSeries(state) }]
      })
    })
  }

  #putSeries(entry: SeriesEntry): void {
    const { number, endpoint, generation, changedAtS, endedAtS, times, state } = entry
    this.#memory.set(this.#memory.series, number, entry)
    this.#rows.putSeries({ series: number, endpoint, generation, changedAtS, endedAtS, ...times, ...state })
  }
}
