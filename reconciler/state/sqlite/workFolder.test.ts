import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { takeWorkFolder } from './workFolder.ts'

let folder: string
beforeEach(() => {
  folder = testFolder()
  vi.stubEnv('TMPDIR', folder)
})
afterEach(() => vi.unstubAllEnvs())

test('each process has its own empty folder, and a folder of an ended process is reused', async () => {
  const [one, two] = [await takeWorkFolder('test'), await takeWorkFolder('test')]
  expect(one.path).not.toBe(two.path)
  expect(statSync(one.path).mode & 0o777).toBe(0o700)
  two.remove()
  expect(existsSync(two.path)).toBe(false)
  // As a process leaves it that is killed: the system gives back its lock, and nothing else.
  writeFileSync(join(one.path, 'left'), '')
  one.remove()

  const three = await takeWorkFolder('test')

  expect([three.path, readdirSync(three.path)]).toEqual([one.path, []])
  three.remove()
})

test('a folder that others could look into is not used', async () => {
  const first = await takeWorkFolder('test')
  first.remove()
  chmodSync(join(first.path, '..'), 0o777)

  const next = await takeWorkFolder('test')

  expect(next.path.startsWith(join(first.path, '..', '/'))).toBe(false)
  next.remove()
})
