import { CommanderError } from 'commander'
import { expect, test } from 'vitest'
import { commandLine as agentLine } from '../../monitoring/program/commandLine.ts'
import { runHere } from '../../reconciler/testing/programHere.ts'
import { runHere as runServerHere } from '../../server/testing/commandHere.ts'

async function agentError(args: readonly string[]): Promise<string> {
  const line = agentLine({ write: () => {}, environment: {} }).configureOutput({ writeErr: () => {} })
  const error: unknown = await line.parseAsync(args, { from: 'user' }).catch((reason: unknown) => reason)
  return error instanceof CommanderError ? error.message : String(error)
}

test.each([
  [['key', 'create', '--data-dir', 'x', '--orgg', 'y'], "unknown option '--orgg'\n(Did you mean --org?)"],
  [
    ['key', 'create', '--data-dirr', 'x', '--org', 'y'],
    "unknown option '--data-dirr'\n(Did you mean --data-dir?)",
  ],
  [
    ['key', 'create', '--data-dir', 'x'],
    `required option '--org <id>' not specified: id of the organisation, which "org list" shows`,
  ],
  [['help', 'sreve'], "unknown command 'sreve'\n(Did you mean serve?)"],
  [['help', 'frobnicate'], "unknown command 'frobnicate'"],
])('pharos-server %j names the mistake first', async (args, problem) => {
  const { code, stderr } = await runServerHere(args)

  expect([code, stderr.split('\n\n')[0]?.trim()]).toEqual([1, expect.stringContaining(`error: ${problem}`)])
})

test.each([
  [['plan', 'monitoring', '--stat', 'x'], "unknown option '--stat'\n(Did you mean --state?)"],
  [['help', 'plam'], "unknown command 'plam'\n(Did you mean plan?)"],
  [['help', 'frobnicate'], "unknown command 'frobnicate'"],
])('pharos %j names the mistake first', async (args, problem) => {
  const { exitCode, stderr } = await runHere(args)

  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`error: ${problem}`)])
})

test('pharos-agent help prints the help', async () => {
  let written = ''
  const line = agentLine({
    write: (text) => {
      written += text
    },
    environment: {},
  })
  await expect(line.parseAsync(['help'], { from: 'user' })).rejects.toMatchObject({ exitCode: 0 })

  expect(written).toContain('Usage: pharos-agent [options]')
})

test.each([
  [['--serverr', 'http://127.0.0.1:1'], "error: unknown option '--serverr'\n(Did you mean --server?)"],
  [
    [],
    "error: required option '--server <url>' not specified: agent port of the server, such as https://pharos.example:7175, or PHAROS_AGENT_SERVER",
  ],
])('pharos-agent %j names the mistake first', async (args, problem) => {
  expect(await agentError(args)).toBe(problem)
})

test('help works with and without a command', async () => {
  expect((await runServerHere(['help', 'serve'])).stdout).toContain('Usage: pharos-server serve')
  expect((await runServerHere(['help'])).stdout).toContain('Usage: pharos-server [options] [command]')
  expect((await runHere(['help', 'plan'])).stdout).toContain('Usage: pharos plan')
  expect((await runServerHere(['help', 'help'])).stdout).toContain('Usage: pharos-server [options] [command]')
})

test('help marks the options that a command requires, and shows no default of a switch', async () => {
  const { stdout } = await runServerHere(['help', 'key', 'create'])

  expect(stdout).toMatch(/--org <id> +id of the organisation, which "org list" shows\s+\(required\)\n/)
  expect(stdout.match(/\(required\)/g)).toHaveLength(1)
  expect(stdout).toMatch(/--json +print JSON\n/)
})

test('"version" prints the version', async () => {
  expect((await runServerHere(['version'])).stdout).toBe((await runServerHere(['--version'])).stdout)
  expect(await agentError(['version'])).toMatch(/^\d+\.\d+\.\d+$/)
  expect((await runHere(['version'])).stdout).toBe((await runHere(['--version'])).stdout)
})

test('help shows a command of a group, and runs nothing', async () => {
  expect((await runServerHere(['help', 'org', 'list'])).stdout).toContain('Usage: pharos-server org list')
  expect((await runHere(['help', 'state', 'adopt'])).stdout).toContain('Usage: pharos state adopt')
  expect((await runHere(['help', 'apply', 'monitoring'])).stdout).toContain('Usage: pharos apply')
  expect((await runHere(['help', 'state', 'frobnicate'])).stderr).toContain("unknown command 'frobnicate'")
})

test.each([
  [['org', 'create'], '(see "pharos-server org create --help")'],
  [['plan', 'show'], '(there are: list, set, limits; see "pharos-server plan --help")'],
  [
    ['org', 'list', '--name', 'x'],
    '(there are: --data-dir, --database, --database-file, --json, --help; see "pharos-server org list --help")',
  ],
  [
    ['--data-dir', 'x', 'org', 'list'],
    '(give --data-dir after the command, as in "pharos-server serve --data-dir")',
  ],
])('the error of pharos-server %j ends with what to do', async (args, hint) => {
  const { stderr } = await runServerHere(args)

  expect(stderr.trimEnd().split('\n').at(-1)).toBe(hint)
})

test.each([
  [['help', 'lnit'], 'lint, render, test, plan'],
  [['--json', 'validate', 'x'], '(give --json after the command, as in "pharos init --json")'],
  [
    ['adopt', '--dry-run', 'x'],
    '("pharos plan" shows what apply would do, and "pharos state adopt plan" what',
  ],
  [['help', 'rollback'], '("pharos rollback" was removed: revert the commit'],
])('the error of pharos %j says what to do', async (args, hint) => {
  expect((await runHere(args)).stderr).toContain(hint)
})

test('the help of every command starts with a sentence', async () => {
  const [serve, key, plan, state] = await Promise.all([
    runServerHere(['serve', '--help']),
    runServerHere(['key', 'create', '--help']),
    runHere(['plan', '--help']),
    runHere(['state', '--help']),
  ])

  expect([serve, key, plan, state].map(({ stdout }) => stdout.split('\n\n')[1])).toEqual([
    'Serve the API until SIGTERM, SIGINT or SIGHUP.',
    'Create a key; it is shown only once.',
    'Show what apply would do, field by field.',
    'Inspect, correct and back up the state; adopt services; suspend changes.',
  ])
})
