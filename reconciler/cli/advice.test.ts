import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { runHere } from '../testing/programHere.ts'

let server: TestServer
const folder = suiteFolder()
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  for (const name of ['set', 'empty']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'set/a.yaml'), manifestOf('a'))
})
afterAll(() => server.close())

/** Runs `pharos COMMAND PATH --state …` and says how it ended, and what was on stderr. */
async function said(command: string, path: string, ...args: readonly string[]) {
  const env = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  const state = ['--state', join(folder, 'pharos.db')]
  const paths = path === '' ? [] : [join(folder, path)]
  const { exitCode, stderr } = await runHere([...command.split(' '), ...paths, ...state, ...args], env)
  return [exitCode, stderr.trim()]
}

test('an invalid approval digest is refused, and the digest of another plan approves nothing', async () => {
  await said('apply', 'set')

  expect(await said('apply', 'set', '--approve', 'yes')).toEqual([
    1,
    'error the digest to approve is the 16 hexadecimal digits that "pharos plan" shows after --approve; the 32 digits of a whole plan go into "pharos apply --plan"',
  ])
  expect(await said('apply', 'empty', '--approve', '0123456789abcdef')).toEqual([
    4,
    expect.stringContaining('digest 0123456789abcdef does not match the current plan; nothing was approved'),
  ])
})

test('an approval that no change needs is reported as such, in text and as data', async () => {
  await said('apply', 'set')
  const digest = '0123456789abcdef'

  const [exitCode, stderr] = await said('apply', 'set', '--approve', digest)
  const env = {
    PHAROS_URL: server.url,
    PHAROS_API_KEY: server.apiKey,
  }
  const run = await runHere(
    ['apply', join(folder, 'set'), '--state', join(folder, 'pharos.db'), '--approve', digest, '--json'],
    env,
  )

  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining(
      `digest ${digest} was not needed: no change is blocked by a safety limit that an approval releases`,
    ),
  ])
  expect(JSON.parse(run.stdout)).toMatchObject({ approval: 'notNeeded' })
})

test('a path that looks like a saved plan is refused with the way to apply a reviewed plan', async () => {
  const env = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  const paths = [join(folder, 'p.plan'), '--state', join(folder, 'new.db')]
  const { exitCode, stderr } = await runHere(['apply', ...paths], env)

  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(
      'p.plan: plans are not files: name the folder of the manifests, and add --plan with the digest',
    ),
  ])
})

test('plan without a state says how to create one, and manages only services with metadata.id', async () => {
  const env = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  const { exitCode, stdout, stderr } = await runHere(['plan', join(folder, 'set')], env)

  expect([exitCode, stdout]).toEqual([
    3,
    expect.stringContaining('(add --state FILE, which the first apply creates,'),
  ])
  expect(stderr).toContain('to manage all, add --state FILE')
})

test('plan of a folder without manifests suggests checking the path', async () => {
  const env = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  const { exitCode, stderr } = await runHere(['plan', join(folder, 'empty')], env)

  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('is that the right path?')])
})

test('an unknown service cannot be bound, and the message says how to list services', async () => {
  expect(await said('bind x 6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e', '')).toEqual([
    1,
    expect.stringContaining(
      'error the organisation has no service 6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e: "pharos state verify" lists',
    ),
  ])
})

test('an option with the value of an unset variable is refused, and no state without a name is created', async () => {
  const { exitCode, stderr } = await runHere(['apply', join(folder, 'set'), '--state', ''], {})

  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('It is empty: is a variable not set?')])
})

test.each(['init', 'validate', 'plan', 'test', 'import gatus'])(
  '%s refuses the value of an unset variable as its argument',
  async (command) => {
    const { exitCode, stdout, stderr } = await runHere([...command.split(' '), ''], {})

    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining('It is empty: is a variable not set?'),
    ])
  },
)

test('blanks around an API key, as from a file or a copy, are ignored', async () => {
  const env = { PHAROS_URL: server.url, PHAROS_API_KEY: ` ${server.apiKey}\n` }

  expect((await runHere(['export'], env)).exitCode).toBe(0)
})
