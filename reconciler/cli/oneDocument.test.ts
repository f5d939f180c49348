import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { openStore } from '../state/openStore.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { neverInterrupted, runHere } from '../testing/programHere.ts'
import { COMMANDS } from './commandTable.ts'
import type { Interruption } from './session/interruption.ts'

/** A command line that does what it says, and what of the outside it needs. */
interface Line {
  readonly args: readonly string[]
  readonly needs: readonly Need[]
}
type Need = 'path' | 'api' | 'state' | 'lease'

let server: TestServer
let elsewhere: Server
const folder = suiteFolder()
let runId: string
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  elsewhere = createServer((_request, response) => response.writeHead(404).end('<h1>Not Found</h1>'))
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  mkdirSync(join(folder, 'manifests'))
  writeFileSync(join(folder, 'manifests/a.yaml'), manifestOf('a'))
  mkdirSync(join(folder, 'invalid'))
  writeFileSync(join(folder, 'invalid/a.yaml'), 'apiVersion: [')
  symlinkSync('loop', join(folder, 'loop'))
  writeFileSync(join(folder, 'damaged.db'), 'no database'.repeat(1_000))
  commitAll()
  const applied = await run(['apply', 'manifests', '--state', 'pharos.db'])
  runId = applied.document.runId
})
afterAll(async () => {
  await server.close()
  await new Promise((resolve) => elsewhere.close(resolve))
})

function commitAll(): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
  git('init', '--quiet')
  git('add', 'manifests')
  git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '-m', 'first')
}

/** Every command as it is usually called; those that need neither network nor state may do so unharmed. */
const LINES: Readonly<Record<string, Line>> = {
  init: { args: ['repository'], needs: [] },
  validate: { args: ['manifests'], needs: ['path'] },
  test: { args: ['manifests'], needs: ['path'] },
  lint: { args: ['manifests'], needs: ['path'] },
  render: { args: ['manifests'], needs: ['path'] },
  plan: { args: ['manifests'], needs: ['path', 'api'] },
  apply: { args: ['manifests'], needs: ['path', 'api', 'lease'] },
  drift: { args: ['manifests'], needs: ['path', 'api', 'state'] },
  export: { args: [], needs: ['api'] },
  import: { args: ['gatus', 'no-config'], needs: [] },
  'state adopt': { args: ['apply', 'manifests'], needs: ['path', 'api', 'lease'] },
  'state bind': { args: ['b', '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'], needs: ['api', 'lease'] },
  'state unbind': { args: ['a'], needs: ['state', 'lease'] },
  'state mv': { args: ['a', 'b'], needs: ['state', 'lease'] },
  approve: { args: ['0123456789abcdef'], needs: ['state'] },
  'state suspend': { args: ['b', '--reason', 'why'], needs: ['state'] },
  'state resume': { args: ['b'], needs: ['state'] },
  'state export': { args: [], needs: ['state'] },
  'state import': { args: ['no-export'], needs: [] },
  'state verify': { args: [], needs: ['api', 'state'] },
  'state status': { args: [], needs: ['state'] },
  'state history': { args: [], needs: ['state'] },
  'state show': { args: ['RUN'], needs: ['state'] },
  controller: { args: ['--config', 'nowhere.yaml'], needs: [] },
  fmt: { args: ['manifests', '--check'], needs: ['path'] },
  schema: { args: [], needs: [] },
  completion: { args: ['bash'], needs: [] },
}

const stopped: Interruption = { ...neverInterrupted, exitCode: () => 130, onStop: (listener) => listener() }

/** Runs a command line with --json in the folder of this test; throws unless stdout is one JSON document. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, interruption = neverInterrupted) {
  const inFolder = args.map((arg) =>
    /^(?:manifests|repository|invalid|loop|nowhere|.*\.db|.*\.yaml)$/.test(arg) ? join(folder, arg) : arg,
  )
  const access = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  const { exitCode, stdout } = await runHere(
    [...inFolder, '--json'],
    { ...process.env, ...access, ...env },
    { cwd: folder, interruption },
  )
  return { exitCode, document: JSON.parse(stdout) }
}

/** What goes wrong, and what that is for every command that it can happen to. */
interface Mishap {
  readonly happensTo: (line: Line) => boolean
  readonly change?: (args: readonly string[]) => readonly string[]
  readonly env?: () => NodeJS.ProcessEnv
  readonly interruption?: Interruption
  /** Whether another process holds the state. */
  readonly isHeld?: boolean
  /** The state that is copied for each command; there is none of this name for one that is not there. */
  readonly state?: string
  readonly exit: number
  /** Absent where the command ran, and its document says what it found. */
  readonly code?: string
}
const needing =
  (need: Need) =>
  (line: Line): boolean =>
    line.needs.includes(need)
const instead = (path: string) => (args: readonly string[]) =>
  args.map((arg) => (arg === 'manifests' ? path : arg))

