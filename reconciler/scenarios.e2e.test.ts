import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Client } from '../api/client/client.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { finished, manifestOf, runProgram, type Workplace, workplace } from './testing/pharosProgram.ts'

const PROGRAM = join(import.meta.dirname, '../dist/pharos.js')

let server: TestServer
let client: Client
let work: Workplace
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
})
afterAll(() => server.close())
beforeEach(async () => {
  const orgId = await server.createOrg({ plan: 'business' })
  client = new Client({ url: server.url, apiKey: await server.createKey({ orgId }), userAgent: 'test' })
  work = workplace({ url: server.url, apiKey: await server.createKey({ orgId }) })
})
afterEach(async () => {
  work.remove()
  await client.close()
})

async function json(command: string, ...args: readonly string[]) {
  const run = await work.run(command, '--json', ...args)
  return { ...JSON.parse(run.stdout), exit: run.exitCode }
}

async function names(): Promise<readonly string[]> {
  return (await client.listServices()).services.map(({ name }) => name).sort()
}

const setOf = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const name = `s${String(index).padStart(2, '0')}`
      return [`${name}.yaml`, manifestOf(name)]
    }),
  )

test('Scenario 1: one malformed file of 50 is told with its place, the 49 others are done, and nothing is removed', async () => {
  work.write({ ...setOf(49), 'gone.yaml': manifestOf('gone') })
  await work.run('apply')
  work.write({
    'gone.yaml': null,
    's07.yaml': manifestOf('s07').replace('[eu-west-1]', '[eu-west-1'),
    's49.yaml': manifestOf('s49'),
  })
  const problem = { file: 'manifests/s07.yaml', line: 6, column: 12, code: 'E_YAML' }

  const validated = await runProgram(['validate', join(work.folder, 'manifests'), '--json'])

  expect([validated.exitCode, JSON.parse(validated.stdout).problems.length]).toEqual([7, 1])
  expect(await json('plan')).toMatchObject({
    exit: 7,
    problems: [problem],
    counts: { create: 1, prune: 0, unchanged: 48 },
  })
  const applied = await json('apply')
  expect(applied).toMatchObject({
    exit: 3,
    problems: [problem],
    applied: { created: 1, removed: 0, unchanged: 48 },
  })
  expect(await names()).toHaveLength(51)
})

test('Scenario 3: of two manifests of one name neither is used, and their service stays', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  await work.run('apply')
  work.write({ 'c.yaml': manifestOf('a', '      name: other\n') })

  const applied = await json('apply')

  expect(applied).toMatchObject({ exit: 3, applied: { updated: 0, removed: 0, unchanged: 1 } })
  expect(applied.problems.map(({ file, code }: Record<string, string>) => `${file} ${code}`)).toEqual([
    'manifests/a.yaml E_DUP_KEY',
    'manifests/c.yaml E_DUP_KEY',
  ])
  expect(await names()).toEqual(['a', 'b'])
})

test('Scenario 4: two services of one name live, with a warning, and adopt does not choose between them', async () => {
  work.write({ 'a.yaml': manifestOf('a', '  name: Shop\n'), 'b.yaml': manifestOf('b', '  name: Shop\n') })
  const applied = await json('apply')
  expect(applied).toMatchObject({ exit: 0, warnings: [{ code: 'W_SAME_NAME' }], applied: { created: 2 } })
  const ids = (await client.listServices()).services.map(({ id }) => id).sort()

  rmSync(work.statePath)
  work.write({ 'b.yaml': null, 'a.yaml': manifestOf('a', '  name: Shop\n').replace('60s', '90s') })
  const adopted = await json('adopt')

  expect([adopted.exit, adopted.adoptions.length]).toEqual([6, 1])
  expect(adopted.adoptions[0]).toMatchObject({ kind: 'several', key: 'a' })
  expect([...adopted.adoptions[0].ids].sort()).toEqual(ids)
})

