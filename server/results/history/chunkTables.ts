import { type ResultsDatabase, type ResultsStatement, upsertSql } from '../database/resultsDatabase.ts'
import { ChunkWriter, decodeChunk } from './chunk.ts'
import { hourOf, mergeResults, type SeriesResult, type StoredResult } from './storedResult.ts'

/** Factor in the number of a chunk: number = series × HOURS_MAX + hour of the day. */
const HOURS_MAX = 32
const DAY_HOURS = 24

/** The series and the hour (since 1970) of a chunk. */
export interface ChunkKey {
  readonly series: number
  readonly hour: number
}

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
  #fetched = new Map<string, Found | undefined>()

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
    { series, hour }: ChunkKey,
    results: readonly StoredResult[],
    retentionDays: number,
  ): readonly StoredResult[] {
    const found = this.#find(series, hour)
    const whole = found === undefined ? results : mergeResults(decodeChunk(found.bytes), results)
    const table = found?.table ?? this.#tableOf(retentionDays, dayOf(hour))
    this.#statement(upsertSql(table, ['place'], ['results'])).run(
      numberOf(series, hour),
      new ChunkWriter(whole).bytes,
    )
    return whole
  }

  /** Reads the chunks of `keys` at once, for later merges. */
  prefetch(keys: readonly ChunkKey[]): void {
    this.#fetched = new Map(keys.map((key) => [textOf(key), undefined]))
    for (const [key, found] of this.#read(keys)) this.#fetched.set(textOf(key), found)
  }

  /** Those of `results` that are in no chunk. */
  missing(results: readonly SeriesResult[]): readonly SeriesResult[] {
    const keyOf = ([series, { dueS }]: SeriesResult): ChunkKey => ({ series, hour: hourOf(dueS) })
    const keys = new Map(results.map((result) => [textOf(keyOf(result)), keyOf(result)]))
    const stored = new Map<string, ReadonlySet<number>>()
    for (const [key, { bytes }] of this.#read([...keys.values()])) {
      stored.set(textOf(key), new Set(decodeChunk(bytes).map(({ dueS }) => dueS)))
    }
    return results.filter((result) => stored.get(textOf(keyOf(result)))?.has(result[1].dueS) !== true)
  }

  /** Reads the existing chunks of `keys`, all chunks of a table at once. */
  *#read(keys: readonly ChunkKey[]): Generator<readonly [ChunkKey, Found], void> {
    for (const day of new Set(keys.map(({ hour }) => dayOf(hour)))) {
      const places = keys
        .filter(({ hour }) => dayOf(hour) === day)
        .map(({ series, hour }) => numberOf(series, hour))
      for (const { name } of this.#tablesOf(day)) {
        for (const { place, results } of this.#database.chunksAt(name, places)) {
          const key = { series: Math.floor(place / HOURS_MAX), hour: day * DAY_HOURS + (place % HOURS_MAX) }
          yield [key, { table: name, bytes: results }]
        }
      }
    }
  }

  #find(series: number, hour: number): Found | undefined {
    const place = numberOf(series, hour)
    const fetched = textOf({ series, hour })
    if (this.#fetched.has(fetched)) {
      const found = this.#fetched.get(fetched)
      // Merges change the chunk.
      this.#fetched.delete(fetched)
      return found
    }
    for (const { name } of this.#tablesOf(dayOf(hour))) {
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

function dayOf(hour: number): number {
  return Math.floor(hour / DAY_HOURS)
}

function textOf({ series, hour }: ChunkKey): string {
  return `${series} ${hour}`
}
