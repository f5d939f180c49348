import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { json, names, work } = scene

/** Writes a manifest for each name. */
function write(...names: readonly string[]): void {
  work.write(Object.fromEntries(names.map((name) => [`${name}.yaml`, manifestOf(name)])))
}

test('most of a small set is deleted only with a higher limit or with approval of the digest', async () => {
  write('a', 'b', 'c', 'd')
  await work.run('apply')
  work.write({ 'a.yaml': null, 'b.yaml': null, 'c.yaml': null })

  const blocked = await json('apply')
  expect(blocked).toMatchObject({
    exit: 4,
    plan: { brakes: [{ brake: 'maxDeletes', keys: ['a', 'b', 'c'] }] },
  })
  expect(await names()).toEqual(['a', 'b', 'c', 'd'])
  expect(await json('plan', '--max-deletes', '3')).toMatchObject({ exit: 4, approval: blocked.plan.approval })
  expect(await json('plan', '--max-deletes', '75%')).toMatchObject({ exit: 0, brakes: [] })
  expect(await json('apply', '--max-deletes', '1,75%')).toMatchObject({ exit: 0, applied: { removed: 3 } })
  expect(await names()).toEqual(['d'])
})

test.each(['5,', '%', '101%', '-1', '5%,5', 'many'])(
  'a limit of "%s" is refused before anything is sent',
  async (limit) => {
    write('a')

    const run = await work.run('apply', '--max-updates', limit)

    expect([run.exitCode, run.stderr]).toEqual([
      1,
      expect.stringContaining('--max-updates must be a count, a percentage or both, such as 5, 20% or 5,20%'),
    ])
  },
)

test('a plan without secrets treats them as unchanged and shows everything else, and apply still needs them', async () => {
  const withSecret = manifestOf('a', '      headers: {Authorization: {env: PROBE_TOKEN}}\n')
  work.write({ 'a.yaml': withSecret })
  work.env.PROBE_TOKEN = 'canary-token'
  await work.run('apply')
  delete work.env.PROBE_TOKEN

  expect(await json('plan')).toMatchObject({ problems: [{ code: 'E_SECRET' }] })
  expect(await json('plan', '--without-secrets', '--detailed-exitcode')).toMatchObject({
    exit: 0,
    changes: [],
  })
  work.write({ 'a.yaml': withSecret.replace(/interval: \w+/, 'interval: 2m') })
  expect(await json('plan', '--without-secrets', '--detailed-exitcode')).toMatchObject({
    exit: 2,
    changes: [{ key: 'a', fields: [{ pointer: '/interval_secs', to: 120 }] }],
  })
  expect(await json('apply')).toMatchObject({ problems: [{ code: 'E_SECRET' }] })
})

test('a commit message approves the digests that it names while the commit is checked out', async () => {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: join(work.folder, 'manifests'),
    }).toString()
  const commit = (message: string) => git('commit', '--quiet', '--allow-empty', '--message', message)
  git('init', '--quiet')
  write('a', 'b', 'c')
  await work.run('apply')
  work.write({ 'a.yaml': null, 'b.yaml': null, 'c.yaml': manifestOf('c'), 'd.yaml': manifestOf('d') })
  git('add', '--all')
  commit('remove two')
  await work.run('apply', '--max-deletes', '0')
  const { approval } = await json('plan', '--max-deletes', '0')

  commit(`yes\n\nPharos-Approve: ${approval}`)
  work.write({ 'c.yaml': `${manifestOf('c')}# not committed\n` })
  const differing = await work.run('apply', '--max-deletes', '0')
  expect([differing.exitCode, differing.stderr]).toEqual([4, expect.stringContaining('discard c.yaml')])
  work.write({ 'c.yaml': manifestOf('c'), 'pharos.db': 'no manifest' })
  const elsewhere = await runHere(
    ['apply', join(work.folder, 'manifests'), '--state', work.statePath, '--max-deletes', '0'],
    { ...work.env, PATH: gitOfAnotherUser() },
  )
  expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([4, expect.stringContaining('safe.directory')])
  expect(await json('plan', '--max-deletes', '0')).toMatchObject({ exit: 4, approval })

  const allowed = join(work.folder, 'gitconfig')
  writeFileSync(allowed, '[safe]\n\tdirectory = *\n')
  expect(
    await runHere(
      ['apply', join(work.folder, 'manifests'), '--state', work.statePath, '--max-deletes', '0'],
      { ...work.env, PATH: gitOfAnotherUser(), GIT_CONFIG_GLOBAL: allowed },
    ),
  ).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await names()).toEqual(['c', 'd'])
})

/** A PATH with a git that takes every repository for one of another user, as a job in a container sees its checkout. */
function gitOfAnotherUser(): string {
  const folder = join(work.folder, 'bin')
  mkdirSync(folder, { recursive: true })
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec ${git} "$@"\n`
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 })
  return `${folder}:${process.env.PATH}`
}
