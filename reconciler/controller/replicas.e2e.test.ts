import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { cases } from '../../scripts/testing/torture.ts'
import { seededRandom } from '../../server/testing/robustness/random.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { IN_FLIGHT } from '../apply/execute.ts'
import { makeBareRepository } from '../git/bareRepository.ts'
import { type ControllerProcess, controllerProcess } from '../testing/controllerProcess.ts'
import { manifestFiles } from '../testing/controllerScene.ts'
import { failoverStress } from '../testing/failoverStress.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../testing/faultProxy.ts'
import { type GitRepository, gitRepository } from '../testing/gitRepository.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { runProgram } from '../testing/pharosProgram.ts'
import { runHere } from '../testing/programHere.ts'
import { stopOutsideOfWrites } from '../testing/stopOutsideOfWrites.ts'
import type { ControllerEvent } from './status/status.ts'

let proxies: FaultProxy[]
let processes: ControllerProcess[]
let repository: GitRepository
let folder: string
let config: string
let apiKey: string
let client: Client
const server = await startServer({ rateLimit: 'none' })
afterAll(() => server.close())
beforeEach(async () => {
  const orgId = await server.createOrg()
  apiKey = await server.createKey({ orgId })
  client = new Client({ url: server.url, apiKey: await server.createKey({ orgId }), userAgent: 'test' })
  proxies = []
  processes = []
  repository = gitRepository()
  folder = mkdtempSync(join(tmpdir(), 'pharos-replicas-'))
  config = join(folder, 'pharos-controller.yaml')
  writeFileSync(
    config,
    `apiVersion: pharos/v1
kind: Controller
listen: none
dataDir: ${folder}
sets:
  - name: shop
    repository: {url: "${repository.url}", path: monitoring, allowFile: true}
    interval: 1s
    createGrace: 1s
    leaseTtl: 2s
`,
  )
})
afterEach(async () => {
  for (const one of processes) {
    one.signal('SIGCONT')
    one.signal('SIGKILL')
    await one.ended
  }
  for (const proxy of proxies) await proxy.close()
  await client.close()
  repository.remove()
  // A git process may outlive its controller for a moment, and still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** What a replica has of an environment when it talks to `url`. */
const environment = (url: string) => ({
  PHAROS_URL: url,
  PHAROS_API_KEY: apiKey,
  PHAROS_STATE_KEY: 'k'.repeat(32),
})

/** Runs the controller once, in this process. */
const runOnce = (...args: readonly string[]) =>
  runHere(['controller', '--config', config, '--once', ...args], environment(server.url))

async function start(
  replica: string,
  args: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly one: ControllerProcess; readonly proxy: FaultProxy }> {
  const proxy = await startFaultProxy(server.url)
  proxies.push(proxy)
  const one = controllerProcess(config, replica, { ...environment(proxy.url), ...more }, args)
  processes.push(one)
  return { one, proxy }
}

/** Stops `one` as soon as its first change had its effect; counts what arrives of it afterwards. */
function stopsAtFirstChange(
  one: ControllerProcess,
  proxy: FaultProxy,
): { readonly stopped: Promise<void>; readonly afterwards: () => number } {
  let count = 0
  let isStopped = false
  proxy.decide = () => {
    if (isStopped) count += 1
    return 'pass'
  }
  const stopped = new Promise<void>((resolve) => {
    proxy.afterEffect = () => {
      // Once: what was in flight has its effect later, and would stop a process again that was let go on.
      if (isStopped) return
      stopOutsideOfWrites(one.child, join(folder, 'shop.db'))
      isStopped = true
      resolve()
    }
  })
  return { stopped, afterwards: () => count }
}

async function names(): Promise<readonly string[]> {
  const { services } = await client.listServices()
  return services.map(({ name }) => name).sort()
}

const isType = (type: ControllerEvent['type']) => (event: ControllerEvent) => event.type === type
const isApplied = (sha: string) => (event: ControllerEvent) =>
  event.type === 'RunFinished' && event.commit === sha && event.message.startsWith('converged')

test('Scenario 47: one of two replicas leads, and the other takes over when the leader is killed', async () => {
  const first = repository.commit(manifestFiles('a'))
  const { one: blue } = await start('blue')
  await blue.event(isApplied(first), 0)
  const { one: green } = await start('green')

  blue.signal('SIGKILL')
  await green.event(isType('LeaseTaken'), 0)
  const second = repository.commit(manifestFiles('b'))
  await green.event(isApplied(second), 0)

  expect(await names()).toEqual(['a', 'b'])
  expect(green.events.find(isType('LeaseTaken'))?.message).toContain('epoch 2')
})

test('Scenario 47: a leader that was suspended during its work changes nothing when it continues', async () => {
  const keys = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`)
  const { one: blue, proxy: blues } = await start('blue')
  const { afterwards, stopped } = stopsAtFirstChange(blue, blues)
  const sha = repository.commit(manifestFiles(...keys))
  await stopped

  const { one: green } = await start('green')
  await green.event(isApplied(sha), 0)
  const arrived = afterwards()
  const eventsBefore = blue.events.length
  blue.signal('SIGCONT')
  await blue.event(isType('LeaseLost'), eventsBefore)

  expect(await names()).toEqual(keys)
  // What was in flight when it stopped may have arrived. It sends one more if it stopped between the check of the lease and
  // the request.
  expect(arrived).toBeLessThanOrEqual(IN_FLIGHT)
  expect(afterwards() - arrived).toBeLessThanOrEqual(1)
})

test('Scenario 47: with a state in git a leader that was suspended changes nothing when it continues, and takes over again when the other one is killed', async () => {
  const remote = join(folder, 'state.git')
  makeBareRepository(remote)
  const inGit = `leaseTtl: 5s\n    state: "git:file://${remote}#refs/pharos/shop"`
  writeFileSync(config, readFileSync(config, 'utf8').replace('leaseTtl: 2s', inGit))
  const keys = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`)
  const { one: blue, proxy: blues } = await start('blue')
  const { afterwards, stopped } = stopsAtFirstChange(blue, blues)
  const first = repository.commit(manifestFiles(...keys))
  await stopped
  const { one: green, proxy: greens } = await start('green')
  await green.event(isApplied(first), 0)
  const arrived = afterwards()
  const eventsBefore = blue.events.length
  blue.signal('SIGCONT')
  await blue.event(isType('LeaseLost'), eventsBefore)
  expect([await names(), arrived <= IN_FLIGHT, afterwards() - arrived <= 1]).toEqual([keys, true, true])

  greens.afterEffect = () => green.signal('SIGKILL')
  const second = repository.commit(manifestFiles('last'))
  await blue.event(isApplied(second), eventsBefore)
  expect(await names()).toEqual(['last', ...keys])
})

test.each([
  ['a file', ''],
  ['git', 'leaseTtl: 5s'],
])(
  'Scenario 47: with a state in %s, a creation of a suspended leader that arrives after its successor created the service makes no second one',
  async (_, lease) => {
    if (lease !== '') {
      const remote = join(folder, 'state.git')
      makeBareRepository(remote)
      const inGit = `${lease}\n    state: "git:file://${remote}#refs/pharos/shop"`
      writeFileSync(config, readFileSync(config, 'utf8').replace('leaseTtl: 2s', inGit))
    }
    const keys = ['s00', 's01', 's02']
    const { one: blue, proxy: blues } = await start('blue')
    let arrives: (fault: Fault) => void = () => {}
    const suspended = new Promise<void>((resolve) => {
      blues.decide = () => {
        blues.decide = () => 'pass'
        stopOutsideOfWrites(blue.child, join(folder, 'shop.db'))
        resolve()
        return new Promise((arrive) => {
          arrives = arrive
        })
      }
    })
    const sha = repository.commit(manifestFiles(...keys))
    await suspended
    const { one: green } = await start('green')
    await green.event(isApplied(sha), 0)

    await new Promise<void>((resolve) => {
      blues.afterEffect = () => resolve()
      arrives('pass')
    })

    expect(await names()).toEqual(keys)
  },
)

test('a controller that is killed repeatedly leaves at most one folder behind', async () => {
  const remote = join(folder, 'state.git')
  makeBareRepository(remote)
  const inGit = `leaseTtl: 5s\n    state: "git:file://${remote}#refs/pharos/shop"`
  writeFileSync(config, readFileSync(config, 'utf8').replace('leaseTtl: 2s', inGit))
  repository.commit(manifestFiles('a'))
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  for (let kills = 0; kills < 2; kills += 1) {
    const { one } = await start('blue', [], { TMPDIR: temporary })
    await one.event(isType('LeaseTaken'), 0)
    one.signal('SIGKILL')
    await one.ended
  }

  const folders = readdirSync(temporary)
  expect(folders).toHaveLength(1)
  const inside = readdirSync(join(temporary, folders[0] ?? ''))
  expect(inside.filter((name) => !name.includes('.lock'))).toEqual(['0'])
})

test('Scenario 47: replicas that are killed and stopped at random create nothing twice, and apply the last commit', async () => {
  const {
    names: made,
    wanted,
    staleWrites,
  } = await failoverStress({
    url: server.url,
    apiKey,
    state: 'file',
    continues: (rounds) => rounds < cases(2, 4),
    random: seededRandom(7),
  })

  expect(made).toEqual(wanted)
  expect(staleWrites).toBeLessThanOrEqual(IN_FLIGHT)
})

test('SIGTERM finishes operations in progress, releases the lease at once, and ends with 143', async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `s${String(index).padStart(2, '0')}`)
  const { one: blue, proxy } = await start('blue')
  let sent = 0
  proxy.afterEffect = () => {
    sent += 1
    if (sent === 1) blue.signal('SIGTERM')
  }
  repository.commit(manifestFiles(...keys))

  expect(await blue.ended).toBe(143)
  const done = await names()
  expect(done.length).toBeLessThan(keys.length)
  expect(sent).toBe(done.length)

  expect((await runOnce()).exitCode).toBe(0)
  expect(await names()).toEqual(keys)
})

