import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { seriesNumber } from '../../domain/regions.ts'
import { RESULTS_FILE } from '../file/resultsSchema.ts'
import { monitoredService, ORG, openedResults, STORE } from '../testing/openedResults.ts'
import { batchOf, type TestResult } from '../testing/resultMessages.ts'
import { Results } from './results.ts'
import { ResultsBusyError } from './resultsBusyError.ts'

const INTERVAL_S = 300
const service = monitoredService(1, { intervalS: INTERVAL_S })
const SERIES = seriesNumber(1, 'eu-west-1')
const RESTART_MS = 20_000

let folders: string[]
let results: Results
let log: string

beforeEach(async () => {
  folders = []
  log = ''
  const dataDir = newFolder()
  // The service is older than the results that the tests send.
  const earlier = openedResults(dataDir)
  earlier.update([service], nowS - 3_600)
  earlier.database.close()
  results = startResults(dataDir)
  await isUp()
})
afterEach(async () => {
  await results.stop()
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function startResults(dataDir: string): Results {
  return new Results({
    ...{ place: { dataDir }, lease: null },
    storeId: STORE,
    log: pino({ level: 'warn' }, { write: (line: string) => (log += line) }),
    readAll: async () => [service],
    trustedMs: Date.now,
    readPolicy: async () => ({ retention: new Map(), maintenance: [] }),
    onTransitions: () => {},
  })
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-thread-'))
  folders.push(folder)
  return folder
}

const isUp = () => vi.waitUntil(() => results.isUp, { timeout: RESTART_MS })
const isDown = () => vi.waitUntil(() => !results.isUp, { timeout: RESTART_MS })

/** Seconds since the epoch: the thread has the real clock. */
const nowS = Math.floor(Date.now() / 1_000)

/** Results of the last minutes, the oldest first. */
function lastMinutes(from: number, until: number, outcome: TestResult['outcome'] = 'up'): TestResult[] {
  return Array.from({ length: from - until }, (_, index) => ({
    ...{ series: SERIES, dueS: nowS - 60 * (from - index) },
    ...(outcome === undefined ? {} : { outcome }),
  }))
}

/** What the results hold, as their readers see it. */
async function seen() {
  const { measurements } = results
  const stored = await measurements.results({ serviceId: service.id, limit: 1_000 })
  const [state] = await measurements.states(ORG)
  return {
    state: state?.state,
    sinceS: state?.sinceS,
    atS: stored.filter(({ reason }) => reason !== 'not_checked').map(({ atS }) => atS),
  }
}

/** Ends the thread by a message that it does not understand. */
async function killThread(): Promise<void> {
  // True because the thread has to meet what no type allows.
  const broken = JSON.parse('null') as number[]
  await expect(results.latest(broken)).rejects.toThrow(ResultsBusyError)
  await isDown()
}

test('a results thread that dies is restarted, and reaches the same states from results that agents resend', async () => {
  const [first, second] = [lastMinutes(9, 5), lastMinutes(5, 2, 'down')]
  await results.ingest(batchOf(STORE, first))
  await killThread()

  await expect(results.ingest(batchOf(STORE, second))).rejects.toThrow(ResultsBusyError)
  await expect(results.measurements.states(ORG)).rejects.toThrow(ResultsBusyError)
  await isUp()
  const response = await results.ingest(batchOf(STORE, [...first, ...second]))

  const folder = newFolder()
  const replay = openedResults(folder)
  replay.update([service], nowS - 3_600)
  replay.send([...first, ...second], nowS)
  const [state] = await replay.measurements(nowS).states(ORG)
  replay.database.close()
  expect(response).toMatchObject({ stored: second.length, known: first.length })
  expect(await seen()).toEqual({
    ...{ state: state?.state, sinceS: state?.sinceS },
    atS: [...first, ...second].map(({ dueS }) => dueS).reverse(),
  })
  expect(log).toContain('restarting the results thread')
})

test('a gap is unknown, even when a result arrives right after the restart', async () => {
  const [before, after] = [lastMinutes(59, 58), lastMinutes(1, 0)]
  await results.stop()
  const earlier = openedResults(folders[0] ?? '')
  earlier.send(before, nowS - 3_500)
  earlier.database.close()
  results = startResults(folders[0] ?? '')
  await isUp()
  await results.ingest(batchOf(STORE, after))

  const timeline = await results.measurements.timeline(service.id, nowS - 3_600, nowS)
  const spans = timeline.filter(({ endpointId }) => endpointId === null)
  expect(spans.map(({ state }) => state)).toEqual(['unknown', 'up', 'unknown', 'up'])
  expect(spans.at(-1)?.fromS).toBe(after[0]?.dueS)
})

test('a file that is damaged while the server runs is moved aside, and results continue in a new one', async () => {
  await results.ingest(batchOf(STORE, lastMinutes(9, 5)))
  const folder = folders[0] ?? ''
  for (const name of [RESULTS_FILE, `${RESULTS_FILE}-wal`]) {
    const file = join(folder, name)
    writeFileSync(file, Buffer.alloc(statSync(file).size, 'damaged'), { flag: 'r+' })
  }

  await expect(results.measurements.states(ORG)).rejects.toThrow(ResultsBusyError)
  await isDown()
  await isUp()
  const response = await results.ingest(batchOf(STORE, lastMinutes(5, 2)))

  expect(response.stored).toBe(3)
  expect((await seen()).state).toBe('up')
  expect(readdirSync(folder).some((name) => name.startsWith(`${RESULTS_FILE}.damaged-`))).toBe(true)
  expect(log).toContain('moved aside')
})

test('when the file is removed while the server runs, results continue in a new one', async () => {
  const folder = folders[0] ?? ''
  await results.ingest(batchOf(STORE, lastMinutes(9, 5)))
  for (const name of readdirSync(folder)) if (name.startsWith(RESULTS_FILE)) rmSync(join(folder, name))

  const lost = results.ingest(batchOf(STORE, lastMinutes(5, 2)))
  await expect(lost).rejects.toThrow(ResultsBusyError)
  await isUp()
  const response = await results.ingest(batchOf(STORE, lastMinutes(5, 2)))

  expect(response.stored).toBe(3)
  expect(readdirSync(folder)).toContain(RESULTS_FILE)
  expect(log).toContain('was removed or replaced')
})

test('a file that cannot be opened is logged with its path and the reason', async () => {
  await results.stop()
  const folder = newFolder()
  mkdirSync(join(folder, RESULTS_FILE))

  results = startResults(folder)
  await vi.waitUntil(() => log.includes('the results thread failed'), { timeout: RESTART_MS })

  expect(log).toContain(`${join(folder, RESULTS_FILE)} cannot be used: unable to open database file`)
})

test('a thread that is stopped while it reads its file ends', async () => {
  await results.ingest(batchOf(STORE, lastMinutes(2, 0)))
  await results.stop()

  results = startResults(folders[0] ?? '')
  await results.stop()

  expect(log).toBe('')
})

test('changes of states are reported together, to the remaining listeners', async () => {
  const reported: string[][] = []
  const end = results.measurements.onChange((ids) => reported.push([...ids]))
  await results.ingest(batchOf(STORE, lastMinutes(3, 1, 'down')))

  await vi.waitUntil(() => reported.length > 0, { timeout: RESTART_MS })
  end()

  expect(reported[0]).toEqual([service.id])
})
