import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../api/testing/temporaryFolder.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { COMMANDS } from './cli/commandTable.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { finished } from './testing/processes.ts'
import { runHere } from './testing/programHere.ts'

/** Programs of others that examples name: here each only takes what it is given. */
const OTHERS = ['jq', 'less', 'notify-the-team']

let server: TestServer
const folder = suiteFolder()
let env: Record<string, string>
/** Where the tests of this process run: examples name files of the folder that they are typed in. */
let before: string
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(join(import.meta.dirname, '../dist/pharos.js'), join(bin, 'pharos'))
  const shown = join(folder, 'shown')
  mkdirSync(shown)
  writeFileSync(join(shown, 'pharos'), `#!/bin/sh\nprintf '%s\\0' "$@" > '${folder}/arguments'\n`, {
    mode: 0o755,
  })
  for (const name of OTHERS) writeFileSync(join(bin, name), '#!/bin/sh\ncat > /dev/null\n', { mode: 0o755 })
  mkdirSync(join(folder, 'monitoring'))
  writeFileSync(join(folder, 'monitoring/checkout.yaml'), manifestOf('checkout'))
  mkdirSync(join(folder, '.config/fish/completions'), { recursive: true })
  env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    PHAROS_URL: server.url,
    PHAROS_API_KEY: server.apiKey,
  }
  before = process.cwd()
  process.chdir(folder)
  await runHere(['apply', 'monitoring', '--state', 'pharos.db'], env)
})
afterAll(async () => {
  process.chdir(before)
  await server.close()
})

function typed(script: string, cwd: string, path = env.PATH) {
  const args = ['--norc', '-euo', 'pipefail', '-c', script]
  return finished(
    spawn('bash', args, { cwd, env: { ...env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
}

/** The arguments that a shell gives to pharos when `example` is typed. */
async function argumentsIn(example: string): Promise<readonly string[]> {
  await typed(example, folder, `${join(folder, 'shown')}:${env.PATH}`)
  return readFileSync(join(folder, 'arguments'), 'utf8').split('\0').slice(0, -1)
}

function examplesIn(help: string): readonly string[] {
  const section = /\nExamples:\n(.*?)(?:\n\n|$)/s.exec(help)?.[1] ?? ''
  return section
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** What the program says when it does not understand a command line. */
const MISUNDERSTOOD =
  /unknown (?:option|command)|missing required argument|too many arguments|argument missing|is invalid\./

test.each(COMMANDS.map(({ name, examples }) => ({ name, examples })))(
  'every example in the help of $name is a valid command line',
  async ({ name, examples }) => {
    expect(examples.length).toBeGreaterThan(0)
    expect(examplesIn((await runHere([...name.split(' '), '--help'])).stdout)).toEqual(examples)
    for (const example of examples) {
      const { stderr } = await runHere(await argumentsIn(example), env, { cwd: folder })
      expect({ example, stderr }).toEqual({ example, stderr: expect.not.stringMatching(MISUNDERSTOOD) })
    }
  },
)

test('commands on manifests read the current folder when none is named', async () => {
  const place = mkdtempSync(join(folder, 'without-path-'))
  writeFileSync(join(place, 'shop.yaml'), manifestOf('shop', '      assertions: []\n'))
  const state = ['--state', join(place, 'pharos.db')]
  const commands = [
    ['validate'],
    ['render'],
    ['fmt', '--check'],
    ['state', 'adopt', 'plan', ...state],
    ['plan', ...state],
    ['apply', ...state],
    ['drift', ...state],
  ]
  process.chdir(place)
  const runs = []
  for (const command of commands) runs.push(await runHere(command, env, { cwd: place }))
  process.chdir(folder)

  expect(runs.map(({ exitCode }) => exitCode)).toEqual(commands.map(() => 0))
})

test('the examples in the help work, one after the other', async () => {
  const place = mkdtempSync(join(folder, 'first-'))
  const [first = '', ...others] = examplesIn((await runHere(['--help'])).stdout)

  const run = await typed(
    [first, 'pharos state adopt apply monitoring/ --state pharos.db', ...others].join('\n'),
    place,
  )

  expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining('error')])
  expect(run.stdout).toContain('No changes: ')
  expect(run.stdout).toContain('No drift')
})
