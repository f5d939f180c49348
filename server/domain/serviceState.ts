/**
 * How it goes with what is checked: a series is one endpoint in one region, an endpoint is its series, a service its
 * endpoints. All of it is a value of results and time, so that a replay of the results gives the same states.
 */

/** How it goes with a series, an endpoint or a service that is checked. */
export const STATES = ['up', 'degraded', 'down', 'unknown'] as const
export type State = (typeof STATES)[number]

/** Time beyond two intervals and a timeout without a known result after which a series is unknown (seconds). */
const STALE_GRACE_S = 30
/** Results without a fault that a series needs to be up again. */
const CLEAN_RESULTS = 2
/** From this interval on one is enough: two would take too long to tell (seconds). */
const LONG_INTERVAL_S = 300

/** A series as its results left it. Instants are whole seconds since the epoch. */
export interface SeriesState {
  readonly state: State
  readonly sinceS: number
  /** When the newest result was due; older ones change nothing. */
  readonly lastDueS: number
  /** When the newest result was due that knew how it goes; what it is compared with to be stale. */
  readonly knownDueS: number
  /** Results without a fault since the series went down. */
  readonly clean: number
  /** Number of the newest reason that explains a state other than up; 0 for none. */
  readonly reason: number
}

/** What a result says of its series. */
export interface SeriesResult {
  readonly dueS: number
  readonly outcome: State
  readonly reason: number
}

/** How often a series is checked, and how long a check may take. */
export interface SeriesTimes {
  readonly intervalS: number
  readonly timeoutMs: number
}

/** A series of which nothing is known from `sinceS` on. Pure. */
export function newSeries(sinceS: number): SeriesState {
  const neverS = 0
  return { state: 'unknown', sinceS, lastDueS: neverS, knownDueS: neverS, clean: 0, reason: 0 }
}

/**
 * `series` after `result`. A result that is not newer than the last one changes nothing, and one that does not know how it
 * goes changes no state: the series becomes stale if they go on. Pure.
 */
export function afterResult(
  series: SeriesState,
  { dueS, outcome, reason }: SeriesResult,
  { intervalS }: SeriesTimes,
): SeriesState {
  if (dueS <= series.lastDueS) return series
  const seen = { ...series, lastDueS: dueS }
  if (outcome === 'unknown') {
    return series.state === 'unknown' ? { ...seen, reason } : seen
  }
  const known = { ...seen, knownDueS: dueS }
  if (outcome !== 'up') return turn({ ...known, clean: 0, reason }, outcome, dueS)
  if (series.state !== 'down') return turn({ ...known, reason: 0 }, 'up', dueS)
  const clean = series.clean + 1
  const isUpAgain = clean >= CLEAN_RESULTS || intervalS >= LONG_INTERVAL_S
  return isUpAgain ? turn({ ...known, clean: 0, reason: 0 }, 'up', dueS) : { ...known, clean }
}

/** The instant from which `series` is unknown unless a result comes (seconds since the epoch). Pure. */
export function staleFromS(series: SeriesState, { intervalS, timeoutMs }: SeriesTimes): number {
  const seenS = Math.max(series.knownDueS, series.state === 'unknown' ? 0 : series.sinceS)
  return seenS + 2 * Math.max(1, intervalS) + Math.ceil(timeoutMs / 1_000) + STALE_GRACE_S
}

/** `series` at `nowS`: unknown when its results stopped too long ago. Pure. */
export function atInstant(series: SeriesState, times: SeriesTimes, nowS: number): SeriesState {
  const fromS = staleFromS(series, times)
  if (series.state === 'unknown' || nowS < fromS) return series
  return turn({ ...series, clean: 0, reason: 0 }, 'unknown', fromS)
}

/**
 * The state of an endpoint whose series, one for each of its regions, have `states`. Fewer than half known: unknown. More
 * than half of the known down: down. A region that fails below that quorum is degraded, never up. Pure.
 */
export function endpointState(states: readonly State[]): State {
  const known = states.filter((state) => state !== 'unknown')
  if (known.length === 0 || known.length < Math.ceil(states.length / 2)) return 'unknown'
  const down = known.filter((state) => state === 'down').length
  if (down > known.length / 2) return 'down'
  return known.every((state) => state === 'up') ? 'up' : 'degraded'
}

/** The state of a service whose endpoints have `states`: the worst of them, and unknown only when all are. Pure. */
export function serviceState(states: readonly State[]): State {
  if (states.includes('down')) return 'down'
  if (states.includes('degraded')) return 'degraded'
  return states.includes('up') ? 'up' : 'unknown'
}

function turn(series: SeriesState, state: State, atS: number): SeriesState {
  return series.state === state ? series : { ...series, state, sinceS: atS }
}
