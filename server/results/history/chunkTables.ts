import { type ResultsDatabase, type ResultsStatement, upsertSql } from '../database/resultsDatabase.ts'
import { ChunkWriter, decodeChunk } from './chunk.ts'
import { mergeResults, type StoredResult } from './storedResult.ts'

/** Factor in the number of a chunk: number = series × HOURS_MAX + hour of the day. */
const HOURS_MAX = 32
const DAY_HOURS = 24

/** Chunks read at once. */
export const CHUNKS_AT_ONCE = 50
/** A number that no chunk has. */
const NO_PLACE = -1

/** A chunk and the name of its table. */
interface Found {
  readonly table: string
  readonly bytes: Buffer
}

/** A table of chunks: those of one UTC day, stored for `retentionDays`. */
export interface ChunkTable {
  readonly name: string
  readonly retentionDays: number
  /** Since 1970. */
  readonly day: number
}

/** The chunk tables in `database`. */
export function listChunkTables(database: ResultsDatabase): readonly ChunkTable[] {
  return database.tablesWith('chunks_').flatMap((name) => {
    const [, retentionDays, day] = /^chunks_(\d+)_(\d+)$/.exec(name) ?? []
    return day === undefined ? [] : [{ name, retentionDays: Number(retentionDays), day: Number(day) }]
  })
}

/** Reads chunks, and writes them in the caller's transaction. */
export class ChunkTables {
  readonly #database: ResultsDatabase
  readonly #statements = new Map<string, ResultsStatement<readonly unknown[], Buffer>>()
  #byDay = new Map<number, readonly ChunkTable[]>()
  #schemaVersion = -1
  #fetchedHour = -1
  #fetched = new Map<number, Found | undefined>()

  constructor(database: ResultsDatabase) {
    this.#database = database
  }

  /** The stored results of a series in an hour since 1970, ordered by due time; `[]` without any. */
  results(series: number, hour: number): readonly StoredResult[] {
    const found = this.#find(series, hour)
    return found === undefined ? [] : decodeChunk(found.bytes)
  }

  /**
   * Merges `results` into the chunk of a series and hour, and returns all of its results. An existing chunk stays in
   * its table; a new one goes to the table of `retentionDays`.
   */
  merge(
    { series, hour }: { readonly series: number; readonly hour: number },
    results: readonly StoredResult[],
    retentionDays: number,
  ): readonly StoredResult[] {
    const found = this.#find(series, hour)
    const whole = found === undefined ? results : mergeResults(decodeChunk(found.bytes), results)
    const table = found?.table ?? this.#tableOf(retentionDays, Math.floor(hour / DAY_HOURS))
    this.#statement(upsertSql(table, ['place'], ['results'])).run(
      numberOf(series, hour),
      new ChunkWriter(whole).bytes,
    )
    return whole
  }

  /** Reads the chunks of an hour for at most CHUNKS_AT_ONCE series in one query, for later merges. */
  prefetch(series: readonly number[], hour: number): void {
    this.#fetched = new Map(series.map((each) => [numberOf(each, hour), undefined]))
    const places = Array.from({ length: CHUNKS_AT_ONCE }, (_, index) => {
      const each = series[index]
      return each === undefined ? NO_PLACE : numberOf(each, hour)
    })
    this.#fetchedHour = hour
    const wanted = places.map(() => '?').join(', ')
    for (const { name } of this.#tablesOf(Math.floor(hour / DAY_HOURS))) {
      const rows = this.#database
        .prepare<readonly number[], { place: number; bytes: Buffer }>(
          `SELECT place, results AS bytes FROM ${name} WHERE place IN (${wanted})`,
        )
        .all(...places)
      for (const { place, bytes } of rows) this.#fetched.set(place, { table: name, bytes })
    }
  }

  #find(series: number, hour: number): Found | undefined {
    const place = numberOf(series, hour)
    if (hour === this.#fetchedHour && this.#fetched.has(place)) {
      const found = this.#fetched.get(place)
      // Merges change the chunk.
      this.#fetched.delete(place)
      return found
    }
    for (const { name } of this.#tablesOf(Math.floor(hour / DAY_HOURS))) {
      const bytes = this.#statement(`SELECT results FROM ${name} WHERE place = ?`).pluck().get(place)
      if (bytes !== undefined) return { table: name, bytes }
    }
    return undefined
  }

  #tablesOf(day: number): readonly ChunkTable[] {
    const version = this.#database.schemaVersion()
    if (version !== this.#schemaVersion) {
      this.#schemaVersion = version
      this.#byDay = new Map()
      this.#statements.clear()
      for (const table of listChunkTables(this.#database)) {
        this.#byDay.set(table.day, [...(this.#byDay.get(table.day) ?? []), table])
      }
    }
    return this.#byDay.get(day) ?? []
  }

  #tableOf(retentionDays: number, day: number): string {
    const name = `chunks_${retentionDays}_${day}`
    if (!this.#tablesOf(day).some((table) => table.name === name)) {
      this.#database.createChunkTable(name)
    }
    return name
  }

  #statement(sql: string): ResultsStatement<readonly unknown[], Buffer> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare<readonly unknown[], Buffer>(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** The range of the numbers of a series' chunks: first, and first beyond. Pure. */
export function chunkNumbersOf(series: number): readonly [number, number] {
  return [series * HOURS_MAX, (series + 1) * HOURS_MAX]
}

function numberOf(series: number, hour: number): number {
  return series * HOURS_MAX + (hour % DAY_HOURS)
}
