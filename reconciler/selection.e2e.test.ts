import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'

const scene = new CommandScene(startServer)
const { json, names, work } = scene

/** A manifest with labels, checked every `interval`. */
function labelled(name: string, team: string, interval = '60s'): string {
  return manifestOf(name)
    .replace(`{name: ${name}}`, `{name: ${name}, labels: {team: ${team}}}`)
    .replace('60s', interval)
}

/** Writes the shop's services and the desk's. */
function write(interval?: string): void {
  const of = { 'cart.yaml': 'shop', 'pay.yaml': 'shop', 'help.yaml': 'desk' }
  work.write(
    Object.fromEntries(
      Object.entries(of).map(([file, team]) => [file, labelled(file.slice(0, -5), team, interval)]),
    ),
  )
}

test('a service outside the selection is neither created nor changed, and a plan counts those left out', async () => {
  write()

  const first = await json('apply', '--selector', 'team=shop')
  expect(first).toMatchObject({ exit: 0, plan: { leftOut: { services: 1, changes: 1 } } })
  expect(await names()).toEqual(['cart', 'pay'])
  await work.run('apply')
  write('120s')
  const text = await work.run('plan', '--target', 'pay,help', '--selector', 'team!=desk')
  const applied = await json('apply', '--target', 'pay,help', '--selector', 'team!=desk')

  expect(text.stdout).toContain('Plan: 1 to update, 0 unchanged')
  expect(text.stderr).toContain('2 services left out by --selector or --target; 2 of them would change')
  expect(applied).toMatchObject({ exit: 0, applied: { updated: 1 } })
  expect(await json('plan')).toMatchObject({ changes: [{ key: 'cart' }, { key: 'help' }] })
})

test('a removed manifest has no labels: only its name selects it', async () => {
  write()
  await work.run('apply')
  work.write({ 'pay.yaml': null })

  const bySelector = await json('apply', '--selector', 'team')
  const afterwards = await names()
  const byName = await json('apply', '--target', 'pay')

  expect(bySelector).toMatchObject({ exit: 0, plan: { changes: [], leftOut: { services: 1, changes: 1 } } })
  expect(afterwards).toEqual(['cart', 'help', 'pay'])
  expect(byName).toMatchObject({ exit: 0, applied: { removed: 1 } })
  expect(await names()).toEqual(['cart', 'help'])
})

test('drift and its exit code consider only the selection', async () => {
  write()
  await work.run('apply')
  await scene.changeInterval('help', 300)

  expect(await json('drift', '--selector', 'team=shop')).toMatchObject({ exit: 0, drift: [] })
  expect(await json('drift', '--selector', 'team=desk')).toMatchObject({ exit: 2, drift: [{ key: 'help' }] })
})

test('the digest of a selection approves that selection', async () => {
  write()
  await work.run('apply')
  write('120s')

  const { digest } = await json('plan', '--target', 'cart')
  const whole = await json('apply', '--plan', digest)
  const part = await json('apply', '--plan', digest, '--target', 'cart')

  expect(whole).toMatchObject({ exit: 6 })
  expect(part).toMatchObject({ exit: 0, applied: { updated: 1 } })
})

test('a selection of manifests that belong to another state needs approval, as all of them do', async () => {
  write()
  await work.run('apply')
  work.write({
    'cart.yaml': null,
    'pay.yaml': null,
    'help.yaml': null,
    'other.yaml': labelled('other', 'desk'),
  })

  const removed = await json('apply', '--target', 'pay')
  const created = await json('apply', '--selector', 'team=desk')

  for (const run of [removed, created]) {
    expect(run).toMatchObject({ exit: 6, plan: { brakes: [{ brake: 'otherSource', approvable: true }] } })
  }
  expect(await names()).toEqual(['cart', 'help', 'pay'])
})

test.each([
  [
    ['--selector', 'team=shop,'],
    '--selector team=shop,: expected the name of a label, found the end at column 11',
  ],
  [
    ['--target', 'crat'],
    '--target: no manifest and no service of the state is named crat; did you mean cart?',
  ],
  [['--target', ','], '--target needs the metadata.name of a service'],
])('%j is refused before anything is sent', async (args, message) => {
  write()

  const run = await work.run('apply', ...args)

  expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining(message)])
  expect(await names()).toEqual([])
})
