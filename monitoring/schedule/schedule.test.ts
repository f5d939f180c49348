import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DueHeap } from './dueHeap.ts'
import { type Grid, gridOf, slotKey } from './grid.ts'
import { Schedule, type Slot } from './schedule.ts'

const START_MS = Date.UTC(2026, 10, 22)

/** All slots of `schedule` up to `untilMs`, each taken at its due time. */
function run(schedule: Schedule, untilMs: number): readonly Slot[] {
  const slots: Slot[] = []
  for (;;) {
    const nextMs = schedule.nextDueMs
    if (nextMs === undefined || nextMs > untilMs) return slots
    slots.push(...schedule.take(nextMs, 64))
  }
}

const isOnGrid = ({ phaseMs, intervalMs }: Grid, dueMs: number) => (dueMs - phaseMs) % intervalMs === 0

test('the slots of a series depend only on endpoint, region and interval', () => {
  const id = '0192b1d4-5c1e-7000-8000-000000000001'

  const grids = [gridOf(id, 'eu-west-1', 60), gridOf(id, 'us-east-1', 60), gridOf(id, 'eu-west-1', 0)]

  expect(grids).toEqual([
    { phaseMs: 59_008, intervalMs: 60_000 },
    { phaseMs: 41_381, intervalMs: 60_000 },
    { phaseMs: 983, intervalMs: 1_000 },
  ])
})

test('a new service is checked within a second in each region, then once an interval', () => {
  const schedule = new Schedule()
  const grids = [1, 2, 3].map((series) => gridOf(`endpoint ${series}`, 'eu-west-1', 60))
  for (const [series, grid] of grids.entries())
    schedule.start(series, grid, { nowMs: START_MS, isFirst: true })

  const slots = run(schedule, START_MS + 10 * 60_000)

  for (const [series, grid] of grids.entries()) {
    const [first, ...rest] = slots.filter((slot) => slot.series === series).map(({ dueMs }) => dueMs)
    expect((first ?? 0) - START_MS).toBeLessThan(1_000)
    expect(rest.every((dueMs) => isOnGrid(grid, dueMs))).toBe(true)
    expect((rest[0] ?? 0) - (first ?? 0)).toBeGreaterThan(15_000)
    expect(rest.slice(1).map((dueMs, index) => dueMs - (rest[index] ?? 0))).toEqual(
      Array(rest.length - 1).fill(60_000),
    )
  }
})

test('a restart repeats no slot and moves none', () => {
  const grid = gridOf('endpoint', 'eu-west-1', 30)
  const before = new Schedule()
  before.start(1, grid, { nowMs: START_MS, isFirst: false })
  const ran = run(before, START_MS + 100_000)

  const after = new Schedule()
  after.start(1, grid, { nowMs: START_MS + 100_000, isFirst: false })
  const runsAgain = run(after, START_MS + 200_000)

  const unbroken = new Schedule()
  unbroken.start(1, grid, { nowMs: START_MS, isFirst: false })
  expect([...ran, ...runsAgain]).toEqual(run(unbroken, START_MS + 200_000))
})

test('after a stall only the newest slot runs, and not even that one when it is too late', () => {
  const grid: Grid = { phaseMs: 0, intervalMs: 10_000 }
  const schedule = new Schedule()
  schedule.start(1, grid, { nowMs: START_MS, isFirst: false })

  const afterStall = schedule.take(START_MS + 64_000, 64)
  const skippedThen = schedule.skipped
  const afterAnother = schedule.take(START_MS + 86_000, 64)

  expect(afterStall).toEqual([{ series: 1, dueMs: START_MS + 60_000, lateMs: 4_000 }])
  expect(skippedThen).toBe(5)
  expect(afterAnother).toEqual([])
  expect(schedule.skipped).toBe(7)
  expect(schedule.nextDueMs).toBe(START_MS + 90_000)
})

test('a first check that was missed during a stall still runs', () => {
  const grid: Grid = { phaseMs: 0, intervalMs: 3_600_000 }
  const schedule = new Schedule()
  schedule.start(1, grid, { nowMs: START_MS + 1_000, isFirst: true })

  const slots = schedule.take(START_MS + 900_000, 64)

  expect(slots).toEqual([{ series: 1, dueMs: START_MS + 1_000, lateMs: 899_000 }])
})

test('a clock that is set back by ten minutes repeats no slot', () => {
  const grid = gridOf('endpoint', 'eu-west-1', 60)
  const schedule = new Schedule()
  schedule.start(1, grid, { nowMs: START_MS, isFirst: false })
  const ran = run(schedule, START_MS + 300_000)
  const lastMs = ran.at(-1)?.dueMs ?? 0

  // As a replace that comes after the clock was set back.
  schedule.start(1, { ...grid, intervalMs: 30_000 }, { nowMs: START_MS - 600_000, isFirst: false })

  expect(schedule.nextDueMs).toBeGreaterThan(lastMs)
})

test('a replace keeps the next slot unless the interval changes, and an end removes it', () => {
  const schedule = new Schedule()
  const grid = gridOf('endpoint', 'eu-west-1', 60)
  schedule.start(1, grid, { nowMs: START_MS, isFirst: false })
  const dueMs = schedule.nextDueMs

  schedule.start(1, grid, { nowMs: (dueMs ?? 0) + 5, isFirst: true })
  const kept = schedule.nextDueMs
  schedule.start(1, gridOf('endpoint', 'eu-west-1', 10), { nowMs: START_MS, isFirst: false })
  const replaced = schedule.nextDueMs
  schedule.end(1)

  expect(kept).toBe(dueMs)
  expect(replaced).toBeLessThanOrEqual(START_MS + 10_000)
  expect([schedule.nextDueMs, schedule.size]).toEqual([undefined, 0])
})

