import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { OUTCOMES, type Outcome } from '../../monitoring/protocol/outcomes.ts'
import { cases } from '../../scripts/testing/torture.ts'
import { seriesNumber } from '../domain/regions.ts'
import { testEngineName } from '../testing/testEngine.ts'
import { removeAhead } from './history/retention.ts'
import { CheckCounts } from './checkCounts.ts'
import { OpenHours } from './history/openHours.ts'
import { ResultLog } from './history/resultLog.ts'
import { prepareIngest } from './ingest.ts'
import type { MonitoredService } from './monitoredService.ts'
import { StateBoard } from './stateBoard.ts'
import { openTestResults } from './testing/openTestResults.ts'
import { batchOf, detailOf, type TestResult } from './testing/resultMessages.ts'
import { prepareTransitions } from './transitionRows.ts'

/** Each run opens the results four times, which takes PostgreSQL longest. */
const RUNS = testEngineName() === 'postgres' ? cases(6, 100) : cases(25, 500)
const STORE = '0192b1d4-5c1e-7000-8000-00000000000a'
const OTHER = '0192b1d4-5c1e-7000-8000-00000000000b'
const SERVICE = '0192b1d4-5c1e-7000-8000-000000000001'
const START_S = 1_800_000_000
const DUBLIN = seriesNumber(7, 'eu-west-1')
const ASHBURN = seriesNumber(7, 'us-east-1')

let folder: string
let results: ReturnType<typeof open>

function open(storeId = STORE) {
  const { database } = openTestResults(folder)
  const board = new StateBoard(database, storeId)
  const log = new ResultLog(database, new OpenHours())
  const checks = new CheckCounts()
  const ingest = prepareIngest(database, board, log, (stored) => checks.add(stored))
  return {
    database,
    checks,
    board,
    update: (changes: Partial<MonitoredService> = {}, nowS = START_S, isWhole = false) =>
      board.transact(() =>
        board.update({ services: [{ ...service, ...changes }], ended: [], isWhole }, nowS),
      ),
    end: (nowS: number) =>
      board.transact(() => board.update({ services: [], ended: [SERVICE], isWhole: false }, nowS)),
    /** Sends results, by default when the last one is due. */
    send: (given: readonly TestResult[], nowS = given.at(-1)?.dueS ?? START_S, store = storeId) =>
      ingest([batchOf(store, given)], storeId, nowS * 1_000)[0],
    /** Sends results with their details. */
    ingest: (given: readonly TestResult[], nowS: number) =>
      ingest([batchOf(storeId, given, given.map(detailOf))], storeId, nowS * 1_000)[0],
    states: () =>
      database
        .prepare('SELECT series, state, since_s, clean, reason FROM series_states ORDER BY series')
        .all(),
    serviceStates: () =>
      database
        .prepare<[], object>('SELECT from_s, state FROM service_spans ORDER BY from_s')
        .all()
        .map((row: object) => Object.values(row)),
    count: () => database.prepare('SELECT count(*) FROM log').pluck().get(),
  }
}

/** The states of the series in memory. */
const statesBySeries = () =>
  new Map([DUBLIN, ASHBURN].map((series) => [series, results.board.find(series)?.state.state]))

const service: MonitoredService = {
  id: SERVICE,
  orgId: '0192b1d4-5c1e-7000-8000-000000000002',
  generation: 1,
  pausedAtS: null,
  intervalS: 60,
  steadyS: null,
  regions: ['eu-west-1', 'us-east-1'],
  endpoints: [{ number: 7, id: '0192b1d4-5c1e-7000-8000-000000000003', timeoutMs: 10_000 }],
}

beforeEach(() => {
  folder = testFolder()
  results = open()
})
afterEach(() => results.database.close())

/** One result of each region, `minute` minutes after the start. */
const round = (minute: number, dublin: Outcome, ashburn: Outcome = dublin): TestResult[] => [
  { series: DUBLIN, dueS: START_S + 60 * minute, outcome: dublin },
  { series: ASHBURN, dueS: START_S + 60 * minute + 5, outcome: ashburn },
]