/** Each exit code, and how a run comes to it from a folder with `a` and `b` applied. */
const ENDS: readonly (readonly [
  code: number,
  what: string,
  command: string,
  arrange: () => Promise<readonly string[]>,
])[] = [
  [0, 'nothing to do', 'plan', async () => []],
  [1, 'a mistake on the command line', 'plan', async () => ['--create-grace', 'soon']],
  [1, 'a mistake of options', 'plan', async () => ['--bogus']],
  [
    1,
    'another organisation',
    'apply',
    async () => {
      work.env.PHAROS_API_KEY = await server.createKey({ orgId: await server.createOrg() })
      return []
    },
  ],
  [
    2,
    'changes, where they are asked for',
    'plan',
    async () => {
      work.write({ 'c.yaml': manifestOf('c') })
      return ['--detailed-exitcode']
    },
  ],
  [
    2,
    'drift',
    'drift',
    async () => {
      const [service] = (await client.listServices()).services
      await client.deleteService(service?.id ?? '')
      return []
    },
  ],
  [
    3,
    'a service that cannot be done',
    'apply',
    async () => {
      work.write({ 'c.yaml': manifestOf('c').replace('eu-west-1', 'eu-wst-1') })
      return []
    },
  ],
  [
    4,
    'a brake',
    'plan',
    async () => {
      work.write(setOf(5))
      await work.run('apply')
      work.write(Object.fromEntries(Object.keys(setOf(5)).map((file) => [file, null])))
      return []
    },
  ],
  [
    6,
    'a question for a person',
    'plan',
    async () => {
      work.write({ 'a.yaml': null, 'b.yaml': null, ...setOf(1) })
      return []
    },
  ],
  [
    7,
    'an invalid manifest',
    'plan',
    async () => {
      work.write({ 'c.yaml': manifestOf('c', '  colour: red\n') })
      return []
    },
  ],
  [
    7,
    'an invalid manifest before a brake, a question, a failure and changes',
    'plan',
    async () => {
      work.write({
        'a.yaml': null,
        'b.yaml': manifestOf('b').replace('eu-west-1', 'eu-wst-1'),
        'c.yaml': manifestOf('c', '  colour: red\n'),
        'd.yaml': manifestOf('d'),
      })
      return ['--detailed-exitcode']
    },
  ],
  [
    3,
    'a failure before changes',
    'plan',
    async () => {
      work.write({ 'c.yaml': manifestOf('c').replace('eu-west-1', 'eu-wst-1'), 'd.yaml': manifestOf('d') })
      return ['--detailed-exitcode']
    },
  ],
]

test.each(ENDS)(
  'Scenario 51: the exit code is %i for %s, and --json is one document that says so',
  async (code, _, command, arrange) => {
    work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
    await work.run('apply')
    const args = await arrange()

    const run = await work.run(command, ...args, '--json')

    expect([run.exitCode, JSON.parse(run.stdout).exitCode]).toEqual([code, code])
    // On an unknown organisation nothing may be compared, and the text has to say the same as the document.
    const text = await work.run(command, ...args)
    expect(text.exitCode).toBe(code === 3 && command === 'apply' ? 3 : code)
  },
)

const ESCAPE = '\u001b'

test('Scenario 51: without a terminal there is neither colour nor progress, and NO_COLOR holds wherever colours are forced', async () => {
  work.write(setOf(3))
  const plain = await work.run('apply')
  for (const control of [ESCAPE, '\r']) expect(`${plain.stdout}${plain.stderr}`).not.toContain(control)
  work.env.FORCE_COLOR = '1'
  work.write({ 's00.yaml': manifestOf('s00', '      name: home\n') })
  expect((await work.run('plan')).stdout).toContain(`${ESCAPE}[`)
  work.env.NO_COLOR = '1'
  expect((await work.run('plan')).stdout).not.toContain(ESCAPE)
})

test('Scenario 51: on a terminal there are colours unless NO_COLOR says otherwise', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const onTerminal = async (env: Readonly<Record<string, string>>): Promise<string> => {
    const command = `${process.execPath} ${PROGRAM} plan manifests --state pharos.db`
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: work.folder,
      env: { ...work.env, TERM: 'xterm', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return (await finished(child)).stdout
  }
  expect(await onTerminal({})).toContain(`${ESCAPE}[32m`)
  expect(await onTerminal({ NO_COLOR: '1' })).not.toContain(`${ESCAPE}[3`)
})

