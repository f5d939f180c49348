import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { runBeside } from '../../manifest/values/programRun.ts'
import { controllerScene } from '../../testing/controllerScene.ts'
import { manifestOf } from '../../testing/manifestOf.ts'
import type { TestController } from '../../testing/testController.ts'

const { controllerOf, services } = controllerScene(startServer)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-programs-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A shell script of that name on the path of the controller. */
function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}

function controllerWith(allowed: string): Promise<TestController> {
  const env = { PATH: `${folder}:${process.env.PATH}`, VAULT: 'the-vault' }
  return controllerOf({ env, more: allowed === '' ? '' : `    secretPrograms: ${allowed}\n` })
}

const FROM_PROGRAM = manifestOf('a', '      headers: {Authorization: {exec: [vault-get, probe]}}\n')

test('no program runs for a set unless its configuration says so', async () => {
  program('vault-get', `echo ran > ${folder}/ran; echo secret`)
  const one = await controllerWith('')
  one.repository.commit({ 'monitoring/a.yaml': FROM_PROGRAM })
  one.start()

  expect((await one.nextCycle()).problems).toMatchObject([
    {
      message: expect.stringContaining('runs a program that is not allowed here'),
      hint: 'whoever runs the controller can allow it below secretPrograms of the set',
    },
  ])
  expect(() => rmSync(join(folder, 'ran'))).toThrow('ENOENT')
})

test('a secret of a program that is allowed is sent, asked for once a quarter of an hour, and noticed when it changed', async () => {
  const asked = join(folder, 'asked')
  writeFileSync(asked, '')
  program('vault-get', `echo "$1 $VAULT" >> ${asked}; wc -c < ${folder}/vault-get`)
  const one = await controllerWith('{exec: [vault-get], variables: [VAULT]}')
  one.repository.commit({ 'monitoring/a.yaml': FROM_PROGRAM })
  one.start()
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready', lastRun: { counts: { created: 1 } } })
  expect(await one.nextCycle()).toMatchObject({ lastRun: { counts: { unchanged: 1 } } })
  expect(readFileSync(asked, 'utf8')).toBe('probe the-vault\n')

  one.clock.advance(15 * 60_000)
  await one.until(() => one.shop().running === null)
  await one.nextCycle()
  expect(one.shop().lastRun?.counts).toMatchObject({ updated: 0, unchanged: 1 })
  program('vault-get', `echo "$1 $VAULT" >> ${asked}; echo another`)
  one.clock.advance(15 * 60_000)
  await one.until(() => one.shop().lastRun?.counts.updated === 1)

  const [service] = await services()
  expect(service?.endpoints[0]?.call.Http.headers?.Authorization).toHaveProperty('Sealed')
  expect(JSON.stringify(one.controller.status())).not.toContain('another')
})

test('a program that fails blocks its service alone, and is asked again at every cycle', async () => {
  program('vault-get', 'exit 3')
  const one = await controllerWith('{exec: [vault-get]}')
  one.repository.commit({ 'monitoring/a.yaml': FROM_PROGRAM, 'monitoring/b.yaml': manifestOf('b') })
  one.start()
  expect(await one.nextCycle()).toMatchObject({
    headline: 'ManifestsInvalid',
    services: [
      { key: 'a', state: 'Blocked', reason: 'manifestInvalid' },
      { key: 'b', state: 'Synced' },
    ],
    problems: [{ message: expect.stringContaining('runs vault-get, which exited with 3') }],
  })
  program('vault-get', 'echo secret')

  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready' })
})

test('a file of the repository that is encrypted is decrypted by the sops of the machine', async () => {
  // In place of the real one: what it decrypts is what it was given.
  program('sops', 'cat')
  const one = await controllerWith('{sops: true}')
  one.repository.commit({
    'monitoring/secrets.json': JSON.stringify({ token: 'secret' }),
    'monitoring/a.yaml': manifestOf('a', '      headers: {Authorization: {sops: "./secrets.json#/token"}}\n'),
  })
  one.start()

  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready', lastRun: { counts: { created: 1 } } })
})

test.each([
  ['echo said', { bytes: Buffer.from('said\n') }],
  ['exit 3', { failure: expect.stringContaining('exited with 3') }],
  ['kill -9 $$', { failure: expect.stringContaining('was ended by SIGKILL') }],
  ['head -c 2000000 /dev/zero', { failure: expect.stringContaining('prints more than 1048576 bytes') }],
  ['sleep 600', { failure: expect.stringContaining('waited 0.2 s for') }],
])('what runs beside everything else is told apart: %s', async (script, output) => {
  program('speaker', script)
  const call = { program: join(folder, 'speaker'), args: [], input: Buffer.from('given') }

  const env = { PATH: '/usr/bin:/bin' }
  expect(
    await runBeside({ ...call, env, programMsMax: script.startsWith('sleep') ? 200 : 10_000 }),
  ).toMatchObject(output)
  expect(await runBeside({ ...call, program: join(folder, 'absent'), env, programMsMax: 200 })).toMatchObject(
    {
      failure: expect.stringContaining('which is not there'),
    },
  )
})