test('a service is unknown until its first results, then follows them, and reports each change once', () => {
  results.update()
  results.send(round(1, 'up'))
  results.send(round(2, 'up', 'down'))
  results.send(round(3, 'down'))
  results.send([...round(4, 'up'), ...round(5, 'up')])

  expect(results.serviceStates()).toEqual([
    [START_S, 4],
    [START_S + 60, 1],
    [START_S + 125, 2],
    [START_S + 180, 3],
    [START_S + 300, 2],
    [START_S + 305, 1],
  ])
  const transitions = results.database
    .prepare<[], { body: string }>('SELECT at_s, kind, body FROM transitions ORDER BY sequence')
    .all()
  expect(transitions.length).toBe(5)
  expect(transitions[2]).toMatchObject({ at_s: START_S + 180, kind: 'service.state' })
  expect(JSON.parse(transitions[0]?.body ?? '').reasons).toMatchObject([
    { region: 'us-east-1', state: 'unknown', reason: 'no_result' },
  ])
})

test('of each series the newest fifty details are kept, whichever batch brings them', () => {
  results.update()
  const minutes = Array.from({ length: 70 }, (_, minute) => round(minute + 1, 'down'))
  const nowS = START_S + 70 * 60
  for (const given of [minutes.slice(40), minutes.slice(0, 30), minutes.slice(30, 40)]) {
    results.ingest(given.flat(), nowS)
  }

  const oldest = (series: number) =>
    results.database
      .prepare<[number], object>(
        'SELECT count(*) AS count, min(due_s) AS due_s FROM details WHERE series = ?',
      )
      .get(series)
  expect(oldest(DUBLIN)).toEqual({ count: 50, due_s: START_S + 21 * 60 })
  expect(oldest(ASHBURN)).toEqual({ count: 50, due_s: START_S + 21 * 60 + 5 })
})

test('a repeated batch stores nothing and changes no state', () => {
  results.update()
  const batch = [...round(1, 'down'), ...round(2, 'up')]
  const first = results.send(batch)
  const states = results.states()

  const again = results.send(batch)

  expect([first?.stored, first?.known]).toEqual([4, 0])
  expect([again?.stored, again?.known]).toEqual([0, 4])
  expect(results.states()).toEqual(states)
})

test('invalid results are refused, each with its reason, and the rest is stored', () => {
  results.update()
  const nowS = START_S + 86_400

  const response = results.send(
    [
      { series: DUBLIN, dueS: nowS + 60 },
      { series: DUBLIN, dueS: nowS - 27 * 3_600 },
      { series: seriesNumber(8, 'eu-west-1'), dueS: nowS },
      { series: seriesNumber(7, 'ap-northeast-1'), dueS: nowS },
      { series: DUBLIN, dueS: nowS },
    ],
    nowS,
  )
  const ofAnother = results.send([{ series: ASHBURN, dueS: nowS }], nowS, OTHER)

  expect(response?.refused.map(([, , reason]) => reason)).toEqual([
    'clock',
    'too_old',
    'unknown_series',
    'unknown_series',
  ])
  expect([response?.stored, ofAnother?.stored, ofAnother?.refused[0]?.[2]]).toEqual([1, 0, 'other_store'])
})

test('a result of a former definition is refused if it is later than the change, and is history if it is earlier', () => {
  results.update()
  results.send(round(1, 'up'))
  results.update({ generation: 2 }, START_S + 120)

  const late = results.send([{ series: DUBLIN, dueS: START_S + 110, outcome: 'down' }])
  const superseded = results.send([{ series: DUBLIN, dueS: START_S + 130, outcome: 'down' }])

  expect([late?.stored, superseded?.refused[0]?.[2]]).toEqual([1, 'superseded'])
  expect(results.serviceStates().at(-1)).toEqual([START_S + 60, 1])
})

