import { outcomeName, reasonName } from '../../../monitoring/protocol/outcomes.ts'
import { regionOfSeries, seriesOfEndpoint } from '../../domain/regions.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { listChunkTables } from '../history/chunkTables.ts'
import { HOUR_S, hourOf, type StoredResult } from '../history/storedResult.ts'
import type { ResultsQuery, ServiceResult } from './measurements.ts'
import { type MissedSlots, prepareMissedSlots } from './missedSlots.ts'
import { endpointsOf, type Query, type Sources } from './sources.ts'

/** Most recent hours, whose results may not be compacted: a disconnected agent delivers up to a day late. */
const OPEN_HOURS = 28
const DAY_HOURS = 24

interface SeriesOfService {
  readonly number: number
  readonly region: string
  readonly endpointId: string
  readonly missed: MissedSlots
}

/** See `Measurements.results`. Reads hour by hour, newest first, until there are enough results. */
export function* readResults(given: Sources, query: ResultsQuery): Query<readonly ServiceResult[]> {
  const sources = { ...given, results: keepNeighbours(given.results) }
  const { database, nowS } = sources
  const series = seriesOfQuery(sources, query)
  const isBehind = prepareCursor(query.before)
  const newestHour = Math.min(hourOf(nowS) + 1, cursorHour(query.before))
  const oldestHour = Math.max(hourOf(query.fromS ?? 0), oldestHourOf(database, nowS))
  const isSkipped = prepareSkip(database, nowS, query.isFailedOnly === true)
  const detailsOf = prepareDetails(database)
  const found: ServiceResult[] = []
  for (let hour = newestHour; hour >= oldestHour && series.length > 0; hour -= 1) {
    const ofHour = series
      .flatMap((one) => (isSkipped(one, hour) ? [] : resultsOfHour(sources, one, hour)))
      .filter(({ outcome }) => query.isFailedOnly !== true || outcome !== 'up')
      .filter((result) => result.atS >= (query.fromS ?? 0) && isBehind(result))
      .sort((a, b) => b.atS - a.atS || a.series - b.series)
    for (const { series: number, ...result } of ofHour) {
      // A query for each of the many slots that nothing checked would take most of the time.
      const hasNoDetails = result.outcome === 'up' || result.reason === 'not_checked'
      found.push({ ...result, details: hasNoDetails ? null : detailsOf(number, result.atS) })
      if (found.length >= query.limit) return found
    }
    yield
  }
  return found
}

/**
 * Keeps the last two hours of each series that `read` read. The search for missed slots reads an hour and the one before
 * it, and hours are read newest first.
 */
function keepNeighbours(read: Sources['results']): Sources['results'] {
  const kept = new Map<number, Map<number, readonly StoredResult[]>>()
  return (series, hour) => {
    const hours = kept.get(series) ?? new Map<number, readonly StoredResult[]>()
    kept.set(series, hours)
    const results = hours.get(hour) ?? read(series, hour)
    hours.set(hour, results)
    if (hours.size > 2) hours.delete(Math.max(...hours.keys()))
    return results
  }
}

type Found = Omit<ServiceResult, 'details'> & { readonly series: number }

function seriesOfQuery(
  sources: Sources,
  { serviceId, endpointId, region }: ResultsQuery,
): readonly SeriesOfService[] {
  return endpointsOf(sources.database, serviceId)
    .filter(({ id }) => endpointId === undefined || id === endpointId)
    .flatMap((endpoint) =>
      seriesOfEndpoint(endpoint.number).map((number) => ({ number, endpointId: endpoint.id })),
    )
    .map((one) => ({ ...one, region: regionOfSeries(one.number) ?? '' }))
    .filter((one) => region === undefined || one.region === region)
    .map((one) => ({ ...one, missed: prepareMissedSlots(sources, one.number) }))
}

function resultsOfHour(sources: Sources, series: SeriesOfService, hour: number): readonly Found[] {
  const stored = sources.results(series.number, hour).map((result) => named(series, result))
  return [...stored, ...series.missed.inHour(hour).map((atS) => notChecked(series, atS))]
}

