import type { EndpointEntry, SeriesEntry, ServiceEntry } from './boardEntries.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'
import { loadStates } from './loadStates.ts'

/** The states of all monitored services in memory. A failed transaction undoes the changes made with `set`. */
export class BoardMemory {
  readonly services: Map<string, ServiceEntry>
  readonly endpoints: Map<number, EndpointEntry>
  readonly series: Map<number, SeriesEntry>
  readonly #database: ResultsDatabase
  #undo: (() => void)[] = []

  /** Loads the states of `database`, as `loadStates`. */
  constructor(database: ResultsDatabase, storeId: string) {
    const { services, endpoints, series } = loadStates(database, storeId)
    this.#database = database
    this.services = services
    this.endpoints = endpoints
    this.series = series
  }

  /** Runs `work` in one transaction. Rethrows its error with nothing changed. */
  transact<Result>(work: () => Result): Result {
    this.#undo = []
    try {
      return this.#database.transact(work)
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo()
      throw error
    } finally {
      this.#undo = []
    }
  }

  /** Sets `key` of `map`, which may be another map than those of this memory; `undefined` deletes it. */
  set<Key, Entry>(map: Map<Key, Entry>, key: Key, entry: Entry | undefined): void {
    const before = map.get(key)
    this.#undo.push(() => {
      if (before === undefined) map.delete(key)
      else map.set(key, before)
    })
    if (entry === undefined) map.delete(key)
    else map.set(key, entry)
  }

  /** The active series of an endpoint. */
  seriesOf(endpoint: number): readonly SeriesEntry[] {
    return (this.endpoints.get(endpoint)?.series ?? []).flatMap((number) => this.series.get(number) ?? [])
  }

  /** Due time of the newest result of all active series (seconds since the epoch); 0 without any. */
  newestDueS(): number {
    let newestS = 0
    for (const { endedAtS, state } of this.series.values()) {
      if (endedAtS === null && state.lastDueS > newestS) newestS = state.lastDueS
    }
    return newestS
  }
}
