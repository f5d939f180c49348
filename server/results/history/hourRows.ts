import { REGIONS_MAX } from '../../domain/regions.ts'
import { type ResultsDatabase, upsertSql } from '../database/resultsDatabase.ts'
import type { HourRollup } from './hourRollup.ts'

interface HourColumns extends Omit<HourRollup, 'phasesUs' | 'buckets'> {
  readonly hour: number
  readonly phasesUs: Buffer
  readonly buckets: Buffer
}

/** The rollup of an hour since 1970. */
export interface HourRow extends HourRollup {
  readonly hour: number
}

/** Prepares reading and writing rows of `hours`. */
export function prepareHourRows(database: ResultsDatabase) {
  const put = database.prepare(
    upsertSql(
      'hours',
      ['series', 'hour'],
      ['up', 'degraded', 'down', 'unknown', 'sum_us', 'min_us', 'max_us', 'phases_us', 'buckets'],
    ),
  )
  const select = `SELECT hour, up, degraded, down, unknown, sum_us AS "sumUs", min_us AS "minUs", max_us AS "maxUs",
    phases_us AS "phasesUs", buckets FROM hours`
  const between = database.prepare<[number, number, number], HourColumns>(
    `${select} WHERE series = ? AND hour >= ? AND hour < ? ORDER BY hour`,
  )
  const ofEndpoint = database.prepare<[number, number, number, number], HourColumns>(
    `${select} WHERE series >= ? AND series < ? AND hour >= ? AND hour < ?`,
  )
  return {
    put: (series: number, hour: number, rollup: HourRollup): void => {
      const { up, degraded, down, unknown, sumUs, minUs, maxUs, phasesUs, buckets } = rollup
      const counts = [up, degraded, down, unknown, sumUs, minUs, maxUs]
      put.run(series, hour, ...counts, pack(phasesUs), pack(buckets))
    },
    /** Rollups of a series from `fromHour` to before `untilHour`, oldest first. */
    between: (series: number, fromHour: number, untilHour: number): readonly HourRow[] =>
      between.all(series, fromHour, untilHour).map(hourRow),
    /** Rollups of all series of an endpoint, unordered, in one statement: most regions have none. */
    ofEndpoint: (endpoint: number, fromHour: number, untilHour: number): readonly HourRow[] =>
      ofEndpoint.all(endpoint * REGIONS_MAX, (endpoint + 1) * REGIONS_MAX, fromHour, untilHour).map(hourRow),
  }
}

function hourRow(row: HourColumns): HourRow {
  return { ...row, phasesUs: unpack(row.phasesUs), buckets: unpack(row.buckets) }
}

/** Numbers as varints: most of them are small. Pure. */
function pack(numbers: readonly number[]): Buffer {
  const bytes: number[] = []
  for (const number of numbers) {
    let left = number
    for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
    bytes.push(left)
  }
  return Buffer.from(bytes)
}

function unpack(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = []
  let [value, factor] = [0, 1]
  for (const byte of bytes) {
    value += (byte & 127) * factor
    factor *= 128
    if (byte >= 128) continue
    numbers.push(value)
    value = 0
    factor = 1
  }
  return numbers
}
