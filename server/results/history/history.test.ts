import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cases } from '../../../scripts/testing/torture.ts'
import { seriesNumber } from '../../domain/regions.ts'
import { testEngineName } from '../../testing/testEngine.ts'
import { prepareResults } from '../measurements/sources.ts'
import { monitoredService, ORG, openedResults } from '../testing/openedResults.ts'
import type { TestResult } from '../testing/resultMessages.ts'
import { listChunkTables } from './chunkTables.ts'

/** A run takes PostgreSQL half a second. */
const RUNS = testEngineName() === 'postgres' ? cases(3, 50) : cases(8, 200)
const DAY_S = 86_400
const HOUR_S = 3_600
/** A midnight. */
const START_S = 20_800 * DAY_S

const [one, two] = [monitoredService(1), monitoredService(2)]
const ONE = seriesNumber(1, 'eu-west-1')
const TWO = seriesNumber(2, 'eu-west-1')

let folders: string[]

beforeEach(() => {
  folders = []
})
afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-history-'))
  folders.push(folder)
  return folder
}

type Opened = ReturnType<typeof openedResults>

/** A result each minute of `minutes` from `fromS` on. */
function minutes(
  series: number,
  fromS: number,
  count: number,
  outcome: TestResult['outcome'] = 'up',
): TestResult[] {
  return Array.from({ length: count }, (_, minute) => ({
    ...{ series, dueS: fromS + 60 * minute, totalUs: 10_000 + minute },
    ...(outcome === undefined ? {} : { outcome }),
  }))
}

/** Every row of every table by its key, internal counters aside. */
function dump({ database }: Opened) {
  const tables = database
    .tablesWith('')
    .toSorted()
    .filter((name) => name !== 'meta' && !name.startsWith('sqlite_'))
  const rows = (name: string) =>
    database.prepare(`SELECT * FROM ${name} ORDER BY ${database.keyOf(name).join(', ')}`).all()
  return Object.fromEntries(tables.map((name) => [name, rows(name)]))
}

const count = ({ database }: Opened, table: string): unknown =>
  database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()

test('a compaction that is interrupted anywhere and repeated gives the result of an uninterrupted one', () => {
  const fill = (opened: Opened): void => {
    opened.update([one, two], START_S)
    opened.send([...minutes(ONE, START_S, 110), ...minutes(TWO, START_S, 110, 'down')], START_S + 110 * 60)
    opened.keep(START_S + HOUR_S + 400)
    // Late results of the hour that is compacted.
    opened.send(
      [
        { series: ONE, dueS: START_S + 90 },
        { series: TWO, dueS: START_S + 30 },
      ],
      START_S + 110 * 60,
    )
  }
  const nowS = START_S + 2 * HOUR_S + 400
  const straight = openedResults(newFolder())
  fill(straight)
  straight.keep(nowS)
  const expected = dump(straight)
  straight.database.close()

  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 3 }), (interruptions) => {
      const folder = newFolder()
      let opened = openedResults(folder)
      fill(opened)
      for (const slices of interruptions) {
        opened.keep(nowS, slices)
        opened.database.close()
        opened = openedResults(folder)
      }
      opened.keep(nowS)

      expect(dump(opened)).toEqual(expected)
      expect([count(opened, 'log'), count(opened, 'late')]).toEqual([0, 0])
      opened.database.close()
    }),
    { numRuns: RUNS },
  )
})

test('results of the log, of the open hour, of chunks and late ones form one sequence without duplicates', async () => {
  const opened = openedResults(newFolder())
  opened.update([one], START_S)
  const sent: TestResult[] = []
  for (let hour = 0; hour < 50; hour += 1) {
    const ofHour = minutes(ONE, START_S + hour * HOUR_S, 60).filter((_, minute) => minute !== 30)
    sent.push(...ofHour)
    opened.send(ofHour, START_S + (hour + 1) * HOUR_S)
    if (hour % 8 === 0) opened.keep(START_S + (hour + 1) * HOUR_S + 400)
  }
  const nowS = START_S + 50 * HOUR_S
  const late = [26, 27, 48].map((hour) => ({ series: ONE, dueS: START_S + hour * HOUR_S + 1_800 }))
  const responses = opened.send([...late, ...sent.slice(-70)], nowS)
  const { results } = opened.measurements(nowS)

  const found = []
  for (let before: string | undefined; ; ) {
    const page = await results({ serviceId: one.id, limit: 400, before, fromS: START_S })
    found.push(...page.filter(({ reason }) => reason !== 'not_checked'))
    before = page.at(-1)?.cursor
    if (page.length < 400) break
  }

  expect(responses.map(({ stored, known }) => [stored, known])).toEqual([[3, 70]])
  expect(found.map(({ atS }) => atS)).toEqual(
    [...sent, ...late].map(({ dueS }) => dueS).sort((a, b) => b - a),
  )
  opened.database.close()
})

