import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  afterResult,
  atInstant,
  endpointState,
  newSeries,
  SET_BACK_S_MAX,
  type SeriesResult,
  type SeriesState,
  type SeriesTimes,
  STATES,
  type State,
  serviceState,
  staleFromS,
} from './serviceState.ts'

const TIMES = { intervalS: 60, timeoutMs: 10_000 }
const START_S = 1_800_000_000
const REASON = 30

/** A series after one result a minute, with these outcomes. */
function after(outcomes: readonly State[], times = TIMES): SeriesState {
  return outcomes.reduce(
    (series, outcome, index) =>
      afterResult(
        series,
        { dueS: START_S + 60 * index, outcome, reason: outcome === 'up' ? 0 : REASON },
        times,
      ),
    newSeries(START_S - 60),
  )
}

test.each<[string, State[], State]>([
  ['a first good result is up at once', ['up'], 'up'],
  ['a confirmed failure is down at once', ['up', 'down'], 'down'],
  ['one good result after a failure is not up yet', ['down', 'up'], 'down'],
  ['two good results in a row after a failure are up', ['down', 'up', 'up'], 'up'],
  ['a failure in between restarts the count', ['down', 'up', 'down', 'up'], 'down'],
  ['degraded needs no second good result', ['degraded', 'up'], 'up'],
  ['a failing series that responds slowly is degraded', ['down', 'degraded'], 'degraded'],
  ['an unknown result changes nothing', ['up', 'unknown'], 'up'],
  ['an unknown result does not interrupt a row', ['down', 'up', 'unknown', 'up'], 'up'],
])('%s', (_, outcomes, state) => {
  expect(after(outcomes).state).toBe(state)
})

test('with an interval of five minutes one passed check is enough', () => {
  expect(after(['down', 'up'], { ...TIMES, intervalS: 300 }).state).toBe('up')
})

test('a state begins with the result that caused it', () => {
  expect(after(['up', 'up', 'down', 'down', 'up', 'up']).sinceS).toBe(START_S + 5 * 60)
})

test('a late or repeated result changes nothing', () => {
  const series = after(['up', 'down'])

  expect(afterResult(series, { dueS: START_S + 60, outcome: 'up', reason: 0 }, TIMES)).toBe(series)
  expect(afterResult(series, { dueS: START_S, outcome: 'up', reason: 0 }, TIMES)).toBe(series)
})

test('a series without results for two intervals, a timeout and half a minute becomes unknown', () => {
  const series = after(['down'])
  const staleS = START_S + 2 * 60 + 10 + 30

  expect(staleFromS(series, TIMES)).toBe(staleS)
  expect(atInstant(series, TIMES, staleS - 1)).toBe(series)
  expect(atInstant(series, TIMES, staleS + 900)).toMatchObject({ state: 'unknown', sinceS: staleS })
})

test('a series becomes unknown at that instant, keeps it from then on, and counts good results anew', () => {
  const series = after(['down', 'up'])
  const staleS = staleFromS(series, TIMES)

  const stale = atInstant(series, TIMES, staleS)
  expect(stale).toEqual({ ...series, state: 'unknown', sinceS: staleS, clean: 0, reason: 0 })
  expect(atInstant(stale, TIMES, staleS + 9_000)).toBe(stale)
})

test('a series whose results came late is not stale before its state is as old', () => {
  const series = { ...after(['up']), sinceS: START_S + 600 }

  expect(staleFromS(series, TIMES)).toBe(START_S + 600 + 160)
  expect(staleFromS({ ...series, state: 'unknown' }, TIMES)).toBe(START_S + 160)
})

test('after a clock was set back by more than a quarter of an hour, state and results count as of now', () => {
  const series = after(['down'])
  const nowS = START_S - SET_BACK_S_MAX - 1

  expect(SET_BACK_S_MAX).toBe(900)
  expect(atInstant(series, TIMES, nowS)).toEqual({
    ...series,
    sinceS: nowS,
    lastDueS: nowS,
    knownDueS: nowS,
  })
  expect(atInstant({ ...series, sinceS: 5 }, TIMES, nowS).sinceS).toBe(5)
  expect(atInstant(series, TIMES, nowS + 1)).toBe(series)
})

test('an unknown result gives a reason only to a series that is unknown', () => {
  expect(after(['down', 'unknown']).reason).toBe(REASON)
  expect(
    afterResult(after(['up']), { dueS: START_S + 60, outcome: 'unknown', reason: 82 }, TIMES).reason,
  ).toBe(0)
})

test('unknown results do not prevent a series from becoming stale, and give the reason', () => {
  const series = after(['up', 'unknown', 'unknown', 'unknown', 'unknown'])

  const stale = atInstant(series, TIMES, START_S + 4 * 60)
  const explained = afterResult(stale, { dueS: START_S + 300, outcome: 'unknown', reason: 82 }, TIMES)

  expect(stale.state).toBe('unknown')
  expect(explained).toMatchObject({ state: 'unknown', sinceS: stale.sinceS, reason: 82 })
})

test.each<[State[], State]>([
  [['down'], 'down'],
  [['up', 'down'], 'degraded'],
  [['down', 'down'], 'down'],
  [['up', 'down', 'down'], 'down'],
  [['up', 'up', 'down'], 'degraded'],
  [['up', 'up', 'down', 'down'], 'degraded'],
  [['up', 'down', 'down', 'down'], 'down'],
  [['up', 'unknown'], 'up'],
  [['down', 'unknown', 'unknown'], 'unknown'],
  [['down', 'down', 'unknown'], 'down'],
  [['up', 'degraded'], 'degraded'],
  [['unknown'], 'unknown'],
  [[], 'unknown'],
])('an endpoint whose regions are %j is %s', (states, state) => {
  expect(endpointState(states)).toBe(state)
})