test('Scenario 55: adopt writes nothing into manifests, and fmt keeps every comment', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  await work.run('apply')
  const exported = join(work.folder, 'exported')
  await runProgram(['export', '--write', exported], work.env)
  const file = join(exported, 'a.yaml')
  const text = `# who asked\n${readFileSync(file, 'utf8').replace('spec:', 'spec: # how  ')}# the end   \n\n\n`
  writeFileSync(file, text)
  const here = async (...args: readonly string[]) => {
    const run = await runProgram([...args, '--state', join(work.folder, 'other.db'), '--json'], work.env)
    return JSON.parse(run.stdout)
  }

  expect(await here('adopt', exported)).toMatchObject({
    exitCode: 0,
    adoptions: [{ kind: 'match' }, { kind: 'match' }],
  })
  expect(readFileSync(file, 'utf8')).toBe(text)
  const checked = await runProgram(['fmt', exported, '--check'])
  expect([checked.exitCode, checked.stdout]).toEqual([2, `not formatted: ${file}\n`])
  expect((await runProgram(['fmt', exported])).exitCode).toBe(0)
  expect(readFileSync(file, 'utf8').match(/#.*/g)).toEqual(['# who asked', '# how', '# the end'])
  expect((await runProgram(['fmt', exported, '--check'])).exitCode).toBe(0)
  expect(readdirSync(exported).sort()).toEqual(['a.yaml', 'b.yaml'])
  expect(await here('plan', exported)).toMatchObject({ exitCode: 0, changes: [], unchanged: ['a', 'b'] })
})

test('fmt says which files it cannot read, and formats the others', async () => {
  work.write({ 'a.yaml': 'a: [\n', 'b.yaml': `${manifestOf('b')}\n\n` })
  const run = await runProgram(['fmt', join(work.folder, 'manifests')])
  expect([run.exitCode, run.stdout.split('\n').map((line) => line.replace(work.folder, ''))]).toEqual([
    7,
    [expect.stringContaining('/manifests/a.yaml:1:4: [E_YAML]'), 'formatted: /manifests/b.yaml', ''],
  ])
  expect(readFileSync(join(work.folder, 'manifests/b.yaml'), 'utf8')).toBe(manifestOf('b'))
})

test('Scenario 51: no format changes the exit code, and each is whole also when a command cannot run', async () => {
  work.write({ 'a.yaml': manifestOf('a', '  colour: red\n'), 'b.yaml': manifestOf('b') })
  const plan = async (format: string, env = work.env) => {
    const run = await runProgram(
      ['plan', join(work.folder, 'manifests'), '--state', work.statePath, '--format', format],
      env,
    )
    return [run.exitCode, run.stdout] as const
  }
  const keyless = { ...work.env, PHAROS_API_KEY: 'short' }
  const place = `file=${join(work.folder, 'manifests/a.yaml')},line=9,col=3,title=E_UNKNOWN_FIELD`

  expect(await plan('text')).toEqual([7, expect.stringContaining('a.yaml:9:3: [E_UNKNOWN_FIELD]')])
  expect(await plan('github')).toEqual([7, expect.stringContaining(`::error ${place}::spec.colour`)])
  expect(await plan('github', keyless)).toEqual([1, expect.stringMatching(/^::error::.*PHAROS_URL/m)])
  const [code, sarif] = await plan('sarif')
  expect([code, JSON.parse(sarif).runs[0].results]).toMatchObject([
    7,
    [{ ruleId: 'E_UNKNOWN_FIELD', level: 'error' }],
  ])
  const [failed, log] = await plan('sarif', keyless)
  expect([failed, JSON.parse(log).runs[0].invocations]).toMatchObject([
    1,
    [{ executionSuccessful: false, exitCode: 1 }],
  ])
  expect(await plan('markdown')).toEqual([
    7,
    expect.stringMatching(/^### Plan: 1 to create, 0 unchanged\n\n1 problem in the manifests:/),
  ])
  expect(await plan('markdown', keyless)).toEqual([1, expect.stringMatching(/^### There is no plan\n\n```/)])
  expect((await plan('yaml'))[0]).toBe(1)
})