test('--once ends with the exit codes of an apply', async () => {
  const codes: (number | null)[] = []
  const run = async (): Promise<void> => {
    codes.push((await runOnce()).exitCode)
  }
  repository.commit({ 'elsewhere/a.yaml': manifestOf('a') })
  await run()
  repository.commit(manifestFiles('a'))
  await run()
  repository.commit({ 'monitoring/b.yaml': manifestOf('b').replace('interval', 'intervall') })
  await run()
  repository.commit({ 'monitoring/a.yaml': null })
  await run()
  repository.git('branch', '--move', 'main', 'gone')
  await run()

  expect(codes).toEqual([1, 0, 3, 7, 1])
  const { one: blue } = await start('blue')
  await blue.event(isType('LeaseTaken'), 0)
  const second = await runOnce()
  expect([second.exitCode, second.stderr]).toEqual([
    5,
    expect.stringContaining('the state is locked by another run'),
  ])
})

test('a suspended set ends pharos apply and controller --once with the same exit code', async () => {
  const state = join(folder, 'shop.db')
  repository.commit(manifestFiles('a'))
  expect((await runOnce()).exitCode).toBe(0)
  const env = environment(server.url)
  await runHere(['suspend', '*', '--reason', 'release', '--state', state], env)
  repository.commit(manifestFiles('b'))

  const apply = await runHere(['apply', join(repository.directory, 'monitoring'), '--state', state], env)
  const second = await runOnce()

  expect([apply.exitCode, second.exitCode]).toEqual([4, 4])
})

