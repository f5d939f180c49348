import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import type { GitCall } from './gitCall.ts'
import { runGit } from './gitProgram.ts'

const ACCESS = { url: '', scheme: 'file' } as const

async function outcomeOf(call: Pick<GitCall, 'args' | 'next' | 'fileBytesMax'>, path = process.env.PATH) {
  return runGit({ access: ACCESS, directory: '/', limitMs: 60_000, env: { PATH: path }, ...call }).then(
    (output) => output.toString(),
    ({ message, exitCode }) => ({ message, exitCode }),
  )
}

test('a second call follows in the same shell once the first has succeeded, with any characters in its arguments', async () => {
  const name = `it's "$HOME" \\ * \n`
  const args = ['config', '--file', '/dev/null', '--default', name, 'a.b']

  expect(await outcomeOf({ args, next: ['--exec-path=a b', '--exec-path'] })).toBe(`${name}\na b\n`)
  expect(await outcomeOf({ args: ['config', '--file', '/dev/null', 'a.b'], next: ['version'] })).toEqual({
    message: 'git config ended with 1',
    exitCode: 1,
  })
})

test('a git that a signal ended below the shell has no exit code', async () => {
  const killed = ['-c', 'alias.end=!kill -KILL $PPID', 'end']

  expect(await outcomeOf({ args: killed, next: ['version'] })).toMatchObject({ exitCode: null })
  expect(await outcomeOf({ args: killed, fileBytesMax: 1_024 })).toMatchObject({ exitCode: null })
})

test('a git that the shell does not find is reported as missing', async () => {
  const path = testFolder()
  symlinkSync('/bin/sh', join(path, 'sh'))

  expect(await outcomeOf({ args: ['version'], next: ['version'] }, path)).toEqual({
    message: 'git could not be started: it does not exist; install git, or correct PATH',
    exitCode: null,
  })
})
