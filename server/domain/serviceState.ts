/**
 * States of series (one endpoint in one region), endpoints and services. A state depends only on results and time, so a
 * replay of the results gives the same states.
 */

/** The state of a monitored series, endpoint or service. */
export const STATES = ['up', 'degraded', 'down', 'unknown'] as const
export type State = (typeof STATES)[number]

/**
 * Grace period (seconds): a series becomes unknown after two intervals, the timeout and this time without a known
 * result.
 */
const STALE_GRACE_S = 30
/** Number of consecutive up results after which a series that was down is up. */
const CLEAN_RESULTS = 2
/** Check interval from which one up result is enough (seconds), because a second would delay recovery too long. */
const LONG_INTERVAL_S = 300

/**
 * How far ahead of the clock the newest result may be due (seconds). A larger lead means that the clock was set back,
 * as from a wrong time zone or date: that result would hide all others until its time comes again.
 */
export const SET_BACK_S_MAX = 15 * 60

/** The state of a series after its results. Instants are whole seconds since the epoch. */
export interface SeriesState {
  readonly state: State
  readonly sinceS: number
  /** Due time of the newest result; older results change nothing. */
  readonly lastDueS: number
  /** Due time of the newest result with an outcome other than unknown, from which staleness counts. */
  readonly knownDueS: number
  /** Number of up results since the series went down. */
  readonly clean: number
  /** Number of the newest reason for a state other than up; 0 for none. */
  readonly reason: number
}

/** The fields of a result that determine the state of its series. */
export interface SeriesResult {
  readonly dueS: number
  readonly outcome: State
  readonly reason: number
}

/** Interval and timeout of the checks of a series. */
export interface SeriesTimes {
  readonly intervalS: number
  readonly timeoutMs: number
}

/** A series without results from `sinceS` on. Pure. */
export function newSeries(sinceS: number): SeriesState {
  const neverS = 0
  return { state: 'unknown', sinceS, lastDueS: neverS, knownDueS: neverS, clean: 0, reason: 0 }
}

/**
 * `series` after `result`. A result that is not newer than the last one changes nothing. An unknown result keeps the
 * state; the series becomes stale when no other result follows. Pure.
 */
export function afterResult(
  series: SeriesState,
  { dueS, outcome, reason }: SeriesResult,
  { intervalS }: SeriesTimes,
): SeriesState {
  if (dueS <= series.lastDueS) return series
  if (outcome === 'unknown') {
    const seen = { ...series, lastDueS: dueS }
    return series.state === 'unknown' ? { ...seen, reason } : seen
  }
  const known = { ...series, lastDueS: dueS, knownDueS: dueS }
  if (outcome !== 'up') return withState({ ...known, clean: 0, reason }, outcome, dueS)
  if (series.state !== 'down') return withState({ ...known, reason: 0 }, 'up', dueS)
  const clean = series.clean + 1
  const isUpAgain = clean >= CLEAN_RESULTS || intervalS >= LONG_INTERVAL_S
  return isUpAgain ? withState({ ...known, clean: 0, reason: 0 }, 'up', dueS) : { ...known, clean }
}

/** The instant from which `series` is unknown unless a result arrives (seconds since the epoch). Pure. */
export function staleFromS(series: SeriesState, { intervalS, timeoutMs }: SeriesTimes): number {
  const seenS = Math.max(series.knownDueS, series.state === 'unknown' ? 0 : series.sinceS)
  return seenS + 2 * Math.max(1, intervalS) + Math.ceil(timeoutMs / 1_000) + STALE_GRACE_S
}

/**
 * `series` at `nowS`: unknown when its last known result is too old. After the clock was set back by more than
 * SET_BACK_S_MAX, its state and results count as of now. Pure.
 */
export function atInstant(series: SeriesState, times: SeriesTimes, nowS: number): SeriesState {
  if (series.lastDueS > nowS + SET_BACK_S_MAX) return setBackTo(series, nowS)
  const fromS = staleFromS(series, times)
  if (series.state === 'unknown' || nowS < fromS) return series
  return withState({ ...series, clean: 0, reason: 0 }, 'unknown', fromS)
}

/** `series` after the clock was set back to `nowS` by more than SET_BACK_S_MAX. Pure. */
export function setBackTo(series: SeriesState, nowS: number): SeriesState {
  const notAfterNow = (atS: number) => Math.min(atS, nowS)
  const { sinceS, lastDueS, knownDueS } = series
  return {
    ...series,
    sinceS: notAfterNow(sinceS),
    lastDueS: notAfterNow(lastDueS),
    knownDueS: notAfterNow(knownDueS),
  }
}

/**
 * The state of an endpoint whose series, one for each region, have `states`. It is unknown when fewer than half are
 * known, and down when more than half of the known ones are down. Fewer failing regions make it degraded, never up.
 * Pure.
 */
export function endpointState(states: readonly State[]): State {
  const known = states.filter((state) => state !== 'unknown')
  if (known.length === 0 || known.length < Math.ceil(states.length / 2)) return 'unknown'
  const down = known.filter((state) => state === 'down').length
  if (down > known.length / 2) return 'down'
  return known.every((state) => state === 'up') ? 'up' : 'degraded'
}

/**
 * The state of a service whose endpoints have `states`: the worst of them, but unknown only when all are unknown. Pure.
 */
export function serviceState(states: readonly State[]): State {
  if (states.includes('down')) return 'down'
  if (states.includes('degraded')) return 'degraded'
  return states.includes('up') ? 'up' : 'unknown'
}

function withState(series: SeriesState, state: State, atS: number): SeriesState {
  return series.state === state ? series : { ...series, state, sinceS: atS }
}