test('--once runs the other sets when one is locked, and waits for it for at most --lock-timeout', async () => {
  repository.commit({ ...manifestFiles('a'), 'other/b.yaml': manifestOf('b') })
  const { one: blue } = await start('blue')
  await blue.event(isType('RunFinished'), 0)
  const set = `  - name: next\n    repository: {url: "${repository.url}", path: other, allowFile: true}\n`
  writeFileSync(config, `${readFileSync(config, 'utf8')}${set}`)

  expect((await runOnce()).exitCode).toBe(5)
  expect(await names()).toEqual(['a', 'b'])
  stopOutsideOfWrites(blue.child, join(folder, 'shop.db'))
  expect((await runOnce('--lock-timeout', '1m')).exitCode).toBe(0)

  blue.signal('SIGCONT')
  await blue.event(isType('LeaseTaken'))
  const { one: leaving } = await start('cron', ['--once', '--lock-timeout', '1m'])
  await leaving.event(isType('RunFinished'), 0)
  leaving.signal('SIGTERM')
  expect([await leaving.ended, leaving.stderr()]).toEqual([143, ''])
})

test('a controller whose stdout is closed reports that, releases its lease and exits', async () => {
  repository.commit(manifestFiles('a'))
  const { one } = await start('blue')
  await one.event(({ type }) => type === 'RunFinished', 0)
  one.child.stdout?.destroy()
  repository.commit(manifestFiles('b'))

  expect(await one.ended).toBe(1)
  expect(one.stderr()).toBe('error stdout has no reader: the controller stops\n')
  expect([(await runOnce()).exitCode, await names()]).toEqual([0, ['a', 'b']])
})

