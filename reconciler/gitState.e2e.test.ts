import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { startServer } from '../server/testing/startServer.ts'
import { makeBareRepository } from './git/bareRepository.ts'
import { CommandScene } from './testing/commandScene.ts'
import type { Fault } from './testing/faultProxy.ts'
import { gitCalls } from './testing/gitCalls.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { emptyDocument } from './state/model/stateDocument.ts'
import { runProgram, startProgram } from './testing/pharosProgram.ts'
import { finished } from './testing/processes.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { names, work } = scene
let repository: string
beforeEach(() => {
  work.env.PHAROS_STATE_KEY = 'k'.repeat(32)
  repository = join(work.folder, 'state.git')
  makeBareRepository(repository)
})

const REF = 'refs/pharos/production'
const state = (): string => `git:${repository}#${REF}`
const onManifests = (command: string): readonly string[] => [
  command,
  join(work.folder, 'manifests'),
  '--state',
  state(),
  '--json',
]

async function json(command: string, ...args: readonly string[]) {
  const run = await runHere([...onManifests(command), ...args], work.env)
  return { ...JSON.parse(run.stdout), exit: run.exitCode }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' })
}

/** Writes a lease into the state as another writer would. */
function putLease(lease: object): void {
  const made = (input: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-C', repository, ...args], { input, encoding: 'utf8' }).trim()
  const blob = made(JSON.stringify(lease), 'hash-object', '-w', '--stdin')
  const entries = git('ls-tree', REF).replace(/blob \w+\tlease/, `blob ${blob}\tlease`)
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t']
  const commit = made('', ...identity, 'commit-tree', '-m', 'lease', made(entries, 'mktree'))
  git('update-ref', REF, commit)
}

test('a state in git is kept in a few commits, and no secret is in any of them', async () => {
  work.env.TOKEN = 'canary-in-git'
  const all = Array.from({ length: 9 }, (_, index) => `s${index}`)
  work.write(
    Object.fromEntries(
      all.map((name) => [`${name}.yaml`, manifestOf(name, '      headers: {Authorization: {env: TOKEN}}\n')]),
    ),
  )
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 9 } })
  // The lease, everything that was about to be sent, what came of it, and the lease given back.
  expect(git('rev-list', '--count', REF).trim()).toBe('4')
  expect(await json('plan')).toMatchObject({ exit: 0, changes: [], unchanged: all })
  work.env.TOKEN = 'canary-replaced'
  expect(await json('plan')).toMatchObject({ counts: { update: 9 } })

  const contents = git('rev-list', '--objects', '--all', '--no-object-names')
    .trim()
    .split('\n')
    .map((id) => git('cat-file', '-p', id))
    .join('\n')
  expect(contents).toContain('hmac:v1:')
  expect(contents).not.toContain('canary')
})

test('an apply asks the git host three times for the ref of its state before the first write, and a plan twice', async () => {
  const { path, taken } = gitCalls(testFolder())
  work.env.PATH = path
  work.write({ 'a.yaml': manifestOf('a') })
  const beforeWrite = (): readonly string[] => taken().join(' ').split(' push')[0]?.split(' ') ?? []
  const listed = ['ls-remote', 'ls-remote', 'ls-remote']

  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1 } })
  expect(beforeWrite()).toEqual(['version', ...listed])
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 0 } })
  expect(beforeWrite()).toEqual(['ls-remote', 'ls-remote', 'fetch', 'cat-file', 'ls-remote'])
  expect(await json('plan')).toMatchObject({ exit: 0, unchanged: ['a'] })
  expect(taken()).toEqual(['ls-remote', 'ls-remote', 'fetch', 'cat-file'])
})

test('a run without the key for the state in git ends, and does not block others', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const { PHAROS_STATE_KEY, ...keyless } = work.env
  for (const env of [keyless, { ...keyless, PHAROS_STATE_KEY: 'short' }]) {
    const run = await runHere(onManifests('apply'), env)
    expect([run.exitCode, JSON.parse(run.stdout).error.code]).toEqual([1, 'E_STATE'])
  }
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1 } })
})

test('of two runs with one state in git the second exits with 5 before it sends anything', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = startProgram(onManifests('apply'), work.env)
  const firstEnd = finished(first)
  await new Promise<void>((resolve) => {
    scene.proxy.decide = async (): Promise<Fault> => {
      resolve()
      await released
      return 'pass'
    }
  })
  expect(await json('apply')).toMatchObject({
    exit: 5,
    error: { message: expect.stringContaining('the state is locked by another run') },
  })
  expect(await names()).toEqual([])
  release()
  expect((await firstEnd).exitCode).toBe(0)
  expect(await names()).toEqual(['a', 'b'])
})

test('an import that the repository refuses ends with the reason', async () => {
  const file = join(work.folder, 'state.json')
  writeFileSync(file, JSON.stringify(emptyDocument('00000000-0000-4000-8000-000000000000')))
  mkdirSync(join(repository, 'hooks'))
  // The first push is that of the lease.
  const hook = '#!/bin/sh\n[ ! -e seen ] && touch seen\n'
  writeFileSync(join(repository, 'hooks/pre-receive'), hook, { mode: 0o755 })

  const run = await runProgram(['state', 'import', file, '--state', state()], work.env)

  expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(pre-receive hook declined)') })
})

