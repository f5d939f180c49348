import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startServer } from '../../server/testing/startServer.ts'
import { makeBareRepository } from '../git/bareRepository.ts'
import { controllerScene, manifestFiles } from '../testing/controllerScene.ts'
import { gitRepository } from '../testing/gitRepository.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { runHere } from '../testing/programHere.ts'
import { type TestController, testController } from '../testing/testController.ts'
import type { SetStatus } from './status/status.ts'

const { controllerOf, names, services, server, apiKey } = controllerScene(startServer)

const HOUR_MS = 3_600_000
const PHAROS_STATE_KEY = 'k'.repeat(32)
/** The token of git, which nothing may show. */
const TOKEN = 'a-token-of-git'
const env = { PHAROS_STATE_KEY, PHAROS_GIT_TOKEN: TOKEN }

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-opening-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Lines of a set `next`, with the folder `other` of `repository` and the state `location`. */
function nextSet(repository: string, location: string): string {
  return `  - name: next
    repository: {url: "${repository}", path: other, allowFile: true}
    state: "${location}"
    leaseTtl: 10m
`
}

function nextOf(one: TestController): SetStatus | undefined {
  return one.controller.status().sets.find(({ name }) => name === 'next')
}

test('a set whose state cannot be opened says why and is retried, while the other sets run', async () => {
  const remote = temporaryFolder()
  const repository = gitRepository()
  onTestFinished(() => repository.remove())
  const one = await controllerOf({
    repository,
    more: nextSet(repository.url, `git:file://${remote}#refs/pharos/next`),
    env,
  })
  repository.commit({ ...manifestFiles('a'), 'other/b.yaml': manifestOf('b') })
  one.start()
  await one.until(() => one.shop().headline === 'Ready' && nextOf(one)?.headline === 'StateUnavailable')
  const get = async (path: string) => {
    const response = await fetch(`${one.controller.url}${path}`)
    return [response.status, (await response.text()).trimEnd()] as const
  }

  const reason = 'the state in git cannot be used: there is no repository at the address'
  expect(nextOf(one)).toMatchObject({
    role: 'starting',
    conditions: [{ type: 'StateUnavailable', message: expect.stringContaining(reason) }],
  })
  expect(await get('/healthz')).toEqual([200, '{"status":"ok"}'])
  expect(await get('/readyz')).toEqual([503, '{"status":"not read yet","sets":["next"]}'])
  const [, metrics] = await get('/metrics')
  expect(metrics).toContain('pharos_condition{set="next",condition="StateUnavailable"} 1')
  expect(metrics).toMatch(/pharos_last_success_timestamp_seconds\{set="next"\} \d/)
  expect((await get('/sets/next'))[1]).toContain('there is no repository at the address')
  expect(await one.api('/api/sets/next/suspend', { reason: 'release' })).toEqual([
    503,
    { error: expect.stringContaining(`the state of the set next is not open yet: ${reason}`) },
  ])
  const raised = () =>
    one.events.flatMap(({ type, set, condition }) =>
      set === 'next' && type.startsWith('Condition') ? [`${type} ${condition}`] : [],
    )
  expect(raised()).toEqual(['ConditionRaised StateUnavailable'])

  makeBareRepository(remote)
  await one.until(() => nextOf(one)?.headline === 'Ready', HOUR_MS)
  expect(await names()).toEqual(['a', 'b'])
  // The reason may change while the repository is made.
  expect(raised().at(-1)).toBe('ConditionCleared StateUnavailable')
  expect((await get('/readyz'))[0]).toBe(200)
  expect(JSON.stringify([one.events, metrics, await get('/status.json')])).not.toContain(TOKEN)
})

test('a damaged state on disk stops only its own set', async () => {
  const file = join(temporaryFolder(), 'next.db')
  writeFileSync(file, 'not a database '.repeat(100))
  const repository = gitRepository()
  onTestFinished(() => repository.remove())
  const one = await controllerOf({ repository, more: nextSet(repository.url, file) })
  repository.commit({ ...manifestFiles('a'), 'other/b.yaml': manifestOf('b') })
  one.start()

  await one.until(() => one.shop().headline === 'Ready' && nextOf(one)?.headline === 'StateUnavailable')
  expect(nextOf(one)?.conditions[0]?.message).toContain(file)

  rmSync(file)
  await one.until(() => nextOf(one)?.headline === 'Ready', HOUR_MS)
  expect(await names()).toEqual(['a', 'b'])
})

test('a service that may belong to a set whose state is not open is not taken over', async () => {
  const [repository, folder] = [gitRepository(), temporaryFolder()]
  onTestFinished(() => repository.remove())
  const [state, aside] = [join(folder, 'next.db'), join(folder, 'aside')]
  const shared = { repository, more: nextSet(repository.url, state) }
  repository.commit({ ...manifestFiles('a'), 'other/b.yaml': manifestOf('b') })
  const first = await testController({ url: server().url, apiKey: apiKey(), folder, ...shared })
  first.start()
  await first.until(() => first.controller.status().sets.every(({ headline }) => headline === 'Ready'))
  await first.close()
  const id = (await services()).find(({ name }) => name === 'b')?.id ?? ''
  renameSync(state, aside)
  writeFileSync(state, 'not a database '.repeat(100))
  const copy = manifestOf('copy').replace('{name: copy}', `{name: copy, id: ${id}}`)
  repository.commit({ 'monitoring/copy.yaml': copy })

  const one = await controllerOf({ ...shared, folder, replica: 'green' })
  one.start()
  const ofCopy = () => one.shop().services.find(({ key }) => key === 'copy')
  await one.until(() => ofCopy()?.reason === 'otherSet', HOUR_MS)
  await one.nextCycle()

  expect(one.shop().conditions.map(({ message }) => message)).toContain(
    '1 service may belong to the set next, whose state is not open yet, and cannot be taken over until it is',
  )
  expect(await names()).toEqual(['a', 'b'])

  renameSync(aside, state)
  await one.until(() => nextOf(one)?.headline === 'Ready', HOUR_MS)
  await one.nextCycle()
  expect(one.shop().conditions.map(({ message }) => message)).toContain(
    `service ${id} belongs to the set next: keep its id in one of the two`,
  )
  expect(await names()).toEqual(['a', 'b'])
})