test('a pause ends the series at once, and results of checks in progress are history', () => {
  results.update()
  results.send(round(1, 'up'))
  results.update({ generation: 2, pausedAtS: START_S + 90 }, START_S + 90)

  const before = results.send([{ series: DUBLIN, dueS: START_S + 89, outcome: 'down' }])
  const after = results.send([{ series: DUBLIN, dueS: START_S + 120, outcome: 'down' }])
  results.update({ generation: 3 }, START_S + 200)
  results.send([{ series: DUBLIN, dueS: START_S + 201, generation: 3 }])

  expect([before?.stored, after?.refused[0]?.[2]]).toEqual([1, 'ended'])
  expect(results.serviceStates().slice(2)).toEqual([
    [START_S + 90, 5],
    [START_S + 200, 4],
    [START_S + 201, 1],
  ])
})

test('a service that was paused before the results were lost is shown as paused since that time', () => {
  results.update({ pausedAtS: START_S - 86_400 })

  const states = results.database.prepare('SELECT since_s FROM service_now').pluck().all()
  expect(states).toEqual([START_S - 86_400])
  // Nothing is known of the time before, so no day counts it as paused.
  expect(results.serviceStates()).toEqual([[START_S, 5]])
})

test('a removed region leaves the quorum at once', () => {
  results.update()
  results.send(round(1, 'up', 'down'))
  results.update({ generation: 2, regions: ['eu-west-1'] }, START_S + 120)

  expect(results.serviceStates().at(-1)).toEqual([START_S + 120, 1])
  expect(results.send([{ series: ASHBURN, dueS: START_S + 185, generation: 2 }])?.refused[0]?.[2]).toBe(
    'ended',
  )
})

test('a deleted service is removed, and its results are refused', () => {
  results.update()
  results.send(round(1, 'up'))
  results.end(START_S + 100)

  expect(results.database.prepare('SELECT count(*) FROM service_now').pluck().get()).toBe(0)
  expect(results.send(round(2, 'up'))?.refused.map(([, , reason]) => reason)).toEqual(['ended', 'ended'])
})

test('a service without results becomes unknown, and up again with one result of each region that is not late', () => {
  results.update()
  results.send(round(1, 'up'))
  results.board.transact(() => results.board.markStale(START_S + 600))
  results.send(round(4, 'up'), START_S + 600)
  results.send(round(10, 'up'))

  const staleS = START_S + 60 + 2 * 60 + 10 + 30
  expect(results.serviceStates().slice(1)).toEqual([
    [START_S + 60, 1],
    [staleS + 5, 4],
    [START_S + 600, 1],
  ])
  const stale = results.database
    .prepare<[], { body: string }>(`SELECT body FROM transitions WHERE body LIKE '%"to":"unknown"%'`)
    .all()
  expect(stale.map(({ body }) => JSON.parse(body).reasons)).toMatchObject([
    [{ reason: 'stale' }, { region: 'us-east-1', state: 'unknown', reason: 'stale' }],
  ])
})

test('after a restore older generations are accepted, and services missing from the store are removed', () => {
  results.update({ generation: 9 })
  results.send([{ series: DUBLIN, dueS: START_S + 60, generation: 9 }])
  results.database.close()

  results = open(OTHER)
  results.update({ generation: 3 }, START_S + 100, true)

  expect(results.send([{ series: DUBLIN, dueS: START_S + 120, generation: 3 }])?.stored).toBe(1)
  results.board.transact(() =>
    results.board.update({ services: [], ended: [], isWhole: true }, START_S + 200),
  )
  expect(results.serviceStates().at(-1)).toEqual([START_S + 200, 6])
})