test('a result that is repeated while its hour is compacted, or after that, is recognised', () => {
  const opened = openedResults(newFolder())
  opened.update([one], START_S)
  const sent = minutes(ONE, START_S, 60)
  opened.send(sent, START_S + HOUR_S)

  const known: unknown[] = []
  for (let slices = 0, isOver = false; !isOver; slices += 1) {
    isOver = opened.keep(START_S + HOUR_S + 400, slices)
    known.push(opened.send([...sent, ...sent], START_S + HOUR_S + 400)[0]?.known)
  }

  expect(known.length).toBeGreaterThan(5)
  expect(new Set(known)).toEqual(new Set([120]))
  opened.database.close()
})

test('results that the upkeep packs while another process reads them are not missed', () => {
  const opened = openedResults(newFolder())
  opened.update([one], START_S)
  opened.send(minutes(ONE, START_S, 30), START_S + HOUR_S)
  opened.keep(START_S + HOUR_S + 400)
  opened.send(minutes(ONE, START_S + 1_800, 30), START_S + HOUR_S + 400)
  const read = prepareResults(opened.database, {
    results: () => {
      opened.keep(START_S + HOUR_S + 400)
      return []
    },
  })

  expect(read(ONE, START_S / HOUR_S)).toHaveLength(60)
  opened.database.close()
})

test('results delivered in any order, late and repeated, are stored as those delivered once in order', () => {
  const HOURS = 3
  const nowS = START_S + HOURS * HOUR_S
  const dueS = (minute: number): number => START_S + 60 * minute
  const result = fc.record({
    series: fc.constantFrom(ONE, TWO),
    dueS: fc.integer({ min: 0, max: HOURS * 60 - 1 }).map(dueS),
  })
  const delivery = fc.record({
    results: fc.array(result, { maxLength: 60 }),
    slices: fc.option(fc.oneof(fc.nat(5), fc.nat(60))),
    isKilled: fc.boolean(),
  })
  const stored = (opened: Opened) =>
    Object.entries(dump(opened)).filter(([table]) => /^(?:chunks_|hours|late|log)/.test(table))

  fc.assert(
    fc.property(fc.array(delivery, { maxLength: 8 }), (deliveries) => {
      const sent = new Map<string, TestResult>()
      const folder = newFolder()
      let opened = openedResults(folder)
      opened.update([one, two], START_S)
      for (const { results, slices, isKilled } of deliveries) {
        const before = sent.size
        for (const each of results) sent.set(`${each.series} ${each.dueS}`, each)
        const [response] = opened.send(results, nowS)
        expect(response?.stored ?? 0).toBe(sent.size - before)
        expect(response?.known ?? 0).toBe(results.length - sent.size + before)
        if (slices !== null) opened.keep(nowS + 400, slices)
        if (!isKilled) continue
        opened.database.close()
        opened = openedResults(folder)
      }
      opened.keep(nowS + 400)
      const inOrder = openedResults(newFolder())
      inOrder.update([one, two], START_S)
      inOrder.send(
        [...sent.values()].sort((a, b) => a.dueS - b.dueS),
        nowS,
      )
      inOrder.keep(nowS + 400)

      expect(stored(opened)).toEqual(stored(inOrder))
      opened.database.close()
      inOrder.database.close()
    }),
    { numRuns: RUNS },
  )
})

test('late results correct the rollup of their hour and the checks of their day, not the seconds', async () => {
  const opened = openedResults(newFolder())
  opened.update([one], START_S)
  opened.send(minutes(ONE, START_S, 30), START_S + 1_800)
  opened.board.transact(() => opened.board.markStale(START_S + 3_000))
  opened.send(minutes(ONE, START_S + HOUR_S, 60), START_S + 2 * HOUR_S)
  opened.keep(START_S + 2 * HOUR_S + 400)
  const before = await opened.measurements(START_S + 3 * HOUR_S).days([one.id], '2026-12-13', '2026-12-13')

  opened.send(minutes(ONE, START_S + 1_800, 30), START_S + 2 * HOUR_S + 500)
  opened.keep(START_S + 3 * HOUR_S + 400)
  const after = await opened.measurements(START_S + 3 * HOUR_S).days([one.id], '2026-12-13', '2026-12-13')
  opened.keep(START_S + 3 * DAY_S)

  expect(
    opened.database
      .prepare('SELECT up FROM hours WHERE hour = ?')
      .pluck()
      .get(START_S / HOUR_S),
  ).toBe(60)
  expect(after).toEqual(before)
  expect(opened.database.prepare('SELECT checks, checks_up FROM endpoint_days').get()).toEqual({
    checks: 120,
    checks_up: 120,
  })
  opened.database.close()
})