test.each<[State[], State]>([
  [['up', 'down', 'unknown'], 'down'],
  [['up', 'degraded'], 'degraded'],
  [['up', 'unknown'], 'up'],
  [['unknown', 'unknown'], 'unknown'],
])('a service whose endpoints are %j is %s', (states, state) => {
  expect(serviceState(states)).toBe(state)
})

const anyState = fc.constantFrom(...STATES)

test('an endpoint with a failing region is never up, and the order of regions does not matter', () => {
  fc.assert(
    fc.property(fc.array(anyState, { maxLength: 8 }), (states) => {
      const state = endpointState(states)
      expect(endpointState(states.toReversed())).toBe(state)
      if (states.includes('down')) expect(state).not.toBe('up')
      if (state === 'down') {
        const down = states.filter((one) => one === 'down').length
        expect(down).toBeGreaterThan(states.filter((one) => one === 'up' || one === 'degraded').length / 2)
      }
    }),
  )
})

test('results in any order, with duplicates, give the same state as the newest ones in order', () => {
  const results = fc.array(
    fc.record({
      dueS: fc.integer({ min: START_S, max: START_S + 50 }),
      outcome: anyState,
      reason: fc.nat(90),
    }),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(results, (given) => {
      const series = given.reduce(
        (state, result) => afterResult(state, result, TIMES),
        newSeries(START_S - 1),
      )
      let newestS = 0
      const rising = given.filter(({ dueS }) => {
        const isNewer = dueS > newestS
        newestS = Math.max(newestS, dueS)
        return isNewer
      })
      const inOrder = rising.reduce(
        (state, result) => afterResult(state, result, TIMES),
        newSeries(START_S - 1),
      )
      expect(series).toEqual(inOrder)
      expect(series.sinceS).toBeLessThanOrEqual(Math.max(series.lastDueS, START_S))
    }),
  )
})

/**
 * A naive model: the state at `nowS` as docs/monitoring.md defines it, from all results so far, each time from the
 * beginning.
 */
function stateByDefinition(results: readonly SeriesResult[], times: SeriesTimes, nowS: number): State {
  const known = results.filter(({ outcome }) => outcome !== 'unknown')
  const silenceS = 2 * times.intervalS + times.timeoutMs / 1_000 + 30
  const isSilentAfter = (index: number): boolean =>
    (known[index + 1]?.dueS ?? nowS) - (known[index]?.dueS ?? 0) >= silenceS
  // Nothing before the last silence counts.
  const lastSilence = known.findLastIndex((_, index) => isSilentAfter(index))
  const counting = known.slice(lastSilence + 1).map(({ outcome }) => outcome)
  const last = counting.at(-1)
  if (last === undefined) return 'unknown'
  if (last !== 'up') return last
  const lastFailure = counting.findLastIndex((outcome) => outcome !== 'up')
  const passed = counting.length - 1 - lastFailure
  return counting[lastFailure] === 'down' && passed < 2 && times.intervalS < 300 ? 'down' : 'up'
}

const anyTimes = fc.constantFrom(
  ...[1, 10, 60, 299, 300, 3_600].map((intervalS) => ({ intervalS, timeoutMs: 10_000 })),
)
/** Outcomes of consecutive slots, some without a result, as from a flapping target and an agent that comes and goes. */
const anySlots = fc.array(fc.option(anyState, { nil: undefined, freq: 6 }), { maxLength: 120 })

/** The states of a series after each slot, from the results so far, evaluated every second as in the server. */
function played(slots: readonly (State | undefined)[], times: SeriesTimes) {
  let series = newSeries(START_S - 1)
  const results: SeriesResult[] = []
  return slots.map((outcome, index) => {
    const nowS = START_S + index * times.intervalS
    series = atInstant(series, times, nowS)
    if (outcome !== undefined) {
      const result = { dueS: nowS, outcome, reason: outcome === 'up' ? 0 : REASON }
      results.push(result)
      series = afterResult(series, result, times)
    }
    return { series, nowS, results: [...results] }
  })
}

test('after any sequence of outcomes and gaps a series has the state that the definition of states requires', () => {
  fc.assert(
    fc.property(anySlots, anyTimes, (slots, times) => {
      for (const { series, nowS, results } of played(slots, times)) {
        expect(series.state).toBe(stateByDefinition(results, times, nowS))
        expect(series.sinceS).toBeLessThanOrEqual(nowS)
      }
    }),
    { numRuns: 300 },
  )
})

test('a series that flaps comes up only after two passed checks in a row, so it changes at most twice in three results', () => {
  const outcomes = fc.array(fc.constantFrom<State>('up', 'down'), { maxLength: 200 })
  fc.assert(
    fc.property(outcomes, (slots) => {
      const states = played(slots, TIMES).map(({ series }) => series.state)
      const changedAt = states.flatMap((state, index) => (state === states[index - 1] ? [] : [index]))
      for (const at of changedAt.slice(1)) {
        if (states[at] === 'up') expect(slots.slice(at - 2, at + 1)).toEqual(['down', 'up', 'up'])
      }
      // The first result always counts as a change.
      expect(changedAt.length).toBeLessThanOrEqual(1 + Math.ceil((2 * Math.max(0, slots.length - 1)) / 3))
    }),
    { numRuns: 300 },
  )
})

test('a series whose checks alternately pass and fail stays down', () => {
  const states = played(
    Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 'down' : 'up')),
    TIMES,
  )

  expect(new Set(states.map(({ series }) => series.state))).toEqual(new Set(['down']))
})
