import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import { runHere } from '../../testing/commandHere.ts'
import { placeGiven } from './databaseOption.ts'

const URL = 'postgresql://pharos:hush@127.0.0.1:1/pharos'

const folder = suiteFolder()

test.each([
  [[], /required option '--data-dir <dir>' not specified, nor '--database <url>'/],
  [
    ['--data-dir', 'x', '--database', URL],
    /'--database <url>' cannot be used with option '--data-dir <dir>'/,
  ],
  [['--database', 'mysql://hush@host/x'], /must be a URL such as postgresql:/],
  [['--database', URL.replace(':1/', ':99999/')], /must be a URL such as postgresql:/],
  [['--database-file', URL], /must be a file that contains the URL/],
  [['--database-file', 'nowhere'], /cannot be read: ENOENT/],
])('a command with the flags %j is refused: %s', async (flags, text) => {
  const { code, stderr } = await runHere(['org', 'list', ...flags])

  expect([code, stderr]).toEqual([1, expect.stringMatching(text)])
  expect(stderr).not.toContain('hush')
})

test.each([
  [['backup', '--database', URL, '--to', 'x'], /back it up with pg_dump/],
  [['restore', '--database', URL, '--from', 'x'], /restore it with pg_restore/],
  [
    ['migrate', '--from', URL.replace(':1/', ':99999/'), '--to', 'x'],
    /--from must be a URL such as postgresql:/,
  ],
])('%j is refused: %s', async (args, text) => {
  const { code, stdout, stderr } = await runHere([...args, '--json'])

  expect([code, stderr]).toEqual([1, expect.stringMatching(text)])
  expect(`${stdout}${stderr}`).not.toContain('hush')
})

test.each([
  ['?sslmode=require', '?sslmode=verify-full'],
  ['?sslrootcert=ca.pem&sslmode=verify-ca&x=1', '?sslrootcert=ca.pem&sslmode=verify-full&x=1'],
  ['?sslmode=no-verify', '?sslmode=no-verify'],
  ['?sslmode=require&uselibpqcompat=true', '?sslmode=require&uselibpqcompat=true'],
])('a TLS mode that verifies the certificate is the same as verify-full: %s is used as %s', (given, used) => {
  expect(placeGiven(`${URL}${given}`)).toEqual({ database: `${URL}${used}` })
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
