import { OUTCOMES } from '../../../monitoring/protocol/outcomes.ts'
import { regionOfSeries, seriesOfEndpoint } from '../../domain/regions.ts'
import { type HourRollup, latenciesOf, quantileOf, rollUp } from '../history/hourRollup.ts'
import { prepareHourRows } from '../history/hourRows.ts'
import { HOUR_S, hourOf } from '../history/storedResult.ts'
import type { LatencyPoint, LatencyQuery, RegionLatency } from './measurements.ts'
import type { Query, Sources } from './sources.ts'

/** Periods up to this length use single results, longer ones hourly rollups (seconds). */
const RESULTS_PERIOD_S_MAX = 48 * HOUR_S
/** Most recent hours, which may not have a rollup yet. */
const OPEN_HOURS = 2
/** Maximum number of points of a line. */
const POINTS_MAX = 2_000
const [MEDIAN, P95] = [0.5, 0.95]

/** See `Measurements.latency`. Throws RangeError on a step that gives too many points. */
export function* readLatency(sources: Sources, query: LatencyQuery): Query<readonly RegionLatency[]> {
  const { endpointId, fromS, untilS } = query
  const isShort = untilS - fromS <= RESULTS_PERIOD_S_MAX
  const stepS = Math.max(query.stepS, isShort ? 1 : HOUR_S)
  const count = Math.ceil((untilS - fromS) / stepS)
  if (count > POINTS_MAX) throw new RangeError(`at most ${POINTS_MAX} points may be read at once`)
  const endpoint = sources.database
    .prepare<[string], number>(
      'SELECT e.number FROM endpoints e JOIN service_now s ON s.service_id = e.service_id WHERE e.id = ?',
    )
    .pluck()
    .get(endpointId)
  if (endpoint === undefined) return []
  const starts = Array.from({ length: Math.max(0, count) }, (_, index) => fromS + index * stepS)
  const lines: RegionLatency[] = []
  for (const series of seriesOfEndpoint(endpoint)) {
    const points = isShort
      ? yield* pointsOfResults(sources, series, { fromS, untilS, stepS }, starts)
      : pointsOfHours(sources, series, { fromS, untilS, stepS }, starts)
    if (points.some((point) => point.count > 0)) lines.push({ region: regionOfSeries(series) ?? '', points })
    yield
  }
  return lines
}

type Steps = Pick<LatencyQuery, 'fromS' | 'untilS' | 'stepS'>

function* pointsOfResults(
  { results }: Sources,
  series: number,
  { fromS, untilS, stepS }: Steps,
  starts: readonly number[],
): Query<readonly LatencyPoint[]> {
  const totals: number[][] = starts.map(() => [])
  for (let hour = hourOf(fromS); hour <= hourOf(untilS - 1); hour += 1) {
    for (const { dueS, outcome, totalUs } of results(series, hour)) {
      if (outcome === OUTCOMES.up) totals[Math.floor((dueS - fromS) / stepS)]?.push(totalUs)
    }
    yield
  }
  return starts.map((atS, index) => {
    const sorted = (totals[index] ?? []).sort((a, b) => a - b)
    return {
      atS,
      count: sorted.length,
      p50Ms: ms(quantileOf(sorted, MEDIAN)),
      p95Ms: ms(quantileOf(sorted, P95)),
      maxMs: ms(sorted.at(-1) ?? null),
    }
  })
}

function pointsOfHours(
  { database, nowS, results }: Sources,
  series: number,
  { fromS, untilS, stepS }: Steps,
  starts: readonly number[],
): readonly LatencyPoint[] {
  const rollups: HourRollup[][] = starts.map(() => [])
  const lastHour = hourOf(untilS - 1)
  const rows = prepareHourRows(database).between(series, hourOf(fromS), lastHour + 1)
  for (const row of rows) rollups[Math.max(0, Math.floor((row.hour * HOUR_S - fromS) / stepS))]?.push(row)
  for (
    let hour = Math.max(hourOf(nowS) - OPEN_HOURS, (rows.at(-1)?.hour ?? 0) + 1);
    hour <= lastHour;
    hour += 1
  ) {
    rollups[Math.max(0, Math.floor((hour * HOUR_S - fromS) / stepS))]?.push(rollUp(results(series, hour)))
  }
  return starts.map((atS, index) => {
    const { count, quantileUs, maxUs } = latenciesOf(rollups[index] ?? [])
    return { atS, count, p50Ms: ms(quantileUs(MEDIAN)), p95Ms: ms(quantileUs(P95)), maxMs: ms(maxUs) }
  })
}

function ms(us: number | null): number | null {
  return us === null ? null : us / 1_000
}