test('days have the seconds of each state, with maintenance in place of a state, and do not change later', async () => {
  const opened = openedResults(newFolder(), {
    maintenance: [
      { serviceId: one.id, fromS: START_S + DAY_S + HOUR_S, untilS: START_S + DAY_S + 2 * HOUR_S },
      { serviceId: one.id, fromS: START_S + DAY_S + HOUR_S, untilS: START_S + DAY_S + HOUR_S + 60 },
    ],
  })
  opened.update([one], START_S + 12 * HOUR_S)
  opened.send([{ series: ONE, dueS: START_S + 12 * HOUR_S + 600 }], START_S + 12 * HOUR_S + 600)
  opened.send([{ series: ONE, dueS: START_S + 23 * HOUR_S, outcome: 'down' }], START_S + DAY_S)
  const upAgain = [0, 60].map((later) => ({ series: ONE, dueS: START_S + DAY_S + 1_800 + later }))
  opened.send(upAgain, START_S + DAY_S + HOUR_S)
  opened.update([{ ...one, generation: 2, pausedAtS: 0 }], START_S + DAY_S + 20 * HOUR_S)
  const read = (nowS: number) => opened.measurements(nowS).days([one.id], '2026-12-12', '2026-12-20')
  const live = await read(START_S + 2 * DAY_S)

  opened.keep(START_S + 4 * DAY_S)
  const rolled = await read(START_S + 2 * DAY_S)

  const none = { up: 0, degraded: 0, down: 0, unknown: 0, paused: 0, maintenance: 0 }
  const [first, second, third] = live
  expect(first).toEqual({
    ...{ ...none, serviceId: one.id, day: '2026-12-13' },
    ...{ unknown: 12 * HOUR_S + 600, up: 11 * HOUR_S - 600, down: HOUR_S },
  })
  expect(second).toEqual({
    ...{ ...none, serviceId: one.id, day: '2026-12-14', down: 1_860 },
    ...{ up: 19 * HOUR_S - 1_860, maintenance: HOUR_S, paused: 4 * HOUR_S },
  })
  expect(third).toEqual({ ...none, serviceId: one.id, day: '2026-12-15' })
  expect(rolled).toEqual(live)
  expect(count(opened, 'service_days')).toBe(2)
  opened.database.close()
})

test('results are kept for the retention of the plan, hours for longer, and old days are dropped as tables', () => {
  const opened = openedResults(newFolder(), {
    retention: new Map([[ORG, { resultsDays: 30, hoursDays: 396 }]]),
  })
  const other = { ...two, orgId: '0192b1d4-5c1e-7000-8000-000000000099' }
  opened.update([one, other], START_S)
  opened.send([...minutes(ONE, START_S, 60), ...minutes(TWO, START_S, 60)], START_S + HOUR_S)
  opened.keep(START_S + HOUR_S + 400)
  const tables = () => listChunkTables(opened.database).map(({ name }) => name)
  const hours = () => opened.database.prepare('SELECT series FROM hours ORDER BY series').pluck().all()

  const [first, second, third, fourth] = [0, 8, 31, 91].map((day) => {
    opened.keep(START_S + day * DAY_S + HOUR_S + 400)
    return [tables(), hours()]
  })

  expect(first).toEqual([
    ['chunks_30_20800', 'chunks_7_20800'],
    [ONE, TWO],
  ])
  expect(second).toEqual([['chunks_30_20800'], [ONE, TWO]])
  expect(third).toEqual([[], [ONE, TWO]])
  expect(fourth).toEqual([[], [ONE]])
  opened.database.close()
})

