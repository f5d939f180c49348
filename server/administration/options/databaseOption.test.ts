import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../../testing/commandHere.ts'

const URL = 'postgresql://pharos:hush@127.0.0.1:1/pharos'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pharos-flags-'))
})
afterAll(() => rm(folder, { recursive: true }))

test.each([
  [[], /required option '--data-dir <dir>' not specified, nor '--database <url>'/],
  [
    ['--data-dir', 'x', '--database', URL],
    /'--database <url>' cannot be used with option '--data-dir <dir>'/,
  ],
  [['--database', 'mysql://hush@host/x'], /must be a URL such as postgresql:/],
  [['--database-file', 'nowhere'], /cannot be read: ENOENT/],
])('a command with the flags %j is refused: %s', async (flags, text) => {
  const { code, stderr } = await runHere(['org', 'list', ...flags])

  expect([code, stderr]).toEqual([1, expect.stringMatching(text)])
})

test('the URL of a database is read from a file, and no message contains its password', async () => {
  const file = join(folder, 'url')
  writeFileSync(file, `${URL}\n`)

  const { code, stderr } = await runHere(['org', 'list', '--database-file', file])

  expect(code).toBe(1)
  expect(stderr).toBe(
    'pharos-server: the database at 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n',
  )
})

test.each([
  [[], /name the master key: --master-key-file, or its text as PHAROS_MASTER_KEY/],
  [
    ['--agent-advertise-url', 'http://10.0.0.5/agents'],
    /must be a URL such as http:\/\/10\.0\.0\.5:7175, without a path/,
  ],
])('a server on PostgreSQL with the flags %j is refused: %s', async (flags, text) => {
  const { code, stderr } = await runHere(['serve', '--database', URL, ...flags])

  expect([code, stderr]).toEqual([1, expect.stringMatching(text)])
})
