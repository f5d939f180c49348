import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gridOf, slotAfter, slotKey } from '../../../monitoring/schedule/grid.ts'
import { seriesNumber } from '../../domain/regions.ts'
import { HOUR_S } from '../history/storedResult.ts'
import { withMeasurements } from '../resultsReader.ts'
import { monitoredService, ORG, openedResults } from '../testing/openedResults.ts'
import { placeOfTest } from '../testing/openTestResults.ts'
import type { TestResult } from '../testing/resultMessages.ts'
import type { Measurements } from './measurements.ts'

/** A midnight: 2026-12-13. */
const START_S = 20_800 * 86_400
/** Three and a half days, in which the hour before the present one is compacted. */
const HOURS = 84
const NOW_S = START_S + HOURS * HOUR_S - 60
const REGIONS = ['eu-west-1', 'us-east-1']
const service = monitoredService(1, { regions: REGIONS })
const silent = monitoredService(2)
const [DUBLIN, ASHBURN] = REGIONS.map((region) => seriesNumber(1, region)) as [number, number]

let folder: string
let opened: ReturnType<typeof openedResults>
let measurements: Measurements

/** Dublin is slower each hour; Ashburn fails in every 24th hour for half of it. */
function resultsOf(hour: number): TestResult[] {
  return Array.from({ length: 60 }, (_, minute) => {
    const dueS = START_S + hour * HOUR_S + minute * 60
    const isDown = hour % 24 === 20 && minute < 30
    const ashburn: TestResult = { series: ASHBURN, dueS: dueS + 7, totalUs: 50_000 }
    return [
      { series: DUBLIN, dueS: dueS + 2, totalUs: 1_000 * (hour + 1) },
      isDown ? { ...ashburn, outcome: 'down' as const } : ashburn,
    ]
  }).flat()
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-measurements-'))
  opened = openedResults(folder)
  opened.update([service, silent], START_S)
  for (let hour = 0; hour < HOURS; hour += 1) {
    opened.send(
      resultsOf(hour).filter(({ dueS }) => dueS <= NOW_S),
      Math.min(NOW_S, START_S + (hour + 1) * HOUR_S),
    )
    if (hour % 12 === 10) opened.keep(START_S + (hour + 1) * HOUR_S + 400)
  }
  opened.keep(NOW_S)
  measurements = opened.measurements(NOW_S)
})
afterAll(() => {
  opened.database.close()
  rmSync(folder, { recursive: true })
})

test('states have their reasons, the newest result, a p95 and a letter for each of the last 24 hours', async () => {
  const states = await measurements.states(ORG)

  expect(states.map(({ id, state, lastResultS, hours }) => ({ id, state, lastResultS, hours }))).toEqual([
    {
      ...{ id: service.id, state: 'up', lastResultS: NOW_S - 53 },
      hours: 'uuuuuuuuguuuuuuuuuuuuuuu',
    },
    { id: silent.id, state: 'unknown', lastResultS: null, hours: 'n'.repeat(24) },
  ])
  const p95Ms = states[0]?.p95Ms ?? 0
  expect(p95Ms).toBeGreaterThan(70)
  expect(p95Ms).toBeLessThan(90)
  expect(states[1]?.reasons).toMatchObject([{ region: 'eu-west-1', reason: 'no_result' }])
})

test('the seconds of a day add up to its length, and days have the half-hours in which a region failed', async () => {
  const days = await measurements.days([service.id, silent.id], '2026-12-13', '2026-12-16')
  const own = days.filter(({ serviceId }) => serviceId === service.id)

  expect(own.map(({ day, degraded }) => [day, degraded])).toEqual([
    ['2026-12-13', 1_860],
    ['2026-12-14', 1_860],
    ['2026-12-15', 1_860],
    ['2026-12-16', 0],
  ])
  for (const { day, up, degraded, down, unknown, paused, maintenance } of days) {
    const sum = up + degraded + down + unknown + paused + maintenance
    expect(sum).toBe(day === '2026-12-16' ? NOW_S - START_S - 3 * 86_400 : 86_400)
  }
})

test('latencies of up to two days are computed from single results, and longer ranges from hours, including the current one', async () => {
  const [endpointId] = service.endpoints.map(({ id }) => id)
  const query = { endpointId: endpointId ?? '', untilS: NOW_S, stepS: HOUR_S }
  const short = await measurements.latency({ ...query, fromS: NOW_S - 2 * 86_400 })
  const long = await measurements.latency({ ...query, fromS: START_S, stepS: 4 * HOUR_S })

  const dublin = short.find(({ region }) => region === 'eu-west-1')
  expect(short.map(({ region, points }) => [region, points.length])).toEqual([
    ['eu-west-1', 48],
    ['us-east-1', 48],
  ])
  expect(dublin?.points.at(-1)).toEqual({ atS: NOW_S - HOUR_S, count: 60, p50Ms: 84, p95Ms: 84, maxMs: 84 })
  const counts = long.map(({ points }) => points.reduce((sum, { count }) => sum + count, 0))
  expect(counts).toEqual([HOURS * 60 - 1, HOURS * 60 - 1 - 3 * 30])
  const [first] = long[0]?.points ?? []
  expect(first).toMatchObject({ atS: START_S, count: 240, maxMs: 4 })
  expect(first?.p50Ms).toBeLessThanOrEqual(3)
})

