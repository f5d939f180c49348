import { beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { openDatabase } from '../store/sqlite/files/openDatabase.ts'
import { runHere } from '../testing/commandHere.ts'
import { makeOrg } from '../testing/seedFolder.ts'

const SERVICE = '00000000-0000-4000-8000-00000000000a'
const OTHER = '00000000-0000-4000-8000-00000000000b'
const COMMANDS = 2_500

const folder = suiteFolder()
let orgId = ''
beforeAll(async () => {
  orgId = await makeOrg(folder)
  const { reader, writer } = await openDatabase(folder)
  const insert = writer.prepare(`
    INSERT INTO commands (type, region, service_id, generation, org_id, number, created_at_ms)
    VALUES ('StartServiceMonitoring', ?, ?, ?, ?, ?, 1000)`)
  writer.transaction(() => {
    for (let number = 1; number <= COMMANDS; number += 1) {
      const isOther = number % 1_000 === 0
      insert.run(
        isOther ? 'us-east-1' : 'eu-west-1',
        isOther ? OTHER : SERVICE,
        number,
        isOther ? 'x' : orgId,
        number,
      )
    }
    writer.exec(`INSERT OR REPLACE INTO outbox_readers VALUES ('bus', ${COMMANDS - 3})`)
  })()
  for (const database of [reader, writer]) database.close()
})

/** Sequences of the listed commands. */
async function shown(...args: readonly string[]): Promise<readonly number[]> {
  const { stdout, stderr } = await runHere(['commands', '--data-dir', folder, '--json', ...args])
  expect(stderr).toBe('')
  // True because a list of commands was requested.
  return (JSON.parse(stdout) as { sequence: number }[]).map(({ sequence }) => sequence)
}

test('all commands are shown with all their fields, over several pages', async () => {
  const { stdout } = await runHere(['commands', '--data-dir', folder, '--json'])

  const commands: unknown[] = JSON.parse(stdout)
  expect(commands.length).toBe(COMMANDS)
  expect(commands.at(-1)).toEqual({
    sequence: COMMANDS,
    type: 'StartServiceMonitoring',
    region: 'eu-west-1',
    generation: COMMANDS,
    orgId,
    isPublished: false,
    createdAt: '1970-01-01T00:00:01.000Z',
    serviceId: SERVICE,
    service_id: SERVICE,
  })
})

test.each<[readonly string[], readonly number[]]>([
  [
    ['--limit', '2'],
    [1, 2],
  ],
  [['--limit', '0'], []],
  [['--after', '2400', '--limit', '1'], [2_401]],
  [['--unpublished'], [2_498, 2_499, 2_500]],
  [['--unpublished', '--after', '2499'], [2_500]],
  [
    ['--service', OTHER.toUpperCase()],
    [1_000, 2_000],
  ],
  [['--region', 'us-east-1', '--after', '1000'], [2_000]],
  [['--region', 'sa-east-1'], []],
])('%j shows only the selected commands', async (args, sequences) => {
  expect(await shown(...args)).toEqual(sequences)
})

test('the table has a line for each command, and can be limited to one organisation', async () => {
  const { stdout } = await runHere(['commands', '--data-dir', folder, '--org', orgId, '--after', '2498'])

  expect(stdout.split('\n').map((line) => line.split(/ +/))).toEqual([
    ['SEQUENCE', 'CREATED', 'PUBLISHED', 'TYPE', 'REGION', 'GENERATION', 'SERVICE'],
    ['2499', '1970-01-01T00:00:01.000Z', 'no', 'StartServiceMonitoring', 'eu-west-1', '2499', SERVICE],
    ['2500', '1970-01-01T00:00:01.000Z', 'no', 'StartServiceMonitoring', 'eu-west-1', '2500', SERVICE],
    [''],
  ])
})

test.each([
  [['--region', 'eu-west-9'], "argument 'eu-west-9' is invalid"],
  [['--after', '-1'], 'must be a whole number'],
  [['--org', 'nobody'], 'there is no organisation nobody'],
])('%j is an error that says so', async (args, words) => {
  const { code, stderr } = await runHere(['commands', '--data-dir', folder, ...args])

  expect([code, stderr]).toEqual([1, expect.stringContaining(words)])
})

test('the list of keys shows who requested a key', async () => {
  const made = ['--org', orgId, '--data-dir', folder]
  await runHere(['key', 'create', ...made, '--created-by', 'Ada'])
  await runHere(['key', 'create', ...made])

  const { stdout } = await runHere(['key', 'list', ...made, '--json'])
  const table = await runHere(['key', 'list', ...made])

  const keys: { createdBy: string | null }[] = JSON.parse(stdout)
  expect(keys.map(({ createdBy }) => createdBy).toSorted()).toEqual(['Ada', null])
  expect(table.stdout).toMatch(/CREATED BY\n(.*\n)*.* Ada\n/)
})
