import { expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { controllerScene, manifestFiles } from '../../testing/controllerScene.ts'
import { manifestOf } from '../../testing/manifestOf.ts'
import type { TestController } from '../../testing/testController.ts'
import type { SetStatus } from '../status/status.ts'

const { controllerOf, services } = controllerScene(startServer)

const HOUR_MS = 3_600_000

/** A controller of the sets `shop` (folder monitoring) and `next` (folder other), each with a service of its own. */
async function twoSets(): Promise<TestController> {
  const first = await controllerOf()
  first.repository.commit({ ...manifestFiles('a', 'b'), 'other/own.yaml': manifestOf('own') })
  const next = `  - name: next\n    repository: {url: "${first.repository.url}", path: other, allowFile: true}\n    leaseTtl: 10m\n`
  const one = await controllerOf({ repository: first.repository, more: next })
  one.start()
  await one.until(() => one.controller.status().sets.every(({ headline }) => headline === 'Ready'))
  return one
}

function nextOf(one: TestController): SetStatus | undefined {
  return one.controller.status().sets.find(({ name }) => name === 'next')
}

async function idOf(name: string): Promise<string> {
  return (await services()).find((service) => service.name === name)?.id ?? ''
}

const settled = (one: TestController) => () =>
  one.controller.status().sets.every(({ headline }) => headline === 'Ready') &&
  nextOf(one)?.services.some(({ key, state }) => key === 'moved' && state === 'Synced') === true

test('a service whose manifest moves to another set is handed over unchanged, without a restart', async () => {
  const one = await twoSets()
  const id = await idOf('a')
  one.repository.commit({
    'monitoring/a.yaml': null,
    'other/moved.yaml': manifestOf('moved').replace('{name: moved}', `{name: moved, id: ${id}}`),
  })
  await one.until(settled(one), HOUR_MS)

  expect((await services()).map(({ name, paused_at }) => [name, paused_at ?? null])).toEqual([
    ['b', null],
    ['moved', null],
    ['own', null],
  ])
  expect(await idOf('moved')).toBe(id)
  expect(one.events.map(({ message }) => message)).toContain(
    `a: service ${id} was handed over to the set next`,
  )
})

test('a service that was paused because its manifest was removed is resumed when another set adopts it', async () => {
  const one = await twoSets()
  const id = await idOf('a')
  one.repository.commit({ 'monitoring/a.yaml': null })
  await one.until(() => one.shop().counts.Removing === 1, HOUR_MS)
  one.repository.commit({
    'other/moved.yaml': manifestOf('moved').replace('{name: moved}', `{name: moved, id: ${id}}`),
  })
  await one.until(settled(one), HOUR_MS)

  expect((await services()).find((service) => service.id === id)).toMatchObject({ name: 'moved' })
  expect((await services()).filter(({ paused_at }) => paused_at != null)).toEqual([])
  expect(one.shop().counts.Removing).toBe(0)
})

test('several services of another set are one condition, which names that set', async () => {
  const one = await twoSets()
  const ids = [await idOf('a'), await idOf('b')]
  const files = ids.map((id, index) => [
    `other/moved${index}.yaml`,
    manifestOf(`moved${index}`).replace(/{name: (.*)}/, `{name: $1, id: ${id}}`),
  ])
  one.repository.commit(Object.fromEntries(files))
  await one.until(
    () => nextOf(one)?.services.filter(({ reason }) => reason === 'otherSet').length === 2,
    HOUR_MS,
  )

  expect(nextOf(one)?.conditions.map(({ message }) => message)).toEqual([
    '2 services belong to the set shop: keep each in one of the two',
  ])
})

test('a service that the first set still names is not handed over, and one that it releases is free at once', async () => {
  const one = await twoSets()
  const id = await idOf('a')
  const moved = manifestOf('moved').replace('{name: moved}', `{name: moved, id: ${id}}`)
  one.repository.commit({ 'other/moved.yaml': moved })
  await one.until(() => nextOf(one)?.services.some(({ reason }) => reason === 'otherSet') === true, HOUR_MS)
  expect(nextOf(one)?.headline).toBe('Degraded')
  await one.nextCycle()
  expect(await idOf('a')).toBe(id)

  one.repository.commit({ 'monitoring/a.yaml': `${manifestOf('a')}policy: {onDelete: detach}\n` })
  await one.nextCycle()
  one.repository.commit({ 'monitoring/a.yaml': null })
  await one.until(settled(one), HOUR_MS)
  expect(await idOf('moved')).toBe(id)
})
