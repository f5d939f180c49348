import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/pharosProgram.ts'

const scene = new CommandScene(startServer)
const { intervals, json, work } = scene
beforeEach(() => {
  git('init', '--quiet', '--initial-branch', 'main')
})

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
  return execFileSync('git', [...who, ...args], { cwd: work.folder, encoding: 'utf8' }).trim()
}

function commit(message: string): string {
  git('add', 'manifests')
  git('commit', '--quiet', '--message', message)
  return git('rev-parse', 'HEAD')
}

test('rollback applies an older commit without touching the checkout, and holds what is newer until resume', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const good = commit('a as it was')
  await work.run('apply')
  work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s'), 'b.yaml': manifestOf('b') })
  commit('a change that nobody wanted')
  await work.run('apply')
  expect(await intervals()).toEqual({ a: 90, b: 60 })

  const back = await json('rollback', '--to', 'HEAD~1', '--reason', 'alerts all night', '--actor', 'ada')
  expect(back).toMatchObject({ exit: 0, commit: good, applied: { updated: 1, removed: 1 } })
  expect(await intervals()).toEqual({ a: 60 })
  expect(git('status', '--porcelain', 'manifests')).toBe('')

  const held = await json('apply')
  expect(held).toMatchObject({ exit: 4, applied: { created: 0, updated: 0, withheld: 2 } })
  expect(held.plan.brakes[0].message).toBe(
    `ada suspended everything: rolled back to ${good.slice(0, 12)} (a as it was): alerts all night`,
  )
  const again = await json('rollback', '--to', good)
  expect(again).toMatchObject({ exit: 0, applied: { updated: 0, created: 0, removed: 0 } })
  const run = execFileSync(
    process.execPath,
    [join(import.meta.dirname, '../dist/pharos.js'), 'resume', '*', '--state', work.statePath],
    { env: work.env, encoding: 'utf8' },
  )
  expect(run).toContain('no longer suspended')
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { updated: 1, created: 1 } })
})

test('rollback says what it cannot go back to, and suspends nothing then', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  expect((await json('rollback')).error.message).toContain('needs --to')
  expect((await json('rollback', '--to', 'HEAD')).error.message).toContain('has no commit HEAD')
  git('commit', '--quiet', '--allow-empty', '--message', 'nothing yet')
  const nothing = await json('rollback', '--to', 'HEAD')
  expect(nothing).toMatchObject({ exit: 1, error: { code: 'E_USAGE' } })
  expect(nothing.error.message).toContain('has nothing at manifests')
  expect((await json('rollback', '--to', '--upload-pack=touch x')).error.message).toContain('is invalid')
  expect((await json('rollback', '--to', 'HEAD^{tree}')).error.message).toContain('has no commit')
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { unchanged: 1 } })
})

test('a rollback that fails half-way says that everything is suspended all the same', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  commit('a')
  await work.run('apply')
  const { PHAROS_API_KEY = '' } = work.env
  work.env.PHAROS_API_KEY = `pharos_${'0'.repeat(64)}`

  const { exitCode, stderr } = await work.run('rollback', '--to', 'HEAD')

  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('everything is suspended')])
  work.env.PHAROS_API_KEY = PHAROS_API_KEY
  work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s') })
  expect(await json('apply')).toMatchObject({ exit: 4, applied: { withheld: 1 } })
})