const operations = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('start' as const),
      series: fc.nat(8),
      secs: fc.constantFrom(0, 1, 3, 10, 60),
      isFirst: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('end' as const), series: fc.nat(8) }),
    fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 120_000 }) }),
    fc.record({ kind: fc.constant('stall' as const), ms: fc.integer({ min: 1, max: 120_000 }) }),
  ),
  { maxLength: 60 },
)

test('after any sequence of starts, ends and stalls, each slot is due, belongs to a running series, and is given once', () => {
  fc.assert(
    fc.property(operations, (steps) => {
      const schedule = new Schedule()
      /** Model: the grid of what runs, its last second, and whether its first check is still to come. */
      const running = new Map<number, { grid: Grid; lastS: number; isFirst: boolean }>()
      let nowMs = START_MS
      const check = (slots: readonly Slot[]): void => {
        for (const { series, dueMs, lateMs } of slots) {
          const state = running.get(series)
          if (state === undefined) throw new Error(`series ${series} does not run`)
          if (dueMs + lateMs !== nowMs || lateMs < 0) throw new Error('started before it was due')
          if (slotKey(dueMs) <= state.lastS) throw new Error('a slot ran twice')
          if (!state.isFirst && !isOnGrid(state.grid, dueMs)) throw new Error('off the grid')
          if (!state.isFirst && lateMs > state.grid.intervalMs / 2) throw new Error('too late')
          running.set(series, { grid: state.grid, lastS: slotKey(dueMs), isFirst: false })
        }
      }
      for (const step of steps) {
        if (step.kind === 'start') {
          const grid = gridOf(`endpoint ${step.series}`, 'eu-west-1', step.secs)
          const known = running.get(step.series)
          running.set(step.series, known ? { ...known, grid } : { grid, lastS: -1, isFirst: step.isFirst })
          schedule.start(step.series, grid, { nowMs, isFirst: step.isFirst })
        } else if (step.kind === 'end') {
          running.delete(step.series)
          schedule.end(step.series)
        } else if (step.kind === 'stall') {
          nowMs += step.ms
          check(schedule.take(nowMs, Number.POSITIVE_INFINITY))
        } else {
          const untilMs = nowMs + step.ms
          while ((schedule.nextDueMs ?? Number.POSITIVE_INFINITY) <= untilMs) {
            nowMs = Math.max(nowMs, schedule.nextDueMs ?? 0)
            check(schedule.take(nowMs, 64))
          }
          nowMs = untilMs
        }
        expect(schedule.size).toBe(running.size)
      }
    }),
    { numRuns: 300 },
  )
})

test('an undisturbed schedule gives every slot of every series exactly once', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(1, 2, 7, 30), { minLength: 1, maxLength: 20 }), (intervals) => {
      const schedule = new Schedule()
      const grids = intervals.map((secs, series) => gridOf(`endpoint ${series}`, 'eu-west-1', secs))
      for (const [series, grid] of grids.entries())
        schedule.start(series, grid, { nowMs: START_MS, isFirst: false })

      const slots = run(schedule, START_MS + 60_000)

      const expected = grids.reduce((sum, { phaseMs, intervalMs }) => {
        const upTo = (instantMs: number) => Math.floor((instantMs - phaseMs) / intervalMs)
        return sum + upTo(START_MS + 60_000) - upTo(START_MS)
      }, 0)
      expect([slots.length, new Set(slots.map(({ series, dueMs }) => `${series} ${dueMs}`)).size]).toEqual([
        expected,
        expected,
      ])
    }),
    { numRuns: 100 },
  )
})

test('the heap returns handles in due order, whatever was moved and removed', () => {
  const moves = fc.array(fc.tuple(fc.nat(200), fc.option(fc.nat(1_000), { nil: undefined })), {
    maxLength: 400,
  })
  fc.assert(
    fc.property(moves, (steps) => {
      const heap = new DueHeap()
      const model = new Map<number, number>()
      for (const [handle, dueMs] of steps) {
        if (dueMs === undefined) {
          heap.remove(handle)
          model.delete(handle)
        } else {
          heap.set(handle, dueMs)
          model.set(handle, dueMs)
        }
        const next = heap.next
        const soonest = Math.min(...model.values())
        expect(next === undefined ? Number.POSITIVE_INFINITY : model.get(next)).toBe(soonest)
      }
      const given: number[] = []
      for (let next = heap.next; next !== undefined; next = heap.next) {
        given.push(model.get(next) ?? -1)
        heap.remove(next)
      }
      expect(given).toEqual([...model.values()].sort((a, b) => a - b))
    }),
    { numRuns: 200 },
  )
})

test('a clock that is set back by more than a quarter of an hour, as from a wrong date, continues at once', () => {
  const grid = gridOf('endpoint', 'eu-west-1', 60)
  const schedule = new Schedule()
  const wrongMs = START_MS + 30 * 86_400_000
  schedule.start(1, grid, { nowMs: wrongMs, isFirst: false })
  run(schedule, wrongMs + 300_000)
  schedule.start(2, { phaseMs: 0, intervalMs: 60_000 }, { nowMs: wrongMs + 300_000, isFirst: true })

  schedule.followClock(START_MS)
  const ran = run(schedule, START_MS + 120_000)

  expect(ran.filter(({ series }) => series === 1).length).toBe(2)
  expect(ran.find(({ series }) => series === 2)?.dueMs).toBe(START_MS)
})