test('a stop does not wait for a state in git that no longer responds', async () => {
  const [remote, repository, folder] = [temporaryFolder(), gitRepository(), temporaryFolder()]
  onTestFinished(() => repository.remove())
  makeBareRepository(remote)
  const one = await testController({
    ...{ url: server().url, apiKey: apiKey(), repository, folder, env },
    more: `    state: "git:file://${remote}#refs/pharos/shop"\n`,
  })
  repository.commit(manifestFiles('a'))
  one.start()
  await one.until(() => one.shop().headline === 'Ready', 24 * HOUR_MS)
  // git waits for a writer of the pipe.
  rmSync(join(remote, 'HEAD'))
  execFileSync('mkfifo', [join(remote, 'HEAD')])

  await one.close()

  expect(one.events.map(({ message }) => message)).toContain(
    'the lease was not released, because the state could not be written within 45 s: it expires after leaseTtl',
  )
})

/** A configuration of the sets `shop` and `next`, whose state is at `location`. */
function configuration(location: string): { readonly config: string; readonly folder: string } {
  const [folder, repository] = [temporaryFolder(), gitRepository()]
  onTestFinished(() => repository.remove())
  repository.commit({ ...manifestFiles('a'), 'other/b.yaml': manifestOf('b') })
  const config = join(folder, 'pharos-controller.yaml')
  writeFileSync(
    config,
    `apiVersion: pharos/v1
kind: Controller
listen: none
dataDir: ${folder}/data
sets:
  - name: shop
    repository: {url: "${repository.url}", path: monitoring, allowFile: true}
${nextSet(repository.url, location)}`,
  )
  return { config, folder }
}

const environment = () => ({ ...env, PHAROS_URL: server().url, PHAROS_API_KEY: apiKey() })

test('--once runs the other sets, and exits with 1 and the name of a set whose state cannot be opened', async () => {
  const { config } = configuration(`git:file://${temporaryFolder()}#refs/pharos/next`)

  const run = await runHere(['controller', '--config', config, '--once'], environment())

  expect(run).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      'error the set next did not run: the state in git cannot be used: there is no repository at the address',
    ),
  })
  expect(await names()).toEqual(['a'])
})

/** A host that accepts connections and says nothing. */
async function silentHost(): Promise<{ readonly port: number; readonly connected: Promise<unknown> }> {
  const sockets = new Set<Socket>()
  const host = createServer((socket) => void sockets.add(socket.on('error', () => {})))
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    host.close()
  })
  // True because a server that listens on TCP has an address with a port.
  const { port } = host.address() as AddressInfo
  return { port, connected: once(host, 'connection') }
}

test.each([
  { mode: 'of a single run', args: ['--once'] },
  { mode: 'of a controller', args: [] },
])('a stop $mode during the opening of a state ends git at once', async ({ args }) => {
  const { port, connected } = await silentHost()
  const { config } = configuration(`git:https://127.0.0.1:${port}/state.git#refs/pharos/next`)
  let stop = (): void => {}
  let stopped: number | undefined
  const interruption = {
    exitCode: () => stopped,
    onStop: (listener: () => void) => {
      stop = listener
    },
    beforeEnd: () => {},
  }
  const [timers, cleared] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')]
  onTestFinished(() => void vi.restoreAllMocks())
  const run = runHere(['controller', '--config', config, ...args], environment(), { interruption })
  await connected

  stopped = 143
  stop()

  const { exitCode, stderr } = await run
  expect([exitCode, stderr]).toEqual([143, ''])
  // The time limit of the other set, whose state is open, would keep the program running.
  const limits = timers.mock.results.filter((_, index) => timers.mock.calls[index]?.[1] === 45_000)
  expect(cleared.mock.calls.flat()).toEqual(expect.arrayContaining(limits.map(({ value }) => value)))
})

test.each([
  ['git:https://git.example.com/state.git', 'names no ref'],
  ['git:ext::sh -c date#refs/pharos/next', 'must be an https:// or ssh:// address'],
  ['git:/nowhere/state.git#refs/pharos/next', 'there is no folder /nowhere/state.git: create the repository'],
  ['/', '/ is a folder: name a file for the state'],
])('a state at %s, which no retry can open, ends the program at its start', async (location, reason) => {
  const { config, folder } = configuration(location)
  const run = (...args: readonly string[]) =>
    runHere(['controller', '--config', config, ...args], environment())

  for (const ended of [await run(), await run('--check'), await run('--once')])
    expect(ended).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error the set next cannot use its state: /),
    })
  expect((await run('--check')).stderr).toContain(reason)
  expect(() => readFileSync(join(folder, 'data'))).toThrow('ENOENT')
})