test('a restored store gets no transition from after its backup, and is told again that a service is up', () => {
  results.update({ steadyS: 120 })
  for (let minute = 1; minute < 9; minute += 1)
    results.send(round(minute, minute < 4 ? 'down' : 'up'), START_S + minute * 60)
  const kindsAfter = (sequence: number) =>
    prepareTransitions(results.database)
      .after(sequence)
      .map(({ kind }) => kind)
  const before = kindsAfter(2)
  results.database.close()

  results = open(OTHER)
  const restored = [kindsAfter(2), prepareTransitions(results.database).newest()]
  results.update({ steadyS: 120, generation: 2 }, START_S + 9 * 60, true)
  for (let minute = 10; minute < 14; minute += 1) {
    results.send(
      round(minute, 'up').map((result) => ({ ...result, generation: 2 })),
      START_S + minute * 60,
    )
  }

  expect(before).toContain('service.steady')
  expect(restored).toEqual([[], 0])
  expect(kindsAfter(2)).toEqual(['service.recovered', 'service.steady'])
})

test('a failing result that is too old to be the current state opens no incident', () => {
  results.update({ steadyS: 120 })
  const roundsAfter = (minute: number): number => {
    results.send(round(1, 'down'), START_S + minute * 60)
    return prepareTransitions(results.database)
      .after(0)
      .filter(({ kind }) => kind === 'service.round').length
  }

  expect(roundsAfter(180)).toBe(0)
  expect(roundsAfter(181)).toBe(0)
  results.send(round(182, 'down'), START_S + 182 * 60)
  expect(roundsAfter(182)).toBe(1)
})

