import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { watchParent } from './parent.ts'

test('a parent is alive until it ends, on Windows too, where its process id stays', async () => {
  const parent = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  await once(parent, 'spawn')
  const isThere = watchParent('win32', parent.pid)

  const before = isThere()
  parent.stdin.end()
  await once(parent, 'exit')

  expect([before, isThere()]).toEqual([true, false])
})

test('a process with another parent than before has lost its own', () => {
  expect([watchParent('linux')(), watchParent('linux', process.ppid + 1)()]).toEqual([true, false])
})