test('a clock that is decades behind removes no history, and what was known ends as unknown', async () => {
  const opened = openedResults(newFolder())
  const stoppedS = START_S + 3 * DAY_S
  const [againS, endS] = [stoppedS + HOUR_S, stoppedS + 2 * HOUR_S]
  opened.update([one], START_S)
  opened.send(minutes(ONE, START_S, 1), START_S)
  opened.send(minutes(ONE, stoppedS, 1), stoppedS)
  opened.keep(stoppedS + 400)

  opened.board.transact(() => opened.board.markStale(DAY_S))
  opened.send(minutes(ONE, DAY_S + 30, 1, 'down'), DAY_S + 30)
  opened.keep(DAY_S + 400, undefined, stoppedS + 800)
  opened.board.transact(() => opened.board.markStale(againS))
  opened.send(minutes(ONE, againS, 1), againS)
  opened.send(minutes(ONE, againS + 60, 1), againS + 60)
  opened.keep(againS + 400)
  const timeline = await opened.measurements(endS).timeline(one.id, START_S, endS)
  const ofService = timeline.filter(({ endpointId }) => endpointId === null)

  expect(ofService.map(({ fromS, state }) => [fromS, state])).toEqual([
    [START_S, 'up'],
    [stoppedS + 1, 'unknown'],
    [againS, 'up'],
  ])
  expect(count(opened, 'service_days')).toBe(1)
  expect(count(opened, 'hours')).toBe(2)
})

test('a clock that is years ahead removes no history until it is trusted', () => {
  const opened = openedResults(newFolder())
  const aheadS = START_S + 10 * 365 * DAY_S
  opened.update([one], START_S)
  opened.send(minutes(ONE, START_S, 180), START_S + 3 * HOUR_S)
  opened.keep(START_S + 2 * DAY_S + 5 * HOUR_S)
  const kept = () =>
    ['service_spans', 'spans', 'service_days', 'endpoint_days', 'hours'].map((table) => count(opened, table))
  const before = kept()

  opened.keep(aheadS, undefined, START_S + 2 * DAY_S + 5 * HOUR_S)
  const doubted = [kept(), listChunkTables(opened.database).length]
  opened.keep(aheadS)

  expect(before).not.toContain(0)
  expect(doubted).toEqual([before, 1])
  expect([kept().at(-1), listChunkTables(opened.database).length]).toEqual([0, 0])
})

test('a deleted service is invisible at once, and its history is removed by the next upkeep', async () => {
  const opened = openedResults(newFolder())
  opened.update([one, two], START_S)
  opened.send([...minutes(ONE, START_S, 110), ...minutes(TWO, START_S, 110)], START_S + 110 * 60)
  opened.keep(START_S + HOUR_S + 400)
  const nowS = START_S + 110 * 60
  const endpointId = one.endpoints[0]?.id ?? ''

  opened.update([], nowS, [one.id])
  const m = opened.measurements(nowS)
  const seen = [
    (await m.states(ORG)).map(({ id }) => id),
    await m.results({ serviceId: one.id, limit: 10 }),
    await m.latency({ endpointId, fromS: START_S, untilS: nowS, stepS: 60 }),
    await m.days([one.id], '2026-12-13', '2026-12-13'),
    await m.timeline(one.id, START_S, nowS),
  ]
  opened.keep(nowS)

  expect(seen).toEqual([[two.id], [], [], [], []])
  const rest = Object.entries(dump(opened)).filter(([table]) => table !== 'transitions')
  const text = JSON.stringify(rest)
  expect(text).not.toContain(one.id)
  expect(opened.database.prepare('SELECT DISTINCT series FROM log').pluck().all()).toEqual([TWO])
  expect(opened.database.prepare('SELECT DISTINCT series FROM hours').pluck().all()).toEqual([TWO])
  expect(opened.database.prepare('SELECT place / 32 FROM chunks_7_20800').pluck().all()).toEqual([TWO])
  expect(opened.database.prepare('SELECT number FROM endpoints').pluck().all()).toEqual([2])
  opened.database.close()
})

test('a removed endpoint is deleted with its history when that exceeds the retention', () => {
  const opened = openedResults(newFolder())
  opened.update([one], START_S)
  opened.send(minutes(ONE, START_S, 60), START_S + HOUR_S)
  opened.update([{ ...one, generation: 2, endpoints: two.endpoints }], START_S + HOUR_S)
  opened.keep(START_S + HOUR_S + 400)
  const before = opened.database.prepare('SELECT number FROM endpoints').pluck().all()

  opened.keep(START_S + 92 * DAY_S)

  expect(before).toEqual([1, 2])
  expect(opened.database.prepare('SELECT number FROM endpoints').pluck().all()).toEqual([2])
  expect(opened.database.prepare('SELECT DISTINCT endpoint FROM spans').pluck().all()).toEqual([2])
  opened.database.close()
})
