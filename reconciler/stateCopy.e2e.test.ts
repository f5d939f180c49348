import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { readStore } from './state/openStore.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { startIn } from './testing/pharosProgram.ts'
import { finished } from './testing/processes.ts'
import { runHere } from './testing/programHere.ts'
import { stopOutsideOfWrites } from './testing/stopOutsideOfWrites.ts'

const scene = new CommandScene(startServer)
const { work } = scene

test('a copy of the state file of a killed run is the complete state, and the next run continues with it', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  for (const key of keys) work.write({ [`${key}.yaml`]: manifestOf(key) })
  const run = startIn(work, 'apply')
  let created = 0
  scene.proxy.afterEffect = () => {
    created += 1
    if (created < 4) return
    scene.proxy.afterEffect = () => {}
    stopOutsideOfWrites(run, work.statePath)
    run.kill('SIGKILL')
  }
  await finished(run)

  const copied = join(work.folder, 'copied')
  mkdirSync(copied)
  const state = join(copied, 'pharos.db')
  for (const end of ['', '.key']) copyFileSync(`${work.statePath}${end}`, `${state}${end}`)

  const kept = await readStore(state, {})
  const known = [...(await kept.bindings()), ...(await kept.openIntents())].map(({ key }) => key)
  await kept.close()
  expect(known.length).toBeGreaterThanOrEqual(4)
  const again = ['apply', join(work.folder, 'manifests'), '--state', state, '--create-grace', '10ms']
  const { exitCode } = await runHere(again, work.env)
  expect(exitCode).toBe(0)
  expect(await scene.names()).toEqual(keys)
})
