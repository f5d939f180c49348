import { ChunkWriter, decodeChunk } from './chunk.ts'
import { hourOf, mergeResults, type StoredResult } from './storedResult.ts'

/** The results of the log, packed in memory by hour and series: reads and compaction need no scan of the log. */
export class OpenHours {
  readonly #hours = new Map<number, Map<number, ChunkWriter>>()

  /** Adds a result. Changes nothing when it exists. */
  add(series: number, result: StoredResult): void {
    const hour = hourOf(result.dueS)
    const ofHour = this.#hours.get(hour) ?? new Map<number, ChunkWriter>()
    this.#hours.set(hour, ofHour)
    const writer = ofHour.get(series)
    if (writer === undefined) ofHour.set(series, new ChunkWriter([result]))
    else writer.add(result)
  }

  /** The results of a series in an hour, ordered by due time. */
  results(series: number, hour: number): readonly StoredResult[] {
    const writer = this.#hours.get(hour)?.get(series)
    return writer === undefined ? [] : decodeChunk(writer.bytes)
  }

  /** The hours that have results, oldest first. */
  get hours(): readonly number[] {
    return [...this.#hours.keys()].sort((a, b) => a - b)
  }

  /** The series that have results in an hour, ordered by number. */
  seriesOf(hour: number): readonly number[] {
    return [...(this.#hours.get(hour)?.keys() ?? [])].sort((a, b) => a - b)
  }

  /** Forgets an hour: its results are in chunks. */
  dropHour(hour: number): void {
    this.#hours.delete(hour)
  }

  /** Forgets a series: its history was removed. */
  dropSeries(series: number): void {
    for (const ofHour of this.#hours.values()) ofHour.delete(series)
  }

  /** Adds the results of `other`; a result in both is kept once. */
  absorb(other: OpenHours): void {
    for (const [hour, ofHour] of other.#hours) {
      const own = this.#hours.get(hour)
      if (own === undefined) this.#hours.set(hour, ofHour)
      else {
        for (const [series, writer] of ofHour) {
          const known = own.get(series)
          if (known === undefined) own.set(series, writer)
          else
            own.set(
              series,
              new ChunkWriter(mergeResults(decodeChunk(known.bytes), decodeChunk(writer.bytes))),
            )
        }
      }
    }
  }
}