test('a gap in the latencies is a point without values', async () => {
  const [endpointId = ''] = service.endpoints.map(({ id }) => id)
  const lines = await measurements.latency({
    ...{ endpointId, stepS: HOUR_S },
    fromS: START_S - 2 * HOUR_S,
    untilS: START_S + HOUR_S,
  })

  expect(lines[0]?.points.map(({ count, p50Ms }) => [count, p50Ms])).toEqual([
    [0, null],
    [0, null],
    [60, 1],
  ])
})

test('a slot that was due before a new service could be checked does not count as missed', async () => {
  const own = mkdtempSync(join(folder, 'new-'))
  const results = openedResults(own)
  const made = monitoredService(3)
  const grid = gridOf(made.endpoints[0]?.id ?? '', 'eu-west-1', 60)
  const slotS = slotKey(slotAfter(grid, START_S * 1_000))
  results.update([made], slotS - 1)
  results.send([{ series: seriesNumber(3, 'eu-west-1'), dueS: slotS + 1 }], slotS + 2)

  const found = await results.measurements(slotS + 200).results({
    ...{ serviceId: made.id, isFailedOnly: true, limit: 10 },
    fromS: slotS - 60,
  })
  results.database.close()

  expect(found.map(({ atS }) => atS)).toEqual([slotS + 120, slotS + 60])
})

test('no slot in a pause counts as missed', async () => {
  const own = mkdtempSync(join(folder, 'paused-'))
  const results = openedResults(own)
  const made = monitoredService(4)
  results.update([made], START_S)
  results.update([{ ...made, generation: 2, pausedAtS: START_S + 900 }], START_S + 900)
  const slotsAt = async (nowS: number) => {
    const query = { serviceId: made.id, isFailedOnly: true, limit: 1_000 }
    return (await results.measurements(nowS).results(query)).map(({ atS }) => (atS - START_S) / 60)
  }
  const paused = await slotsAt(START_S + 7_200)
  results.update([{ ...made, generation: 3 }], START_S + 7_200)
  const resumed = await slotsAt(START_S + 7_500)
  results.database.close()

  expect([paused.length, resumed.length]).toEqual([15, 5])
  expect(Math.max(...paused)).toBeLessThan(15)
  expect(Math.min(...resumed)).toBeGreaterThan(120)
})

test('failed results are listed over all days, page by page', async () => {
  const found = []
  for (let before: string | undefined; ; ) {
    const page = await measurements.results({
      ...{ serviceId: service.id, region: 'us-east-1', isFailedOnly: true, limit: 25, before },
      fromS: START_S + 120,
    })
    found.push(...page)
    before = page.at(-1)?.cursor
    if (page.length < 25) break
  }
  const down = found.filter(({ reason }) => reason !== 'not_checked')

  expect(down.length).toBe(3 * 30)
  expect(new Set(down.map(({ outcome, region }) => `${outcome} ${region}`))).toEqual(
    new Set(['down us-east-1']),
  )
})

test('a timeline has the changes of the service and of its endpoint, with the regions that were down', async () => {
  const fromS = START_S + 12 * HOUR_S
  const timeline = await measurements.timeline(service.id, fromS, fromS + 24 * HOUR_S)

  const ofService = timeline.filter(({ endpointId }) => endpointId === null)
  const ofEndpoint = timeline.filter(({ endpointId }) => endpointId !== null)
  expect(ofService.map(({ state }) => state)).toEqual(['up', 'degraded', 'up'])
  expect(ofEndpoint.map(({ state, regionsDown }) => [state, regionsDown])).toEqual([
    ['up', []],
    ['degraded', ['us-east-1']],
    ['up', []],
  ])
})

test('a bad query is refused with a reason', async () => {
  const [endpointId = ''] = service.endpoints.map(({ id }) => id)

  await expect(measurements.days([service.id], '2026-13-01', '2026-13-02')).rejects.toThrow('no date')
  await expect(measurements.days([service.id], '2024-01-01', '2026-12-31')).rejects.toThrow('400 days')
  await expect(
    measurements.latency({ endpointId, fromS: START_S, untilS: START_S + 3_000, stepS: 1 }),
  ).rejects.toThrow('2000 points')
  await expect(measurements.results({ serviceId: service.id, limit: 1, before: 'x' })).rejects.toThrow(
    'no cursor',
  )
})

test('a command reads the same as the running server', async () => {
  const query = { serviceId: service.id, limit: 500 }
  const here = [await measurements.states(ORG), await measurements.results(query)]

  const there = await withMeasurements(placeOfTest(folder), NOW_S, async (other) => [
    await other.states(ORG),
    await other.results(query),
  ])

  expect(there).toEqual(here)
})