test('a port in use is reported in one line with advice', async () => {
  const { host } = new URL(server.url)
  writeFileSync(config, readFileSync(config, 'utf8').replace('listen: none', `listen: ${host}`))

  const { one } = await start('blue')

  expect(await one.ended).toBe(1)
  expect(one.stderr()).toBe(
    `error the controller cannot listen on ${host} (listen EADDRINUSE: address already in use ${host}): stop the program that listens there, or name another port in "listen"\n`,
  )
})

test('a mirror that this user cannot use is reported with its path', async () => {
  const mirrors = join(folder, 'mirrors')
  const mirror = join(mirrors, 'shop.one.git')
  mkdirSync(mirror, { recursive: true })
  chmodSync(mirror, 0)
  // The superuser may read everything.
  const someone = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if (someone.uid !== undefined)
    for (const path of [folder, mirrors]) chownSync(path, someone.uid, someone.gid)

  const { exitCode, stdout } = await runProgram(
    ['controller', '--config', config, '--once'],
    { PHAROS_URL: server.url, PHAROS_API_KEY: apiKey, PHAROS_REPLICA: 'one' },
    someone,
  )

  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    message: `Degraded: ${mirror} cannot be used: this user has no permission: change its permissions, or use another path`,
  })
})

test('--check reports the problems of the configuration with their places', async () => {
  const check = () =>
    runHere(['controller', '--config', config, '--check'], {
      PHAROS_URL: server.url,
      PHAROS_API_KEY: apiKey,
    })

  expect(await check()).toEqual({ exitCode: 0, stdout: `${config} is valid: shop\n`, stderr: '' })
  const right = readFileSync(config, 'utf8')
  for (const [dataDir, reason] of [
    ['/proc/pharos/data', "ENOENT: no such file or directory, mkdtemp '/proc/.pharos-check-"],
    [`${config}/data`, `ENOTDIR: not a directory, mkdtemp '${config}/.pharos-check-`],
  ]) {
    writeFileSync(config, right.replace(/^dataDir: .*$/m, `dataDir: ${dataDir}`))
    expect(await check()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        `error the folder ${dataDir}/mirrors cannot be made or written to: ${reason}`,
      ),
    })
  }
  writeFileSync(config, right.replace(/^dataDir: .*$/m, `dataDir: ${folder}/not-yet/there`))
  expect(await check()).toMatchObject({ exitCode: 0 })
  expect(existsSync(join(folder, 'not-yet'))).toBe(false)
  writeFileSync(config, right.replace('allowFile: true', 'allowFile: true, allowedSigners: /no/such/file'))
  expect(await check()).toMatchObject({
    exitCode: 1,
    stderr:
      'error repository.allowedSigners of the set shop is the file /no/such/file, which cannot be read: it does not exist\n',
  })
  writeFileSync(config, 'apiVersion: pharos/v1\nkind: Controller\nsets: []\n')
  expect(await check()).toMatchObject({
    exitCode: 7,
    stdout: `${config}:3:7: [E_VALUE] sets must have at least one set\n`,
  })
  rmSync(config)
  expect(await check()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('cannot be read (ENOENT): check --config'),
  })
})
