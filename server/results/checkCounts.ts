import { outcomeName } from '../../monitoring/protocol/outcomes.ts'
import { regionOfSeries } from '../domain/regions.ts'

/** Results of a region with an outcome. */
export interface CheckCount {
  readonly region: string
  readonly outcome: string
  readonly count: number
}

/** Counts the stored results of each region by their outcome. */
export class CheckCounts {
  readonly #counts = new Map<string, CheckCount>()
  #hasChanged = false

  /** Counts results, given as series and outcome code. */
  add(stored: readonly (readonly [series: number, outcome: number])[]): void {
    for (const [series, code] of stored) {
      const [region, outcome] = [regionOfSeries(series) ?? '', outcomeName(code)]
      const key = `${region} ${outcome}`
      this.#counts.set(key, { region, outcome, count: (this.#counts.get(key)?.count ?? 0) + 1 })
    }
    this.#hasChanged ||= stored.length > 0
  }

  /** All counts when one has changed since the last call; `undefined` otherwise. */
  takeChanged(): readonly CheckCount[] | undefined {
    if (!this.#hasChanged) return undefined
    this.#hasChanged = false
    return [...this.#counts.values()]
  }
}