test('a run that loses the lease of its state in git stops sending', async () => {
  work.write(Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`${name}.yaml`, manifestOf(name)])))
  await json('apply')
  work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s') })
  scene.proxy.decide = () => {
    putLease({ holder: 'another', epoch: 99, renewals: 0 })
    return 'pass'
  }
  expect(await json('apply')).toMatchObject({ exit: 5 })
})

test('a run whose git host refuses every write from some moment on ends with the message of the host, and its results', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  mkdirSync(join(repository, 'hooks'))
  scene.proxy.afterEffect = () =>
    writeFileSync(join(repository, 'hooks/update'), '#!/bin/sh\necho revoked >&2\nexit 1\n', { mode: 0o755 })

  const { exitCode, stdout } = await finished(startProgram(onManifests('apply'), work.env))

  expect([exitCode, JSON.parse(stdout)]).toMatchObject([
    1,
    {
      error: { message: expect.stringContaining('revoked') },
      outcomes: [{ kind: 'create' }, { kind: 'create' }],
    },
  ])
})

test('the next run determines whether the last request of a killed run was executed', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  const child = startProgram(onManifests('apply'), work.env)
  scene.proxy.afterEffect = () => child.kill('SIGKILL')
  expect((await finished(child)).exitCode).toBeNull()
  scene.proxy.afterEffect = () => {}

  expect(await json('apply')).toMatchObject({ exit: 5 })
  // Two minutes without a sign of life are not for a test: a person who knows that it died gives the lease back.
  putLease({ holder: null, epoch: 1, renewals: 0 })

  expect(await json('apply', '--create-grace', '1ms')).toMatchObject({ exit: 0 })
  expect(await names()).toEqual(['a', 'b'])
  expect(await json('plan')).toMatchObject({ changes: [], unchanged: ['a', 'b'] })
})

test('a ref without a state, or with a damaged one, is reported with what to do, and nothing is sent', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await json('apply')
  const put = (lease: string, ...left: readonly string[]): void => {
    const made = (input: string, ...args: readonly string[]): string =>
      execFileSync('git', ['-C', repository, ...args], { input, encoding: 'utf8' }).trim()
    const blob = made(lease, 'hash-object', '-w', '--stdin')
    const lines = [`100644 blob ${blob}\tlease.json`, ...left]
    const tree = made(`${lines.join('\n')}\n`, 'mktree')
    const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
    git('update-ref', REF, made('', ...who, 'commit-tree', '-m', 'damaged', tree))
  }
  const state = git('ls-tree', REF, 'state.json').trimEnd()
  work.write({ 'b.yaml': manifestOf('b') })

  put('{"hol', state)
  expect(await json('apply')).toMatchObject({
    exit: 1,
    error: {
      code: 'E_STATE',
      message: expect.stringContaining('set the ref to the last valid commit'),
    },
  })
  put('{}')
  expect(await json('plan')).toMatchObject({
    exit: 1,
    error: { code: 'E_STATE', message: expect.stringContaining('contains no state of pharos') },
  })
  expect(await names()).toEqual(['a'])
})

test.each([
  ['git:/somewhere', 'names no ref'],
  ['git:https://user:secret@host/x#refs/pharos/a', 'must contain no credential'],
  ['git:https://user:secret@host/x', 'the state git:https://…@host/x names no ref'],
  ['https://secret@host/x#refs/pharos/a', 'the state https://…@host/x#refs/pharos/a is neither the path'],
  ['git:ext::sh -c date#refs/pharos/a', 'the address of the state must be'],
  ['git+file:///somewhere#refs/pharos/a', 'neither the path of a file nor in git: for git use git:ADDRESS'],
  ['https://git.example/x.git', 'neither the path of a file nor in git: for git use git:ADDRESS'],
  ['git@host:x#refs/pharos/a', 'neither the path of a file nor in git: for git use git:ADDRESS'],
  ['git:https:/secret@host/x#refs/pharos/a', 'the address of the state must be an https://'],
  ['git:https:secret@host/x#refs/pharos/a', 'the address of the state must be an https://'],
  ['git:https:/secret@host/x', 'the state git:https:/…@host/x names no ref'],
  ['git:https://host/x?access_token=secret#refs/pharos/a', 'must have no query'],
  ['git:https://host/x?access_token=secret', 'the state git:https://host/x?… names no ref'],
  ['https:/secret@host/x', 'the state https:/…@host/x is neither the path'],
  ['https://host/x?access_token=secret#refs/pharos/a', 'the state https://host/x?…#refs/pharos/a is neither'],
  ['git:/no/such/repository#refs/pharos/a', 'cannot be used: there is no repository at the address'],
])('an invalid location of a state in git is refused: %s', async (location, message) => {
  const plan = ['plan', join(work.folder, 'manifests')]
  const run = await runHere([...plan, '--state', location], work.env)
  const asData = await runHere([...plan, '--state', location, '--json'], work.env)

  expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining(message)])
  expect([asData.exitCode, JSON.parse(asData.stdout).error.message]).toEqual([
    1,
    expect.stringContaining(message),
  ])
  expect(JSON.stringify([run, asData])).not.toContain('secret')
})
