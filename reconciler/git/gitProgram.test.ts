import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { makeBareRepository } from './bareRepository.ts'
import type { GitCall } from './gitCall.ts'
import { runGit } from './gitProgram.ts'
import { writeCommit } from './looseObject.ts'

const ACCESS = { url: '', scheme: 'file' } as const

async function outcomeOf(
  call: Omit<Partial<GitCall>, 'env'> & Pick<GitCall, 'args'>,
  path = process.env.PATH,
) {
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

test('a git that a signal ended below the shell has no exit code, and one that failed has its own', async () => {
  const killed = ['-c', 'alias.end=!kill -KILL $PPID', 'end']

  expect(await outcomeOf({ args: killed, next: ['version'] })).toMatchObject({ exitCode: null })
  expect(await outcomeOf({ args: killed, fileBytesMax: 1_024 })).toMatchObject({ exitCode: null })
  const failed = ['-c', 'alias.end=!exit 255', 'end']
  expect(await outcomeOf({ args: failed, next: ['version'] })).toMatchObject({ exitCode: 255 })
})

test('a git that the shell does not find is reported as missing', async () => {
  const path = testFolder()
  symlinkSync('/bin/sh', join(path, 'sh'))

  expect(await outcomeOf({ args: ['version'], next: ['version'] }, path)).toEqual({
    message: 'git could not be started: it does not exist; install git, or correct PATH',
    exitCode: null,
  })
})

test('a host that fails within a long list of refs is reported with its message', async () => {
  const folder = testFolder()
  makeBareRepository(folder)
  const fields = { message: 'first', author: 'a <a@localhost>', atSecs: 0 }
  const commit = await writeCommit(folder, [], fields)
  for (const number of Array(500).keys())
    writeFileSync(join(folder, `refs/heads/branch-${number}`), `${commit}\n`)
  const upload =
    'ends() { git-upload-pack --advertise-refs "$@" | head -c 20000; echo the disk failed >&2; exit 1; }; ends'
  const list = ['-c', 'protocol.version=0', 'ls-remote', `--upload-pack=${upload}`, folder]

  expect(await outcomeOf({ args: list, protocolOnly: true })).toMatchObject({
    message: expect.stringContaining('the disk failed'),
    exitCode: 128,
  })
})

test('the end of a long message is kept, because ssh prints the banner of the host first', async () => {
  const banner =
    'alias.end=!for n in $(seq 99); do echo this host is monitored >&2; done; echo ERROR: read only >&2; exit 1; :'

  const outcome = await outcomeOf({ args: ['-c', banner, 'end'] })

  expect(outcome).toMatchObject({
    message: expect.stringMatching(/^this host is monitored.* … .*this host is monitored ERROR: read only$/),
  })
})
