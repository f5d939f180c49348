import { readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { seriesNumber } from '../../domain/regions.ts'
import { HOUR_S } from '../history/storedResult.ts'
import { withMeasurements } from '../resultsReader.ts'
import { monitoredService, ORG, openedResults } from '../testing/openedResults.ts'
import { openResults } from './openResults.ts'
import { RESULTS_FILE } from './resultsSchema.ts'

const START_S = 1_800_000_000
const service = monitoredService(1)
const SERIES = seriesNumber(1, 'eu-west-1')

let folder: string
beforeEach(() => {
  folder = testFolder()
})

/** A result for each minute of an hour. */
const resultsOf = (hour: number) =>
  Array.from({ length: 60 }, (_, minute) => ({ series: SERIES, dueS: START_S + hour * HOUR_S + minute * 60 }))

/** Results of `hours` hours in the folder; the connection stays open. */
function fill(hours: number) {
  const opened = openedResults(folder)
  opened.update([service], START_S)
  for (let hour = 0; hour < hours; hour += 1) opened.send(resultsOf(hour), START_S + (hour + 1) * HOUR_S)
  return opened
}

test('a damaged file is moved aside, and results continue in a new one', () => {
  fill(1).database.close()
  writeFileSync(
    join(folder, RESULTS_FILE),
    'no database at all, and long enough to be taken for one'.repeat(100),
  )

  const { database, damagedFile } = openResults(folder, false)
  const count = database.prepare('SELECT count(*) FROM log').pluck().get()
  database.close()

  expect(readdirSync(folder)).toContain(damagedFile?.slice(folder.length + 1))
  expect(count).toBe(0)
})

test('a file with lost pages is found by the integrity check after a failure', () => {
  const { sqlite, database: filled } = fill(4)
  sqlite?.pragma('wal_checkpoint(TRUNCATE)')
  filled.close()
  truncateSync(join(folder, RESULTS_FILE), 16_384)

  const { database, damagedFile } = openResults(folder, true)
  database.close()

  expect(damagedFile).toMatch(/results\.db\.damaged-/)
})

test('a command that finds a damaged file names it, and says what to do', async () => {
  const file = join(folder, RESULTS_FILE)
  writeFileSync(file, 'damaged '.repeat(1_000))

  await expect(withMeasurements({ dataDir: folder }, START_S, (other) => other.states(ORG))).rejects.toThrow(
    `${file} is damaged: restart the server, which renames the file and continues`,
  )
})

test('ingest on a full disk is refused completely, reads continue, and ingest continues when there is space', async () => {
  const small = fill(1)
  const { results } = small.measurements(START_S + HOUR_S)
  const more = () => [...Array(40).keys()].flatMap((hour) => resultsOf(hour + 1))
  const query = { serviceId: service.id, limit: 10 }
  const before = await results(query)
  const pages = small.sqlite?.pragma('page_count', { simple: true })
  small.sqlite?.pragma(`max_page_count = ${pages}`)

  const nowS = START_S + 24 * HOUR_S
  const recent = () => more().filter(({ dueS }) => dueS <= nowS)
  expect(() => small.send(recent(), nowS)).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }))
  const during = await results(query)
  small.sqlite?.pragma('max_page_count = 4294967294')
  const responses = small.send(recent(), nowS)
  small.database.close()

  expect(during).toEqual(before)
  expect(responses.reduce((sum, { stored }) => sum + stored, 0)).toBe(recent().length)
})

test('a command during the creation of the file finds no results', async () => {
  const unfinished = new Sqlite(join(folder, RESULTS_FILE))
  unfinished.pragma('journal_mode = WAL')

  const states = await withMeasurements({ dataDir: folder }, START_S, (other) => other.states(ORG))

  expect(states).toBeUndefined()
  unfinished.close()
})
