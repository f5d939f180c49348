import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { seriesNumber } from '../domain/regions.ts'
import { withMeasurements } from '../results/resultsReader.ts'
import { monitoredService, openedResults } from '../results/testing/openedResults.ts'
import { runHere } from '../testing/commandHere.ts'

const START_S = 1_800_000_000
const service = monitoredService(1)

test('a backup includes the results on request, and a restore brings them back', async () => {
  const folder = testFolder()
  const [dataDir, plain, whole] = ['data', 'plain', 'whole'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(dataDir)
  await runHere(['org', 'create', '--name', 'acme', '--data-dir', dataDir])
  const early = join(folder, 'early.backup')
  const none = await runHere(['backup', '--data-dir', dataDir, '--to', early, '--with-results'])
  // Open, as in a server that runs.
  const opened = openedResults(dataDir)
  opened.update([service], START_S)
  opened.send([{ series: seriesNumber(1, 'eu-west-1'), dueS: START_S + 60 }], START_S + 60)
  const resultsOf = (dir: string) =>
    withMeasurements({ dataDir: dir }, START_S + 61, (m) => m.results({ serviceId: service.id, limit: 9 }))
  const expected = await resultsOf(dataDir)

  for (const [name, more] of [
    ['plain', []],
    ['whole', ['--with-results']],
  ] as const) {
    const file = join(folder, `${name}.backup`)
    await runHere(['backup', '--data-dir', dataDir, '--to', file, ...more])
    const { code } = await runHere(['restore', '--data-dir', join(folder, name), '--from', file])
    expect(code).toBe(0)
  }

  expect([none.code, existsSync(early)]).toEqual([1, false])
  expect(none.stderr).toContain('there are no results in')
  expect(expected?.length).toBe(1)
  expect(await resultsOf(whole)).toEqual(expected)
  expect(await resultsOf(plain)).toBeUndefined()
  opened.database.close()
})

test('a restore with a damaged results file names that file, and leaves nothing behind', async () => {
  const folder = testFolder()
  const [dataDir, target, file] = ['data', 'target', 'whole.backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await runHere(['org', 'create', '--name', 'acme', '--data-dir', dataDir])
  await runHere(['backup', '--data-dir', dataDir, '--to', file])
  writeFileSync(`${file}.results`, 'no database at all '.repeat(1_000))

  const { code, stderr } = await runHere(['restore', '--data-dir', target, '--from', file])
  const isLeft = existsSync(target)

  expect([code, isLeft]).toEqual([1, false])
  expect(stderr).toContain(`${file}.results is damaged: remove it to restore without results`)
})
