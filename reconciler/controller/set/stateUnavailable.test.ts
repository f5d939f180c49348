import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { controllerScene, manifestFiles } from '../../testing/controllerScene.ts'
import { gitRepository } from '../../testing/gitRepository.ts'

const { controllerOf, names, intervals, changeInterval } = controllerScene(startServer)

const WAY_BACK = ', so no more requests are sent: restore it, or restart this program with the right state'

test('a state that is removed while the controller runs stops every change until it is restored', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const [state, aside] = [join(one.folder, 'shop.db'), join(one.folder, 'aside.db')]
  renameSync(state, aside)
  one.repository.commit(manifestFiles('b'))
  await changeInterval('a', 300)

  await one.push()
  await one.until(() => one.shop().headline === 'StateUnavailable')
  await one.until(() => one.shop().role === 'starting', 60 * 60_000)

  const reason = `${state} was removed or replaced while it was in use, so no more requests are sent`
  expect(one.shop()).toMatchObject({
    conditions: [{ type: 'StateUnavailable', message: expect.stringContaining(reason) }],
  })
  expect(await one.api('/api/sets/shop/suspend', { reason: 'release' })).toEqual([
    503,
    { error: expect.stringContaining(reason) },
  ])
  expect([await names(), await intervals(), existsSync(state)]).toEqual([['a'], { a: 300 }, false])
  expect(one.events.filter(({ type }) => type === 'LeaseLost')).toEqual([])
  const raised = one.events.filter(({ type }) => type === 'ConditionRaised')
  expect(raised.map(({ condition }) => condition)).toEqual(['StateUnavailable'])

  renameSync(aside, state)
  await one.until(() => one.shop().headline === 'Ready')
  expect(await intervals()).toEqual({ a: 60, b: 60 })
})

test('a state that is replaced while the controller runs is not changed, and the next controller continues from it', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const { folder, repository } = one
  const shared = { folder, repository }
  const state = join(folder, 'shop.db')
  copyFileSync(state, join(folder, 'copy'))
  rmSync(state)
  renameSync(join(folder, 'copy'), state)
  repository.commit(manifestFiles('b'))
  await one.push()
  await one.until(() => one.shop().headline === 'StateUnavailable')
  expect(await names()).toEqual(['a'])

  const next = await controllerOf({ ...shared, replica: 'green' })
  next.start()
  await next.until(() => next.shop().headline === 'Ready', 60 * 60_000)
  expect(await names()).toEqual(['a', 'b'])
  expect(one.shop().headline).not.toBe('Ready')
})

test('a controller without its state creates no existing service again, and reports each one', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a', 'b'))
  one.start()
  await one.nextCycle()
  const { folder, repository } = one
  rmSync(join(folder, 'shop.db'))

  const next = await controllerOf({ folder, repository, replica: 'green' })
  next.start()
  await next.nextCycle()

  expect(await names()).toEqual(['a', 'b'])
  expect(next.shop().services.map(({ state, message }) => [state, message])).toEqual([
    ['Blocked', expect.stringContaining('exists and is not managed here')],
    ['Blocked', expect.stringContaining('exists and is not managed here')],
  ])
})

test('a leader whose state cannot be written stays the leader, and continues when it can be written again', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const database = new Database(join(one.folder, 'shop.db'))
  // As on a disk that is full: what is there can be read, and nothing is added.
  database.exec("CREATE TRIGGER full BEFORE UPDATE ON lease BEGIN SELECT RAISE(FAIL, 'no room'); END")
  one.repository.commit(manifestFiles('b'))

  await one.until(() => one.shop().role === 'starting', 60 * 60_000)
  expect(one.shop().conditions).toMatchObject([
    { type: 'StateUnavailable', message: expect.stringContaining('no room') },
  ])
  database.exec('DROP TRIGGER full')
  database.close()
  await one.until(() => one.shop().headline === 'Ready', 60 * 60_000)

  expect([one.shop().role, await names()]).toEqual(['leader', ['a', 'b']])
  expect(one.events.filter(({ type }) => type === 'LeaseLost')).toEqual([])
  expect(one.events.at(-1)).toMatchObject({ type: 'ConditionCleared' })
})

test('a state in git that is removed while the controller runs is not created again, and the controller continues when it is restored', async () => {
  const states = gitRepository()
  onTestFinished(() => states.remove())
  const ref = 'refs/pharos/shop'
  const one = await controllerOf({
    more: `    state: "git:${states.url}#${ref}"\n`,
    env: { PHAROS_STATE_KEY: randomBytes(32).toString('hex') },
  })
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.until(() => one.shop().headline === 'Ready', 24 * 60 * 60_000)
  const kept = states.git('rev-parse', ref)
  states.git('update-ref', '-d', ref)
  one.repository.commit(manifestFiles('b'))

  await one.until(() => one.shop().role === 'starting', 24 * 60 * 60_000)
  expect(one.shop().conditions).toMatchObject([
    { message: `${states.url}#${ref} was removed or replaced while it was in use${WAY_BACK}` },
  ])
  expect([await names(), states.git('for-each-ref', ref)]).toEqual([['a'], ''])

  states.git('update-ref', ref, kept)
  await one.until(() => one.shop().headline === 'Ready', 24 * 60 * 60_000)
  expect(await names()).toEqual(['a', 'b'])
})