const MISHAPS: Readonly<Record<string, Mishap>> = {
  'an unknown option': {
    happensTo: () => true,
    change: (args) => [...args, '--bogus'],
    exit: 1,
    code: 'E_USAGE',
  },
  'an argument too many': {
    happensTo: () => true,
    change: (args) => [...args, 'x', 'y', 'z'],
    exit: 1,
    code: 'E_USAGE',
  },
  'no argument': {
    happensTo: ({ args }) => args.length > 0 && args[0] !== 'manifests' && !args[0]?.startsWith('--'),
    change: () => [],
    exit: 1,
    code: 'E_USAGE',
  },
  'a path at which there is nothing': {
    happensTo: needing('path'),
    change: instead('nowhere'),
    state: 'new.db',
    exit: 1,
    code: 'E_USAGE',
  },
  'a path that cannot be read': {
    happensTo: needing('path'),
    change: instead('loop'),
    exit: 1,
    code: 'E_FILE',
  },
  'manifests of which none is valid': {
    happensTo: needing('path'),
    change: instead('invalid'),
    exit: 7,
  },
  'no API key': { happensTo: needing('api'), env: () => ({ PHAROS_API_KEY: '' }), exit: 1, code: 'E_USAGE' },
  'an API key that is none': {
    happensTo: needing('api'),
    env: () => ({ PHAROS_API_KEY: 'x' }),
    exit: 1,
    code: 'E_USAGE',
  },
  'an API key that was revoked': {
    happensTo: needing('api'),
    env: () => ({ PHAROS_API_KEY: `pharos_${'0'.repeat(64)}` }),
    exit: 1,
    code: 'E_API',
  },
  'no network': {
    happensTo: needing('api'),
    env: () => ({ PHAROS_URL: 'http://127.0.0.1:1' }),
    exit: 1,
    code: 'E_NETWORK',
  },
  'an address of something else': {
    happensTo: needing('api'),
    // True because the server listens on TCP.
    env: () => ({ PHAROS_URL: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}` }),
    exit: 1,
    code: 'E_ANSWER',
  },
  'a state that is not there': { happensTo: needing('state'), state: 'nowhere.db', exit: 1, code: 'E_USAGE' },
  'a state that is damaged': {
    happensTo: (line) => needing('state')(line) || needing('lease')(line),
    state: 'damaged.db',
    exit: 1,
    code: 'E_STATE',
  },
  'a state that another run holds': {
    happensTo: needing('lease'),
    isHeld: true,
    exit: 5,
    code: 'E_STATE',
  },
  'Ctrl-C while another run is waited for': {
    happensTo: needing('lease'),
    change: (args) => [...args, '--lock-timeout', '60s'],
    interruption: stopped,
    isHeld: true,
    exit: 130,
    code: 'E_INTERRUPTED',
  },
  'Ctrl-C before anything was done': {
    happensTo: needing('api'),
    interruption: stopped,
    exit: 130,
    code: 'E_INTERRUPTED',
  },
}

const CASES = Object.entries(MISHAPS).map(([what, mishap]) => ({
  what,
  mishap,
  commands: Object.entries(LINES)
    .filter(([, line]) => mishap.happensTo(line))
    .map(([name]) => name),
}))

test('every command has a case in this test', () => {
  expect(Object.keys(LINES).sort()).toEqual(COMMANDS.map(({ name }) => name).sort())
})

/** A state of `name`'s own: a copy of `from`, or none where there is none. Gives what ends the hold on it. */
async function ownState(name: string, from: string, isHeld: boolean) {
  const state = `${name}.${from}`
  for (const suffix of ['', '.key']) {
    rmSync(join(folder, state + suffix), { force: true })
    if (existsSync(join(folder, from + suffix)))
      cpSync(join(folder, from + suffix), join(folder, state + suffix))
  }
  const holder = isHeld ? await openStore(join(folder, state), {}) : undefined
  await holder?.acquire('another process')
  return { state, letGo: async () => holder?.close() }
}

async function mishapOf(name: string, mishap: Mishap) {
  const {
    change = (args) => args,
    env = () => ({}),
    interruption = neverInterrupted,
    isHeld = false,
  } = mishap
  const { args = [], needs = [] } = LINES[name] ?? {}
  const { state, letGo } = await ownState(name, mishap.state ?? 'pharos.db', isHeld)
  const stateArgs = needs.includes('state') || needs.includes('lease') ? ['--state', state] : []
  const line = [...name.split(' '), ...change(args), ...stateArgs].map((arg) => (arg === 'RUN' ? runId : arg))
  const { exitCode, document } = await run(line, env(), interruption)
  await letGo()
  return [name, exitCode, document.command, document.exitCode, document.error?.code]
}

test.each(CASES)(
  'Scenario 51: $what gives one document and its exit code, whatever the command',
  async ({ mishap, commands }) => {
    const found = await Promise.all(commands.map((name) => mishapOf(name, mishap)))

    expect(found).toEqual(commands.map((name) => [name, mishap.exit, name, mishap.exit, mishap.code]))
  },
)

test('the help marks --state as required where a command fails without it', async () => {
  const withState = COMMANDS.filter(({ groups }) =>
    groups.some((group) => /^(?:required)?state$/i.test(group)),
  )
  const found = await Promise.all(
    withState.map(async ({ name }) => {
      const args = LINES[name]?.args.map((arg) => (arg === 'RUN' ? runId : arg)) ?? []
      const { document } = await run([...name.split(' '), ...args])
      return [name, / needs --state(?! or)/.test(document.error?.message ?? '')]
    }),
  )

  expect(found).toEqual(withState.map(({ name, groups }) => [name, groups.includes('requiredState')]))
})
