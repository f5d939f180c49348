import { replaceSql, type ResultsDatabase, type ResultsStatement } from '../database/resultsDatabase.ts'
import { ChunkWriter, decodeChunk } from './chunk.ts'
import { mergeResults, type StoredResult } from './storedResult.ts'

/** Hours for which a chunk's number has room: number = series × this + hour of the day. */
const HOURS_MAX = 32
const DAY_HOURS = 24

/** A table of chunks: those of one UTC day, stored for `retentionDays`. */
export interface ChunkTable {
  readonly name: string
  readonly retentionDays: number
  /** Since 1970. */
  readonly day: number
}

/** The tables of chunks in `database`. */
export function listChunkTables(database: ResultsDatabase): readonly ChunkTable[] {
  return database.tablesWith('chunks_').flatMap((name) => {
    const [, retentionDays, day] = /^chunks_(\d+)_(\d+)$/.exec(name) ?? []
    return day === undefined ? [] : [{ name, retentionDays: Number(retentionDays), day: Number(day) }]
  })
}

/** Where chunks are read, and written in transactions of the caller. */
export class ChunkTables {
  readonly #database: ResultsDatabase
  readonly #statements = new Map<string, ResultsStatement<readonly unknown[], Buffer>>()
  #byDay = new Map<number, readonly ChunkTable[]>()
  #schemaVersion = -1

  constructor(database: ResultsDatabase) {
    this.#database = database
  }

  /** The stored results of a series in an hour since 1970, ordered by due time; `[]` without any. */
  results(series: number, hour: number): readonly StoredResult[] {
    const found = this.#find(series, hour)
    return found === undefined ? [] : decodeChunk(found.bytes)
  }

  /**
   * Merges `results` into the chunk of a series and hour and returns the whole. A chunk stays in the table that has it; a new
   * one goes to the table of `retentionDays`.
   */
  merge(
    { series, hour }: { readonly series: number; readonly hour: number },
    results: readonly StoredResult[],
    retentionDays: number,
  ): readonly StoredResult[] {
    const found = this.#find(series, hour)
    const whole = found === undefined ? results : mergeResults(decodeChunk(found.bytes), results)
    const table = found?.table ?? this.#tableOf(retentionDays, Math.floor(hour / DAY_HOURS))
    this.#statement(replaceSql(table, ['place'], ['results'])).run(
      numberOf(series, hour),
      new ChunkWriter(whole).bytes,
    )
    return whole
  }

  #find(series: number, hour: number): { readonly table: string; readonly bytes: Buffer } | undefined {
    for (const { name } of this.#tablesOf(Math.floor(hour / DAY_HOURS))) {
      const bytes = this.#statement(`SELECT results FROM ${name} WHERE place = ?`)
        .pluck()
        .get(numberOf(series, hour))
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

/** The numbers of all chunks of a series in a table: from the first one, below the second. Pure. */
export function chunkNumbersOf(series: number): readonly [number, number] {
  return [series * HOURS_MAX, (series + 1) * HOURS_MAX]
}

function numberOf(series: number, hour: number): number {
  return series * HOURS_MAX + (hour % DAY_HOURS)
}