test('results of a failed transaction change no state', () => {
  results.update()
  results.send(round(1, 'up'))
  const before = results.states()

  expect(() =>
    results.board.transact(() => {
      results.board.applyResult(DUBLIN, { dueS: START_S + 120, outcome: 'down', reason: 30 }, START_S + 120)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  results.send([{ series: DUBLIN, dueS: START_S + 180 }])

  expect(results.states()).toEqual(before)
})

test('after results in any order, a restart has the same states as the former process', () => {
  const outcomes = Object.keys(OUTCOMES) as Outcome[]
  const steps = fc.array(
    fc.record({
      minute: fc.integer({ min: 1, max: 40 }),
      region: fc.nat(1),
      outcome: fc.constantFrom(...outcomes),
    }),
    { minLength: 1, maxLength: 40 },
  )
  fc.assert(
    fc.property(steps, fc.nat(40), (given, restartAfter) => {
      const sent = given.map(({ minute, region, outcome }) => ({
        series: region === 0 ? DUBLIN : ASHBURN,
        dueS: START_S + 60 * minute,
        outcome,
      }))
      const play = (isRestarted: boolean) => {
        results.database.exec(
          'DELETE FROM log; DELETE FROM series_states; DELETE FROM endpoints; DELETE FROM service_now',
        )
        results.database.exec('DELETE FROM spans; DELETE FROM service_spans')
        results.database.close()
        results = open()
        results.update()
        for (const [index, result] of sent.entries()) {
          if (isRestarted && index === restartAfter) {
            results.database.close()
            results = open()
            results.update({}, START_S + 5_000, true)
          }
          results.send([result])
        }
        return [results.states(), results.serviceStates()]
      }
      expect(play(true)).toEqual(play(false))
    }),
    { numRuns: RUNS },
  )
})

test('each stored result is counted once, under its region and outcome', () => {
  const { checks } = results
  results.update()
  results.send([...round(1, 'up', 'down'), ...round(2, 'up')])
  results.send([...round(2, 'up'), { series: DUBLIN, dueS: START_S + 1e6, outcome: 'up' }], START_S + 120)
  results.database.exec('DROP TABLE late; DROP TABLE log')
  expect(() => results.send(round(3, 'up'))).toThrow(/no such table|does not exist/)

  expect(checks.takeChanged()).toEqual([
    { region: 'eu-west-1', outcome: 'up', count: 2 },
    { region: 'us-east-1', outcome: 'down', count: 1 },
    { region: 'us-east-1', outcome: 'up', count: 1 },
  ])
  expect(checks.takeChanged()).toBeUndefined()
})

test('after a clock was set back by an hour, results of times that have one already decide the states', () => {
  results.update()
  results.send([...round(1, 'up'), ...round(61, 'up')])
  results.board.transact(() => results.board.markStale(START_S + 30))

  const repeated = results.send(round(1, 'down'))

  expect(repeated).toMatchObject({ stored: 0, known: 2 })
  expect(results.serviceStates().at(-1)).toEqual([START_S + 65, 3])
})

test('after a clock was set back, also series whose last check was long before follow their results', () => {
  results.update({ intervalS: 600 })
  results.send([{ series: DUBLIN, dueS: START_S + 1_600 }])
  results.send([{ series: ASHBURN, dueS: START_S + 1_200 }])
  // Only one of the results is due more than a quarter of an hour later.
  results.board.transact(() => results.board.markStale(START_S + 690))
  results.send([{ series: ASHBURN, dueS: START_S + 700, outcome: 'down' }])
  const behindOther = statesBySeries()
  // Now none is, but the server has seen the step.
  results.board.transact(() => results.board.markStale(START_S + 600, true))
  results.send([{ series: DUBLIN, dueS: START_S + 650, outcome: 'down' }])

  expect(behindOther.get(ASHBURN)).toBe('down')
  expect(statesBySeries().get(DUBLIN)).toBe('down')
})

test('a region whose results are late by less than two intervals is no clock that was set back', () => {
  const transitionsOf = (kind: string) =>
    prepareTransitions(results.database)
      .after(0)
      .filter((transition) => transition.kind === kind)
      .map(({ atS }) => atS - START_S)
  const down = (series: number, dueS: number, nowS: number) =>
    results.send([{ series, dueS: START_S + dueS, outcome: 'down' }], START_S + nowS)
  const up = (series: number, dueS: number, nowS: number) =>
    results.send([{ series, dueS: START_S + dueS, outcome: 'up' }], START_S + nowS)
  results.update({ intervalS: 1_800, steadyS: 7_200 })

  down(DUBLIN, 3_600, 3_600)
  down(ASHBURN, 3_599, 3_610)
  up(ASHBURN, 5_399, 5_399)
  up(DUBLIN, 7_200, 7_200)
  up(ASHBURN, 6_100, 7_210)
  up(DUBLIN, 13_400, 13_400)
  const early = transitionsOf('service.steady')
  up(DUBLIN, 14_400, 14_400)

  expect(transitionsOf('service.round')).toEqual([3_600])
  expect([early, transitionsOf('service.steady')]).toEqual([[], [14_400]])
})

test('a service follows its results again when a clock that was a month ahead is set back', () => {
  const AHEAD_S = 30 * 86_400
  const transitionsOf = () =>
    results.database.prepare<[], string>('SELECT kind FROM transitions ORDER BY sequence').pluck().all()
  const later = (given: readonly TestResult[]) => given.map((one) => ({ ...one, dueS: one.dueS + AHEAD_S }))
  const markStale = (nowS: number) => results.board.transact(() => results.board.markStale(nowS))
  results.update({ steadyS: 60 }, START_S + AHEAD_S)
  results.send(later([...round(1, 'down'), ...round(2, 'up'), ...round(3, 'up')]), START_S + AHEAD_S + 200)
  const before = transitionsOf().length

  markStale(START_S)
  results.send(round(1, 'up'), START_S + 70)
  const steady = transitionsOf().slice(before)
  results.send([...round(2, 'up'), ...round(3, 'down')], START_S + 190)
  for (const slice of removeAhead(results.database, START_S + 200)) results.board.transact(slice)

  expect(steady).toEqual([])
  expect(results.serviceStates()).toEqual([
    [START_S, 1],
    [START_S + 180, 2],
    [START_S + 185, 3],
  ])
  expect(transitionsOf().slice(before)).toEqual([
    'service.steady',
    'service.state',
    'service.state',
    'service.round',
  ])
  expect(results.states()).toMatchObject([
    { series: DUBLIN, state: 3, since_s: START_S + 180 },
    { series: ASHBURN, state: 3, since_s: START_S + 185 },
  ])
})