function named({ number, region, endpointId }: SeriesOfService, result: StoredResult): Found {
  const { dueS, outcome, reason, status, attempts, generation, failed, firstReason, firstTotalUs } = result
  return {
    ...{ cursor: `${dueS}.${number}`, series: number, atS: dueS, region, endpointId },
    ...{ outcome: outcomeName(outcome), reason: reasonName(reason), attempts, generation },
    status: status === 0 ? null : status,
    phases: {
      dns: result.dnsUs,
      connect: result.connectUs,
      tls: result.tlsUs,
      wait: result.waitUs,
      body: result.bodyUs,
      total: result.totalUs,
    },
    failedAssertions: failed,
    first: attempts < 2 ? null : { reason: reasonName(firstReason), totalUs: firstTotalUs },
  }
}

function notChecked({ number, region, endpointId }: SeriesOfService, atS: number): Found {
  return {
    ...{ cursor: `${atS}.${number}`, series: number, atS, region, endpointId },
    ...{ outcome: 'unknown', reason: 'not_checked', status: null, attempts: 0, generation: 0 },
    phases: { dns: 0, connect: 0, tls: 0, wait: 0, body: 0, total: 0 },
    ...{ failedAssertions: 0, first: null },
  }
}

/** Whether the rollup of an hour shows that it has no matching results. */
function prepareSkip(database: ResultsDatabase, nowS: number, isFailedOnly: boolean) {
  const rollupOf = prepareRollups(database)
  const late = database.prepare('SELECT 1 FROM late WHERE series = ? AND due_s >= ? AND due_s < ? LIMIT 1')
  const openFrom = hourOf(nowS) - OPEN_HOURS
  return ({ number, missed }: SeriesOfService, hour: number): boolean => {
    const row = rollupOf(number, hour)
    if (row === undefined) return (hour < openFrom || !missed.isKnown) && missed.expectedIn(hour) === 0
    if (!isFailedOnly || row.others > 0 || row.up < missed.expectedIn(hour)) return false
    return late.get(number, hour * HOUR_S, (hour + 1) * HOUR_S) === undefined
  }
}

interface Rollup {
  readonly hour: number
  readonly up: number
  readonly others: number
}

/** Prepares reading the rollups of hours, newest first, with one query for each series and day. */
function prepareRollups(database: ResultsDatabase): (series: number, hour: number) => Rollup | undefined {
  const ofHours = database.prepare<[number, number, number], Rollup>(
    `SELECT hour, up, degraded + down + unknown AS others FROM hours
     WHERE series = ? AND hour >= ? AND hour < ?`,
  )
  const read = new Map<number, { readonly firstHour: number; readonly rollups: readonly Rollup[] }>()
  return (series, hour) => {
    const firstHour = hour - (hour % DAY_HOURS)
    const known = read.get(series)
    const day =
      known?.firstHour === firstHour
        ? known
        : { firstHour, rollups: ofHours.all(series, firstHour, firstHour + DAY_HOURS) }
    read.set(series, day)
    return day.rollups.find((rollup) => rollup.hour === hour)
  }
}

/** The oldest hour that may have results. */
function oldestHourOf(database: ResultsDatabase, nowS: number): number {
  const days = listChunkTables(database).map(({ day }) => day * DAY_HOURS)
  return Math.min(hourOf(nowS) - OPEN_HOURS, ...days)
}

function prepareDetails(database: ResultsDatabase) {
  const select = database.prepare<[number, number], NonNullable<ServiceResult['details']>>(
    'SELECT text, expected, seen FROM details WHERE series = ? AND due_s = ?',
  )
  return (series: number, dueS: number): ServiceResult['details'] => select.get(series, dueS) ?? null
}

function readCursor(before: string): { readonly dueS: number; readonly series: number } {
  const [, dueS, series] = /^(\d{1,12})\.(\d{1,15})$/.exec(before) ?? []
  if (series === undefined) throw new RangeError(`"${before}" is no cursor of a result`)
  return { dueS: Number(dueS), series: Number(series) }
}

function cursorHour(before: string | undefined): number {
  return before === undefined ? Number.POSITIVE_INFINITY : hourOf(readCursor(before).dueS)
}

function prepareCursor(before: string | undefined): (result: Found) => boolean {
  if (before === undefined) return () => true
  const { dueS, series } = readCursor(before)
  return (result) => result.atS < dueS || (result.atS === dueS && result.series > series)
}
