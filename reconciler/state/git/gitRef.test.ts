import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { makeBareRepository } from '../../git/bareRepository.ts'
import { runGit } from '../../git/gitProgram.ts'
import { gitCalls } from '../../testing/gitCalls.ts'
import { httpsGitServer } from '../../testing/httpsGitServer.ts'
import { sshGitServer, sshSkipReason } from '../../testing/sshGitServer.ts'
import { openStore } from '../openStore.ts'
import { GitRef, gitLocationOf, RefMoved, refExists } from './gitRef.ts'

const REF = 'refs/pharos/production'
const CANARY = 'canary-of-the-state'

let folder: string
beforeEach(() => {
  folder = testFolder()
  makeBareRepository(join(folder, 'state.git'))
})

/** What two writers that saw the same come to: the second is refused, and what the first wrote stays. */
async function raceOn(url: string, variables: Record<string, string>): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: folder, ...variables }
  const location = gitLocationOf(`git:${url}#${REF}`, env)
  const [one, two] = [await GitRef.open(location), await GitRef.open(location)]
  try {
    expect([await refExists(location), await one.read(), await two.read()]).toEqual([false, null, null])
    await one.write({ state: 'of one', lease: '{}' }, 'one')
    await expect(two.write({ state: 'of two', lease: '{}' }, 'two')).rejects.toThrow(RefMoved)
    expect(await two.read()).toMatchObject({ state: 'of one', lease: '{}' })
    await two.write({ state: 'of two', lease: '{}' }, 'two')
    await expect(one.write({ state: 'again', lease: '{}' }, 'again')).rejects.toThrow(RefMoved)
  } finally {
    one.close()
    two.close()
  }
}

async function problemOf(url: string, variables: Record<string, string>): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: folder, ...variables }
  return openStore(`git:${url}#${REF}`, env).then(
    async (store) => {
      await store.close()
      return 'none'
    },
    (error: Error) => error.message,
  )
}

test('a state is stored over https with a token and a CA file from the environment', async () => {
  const server = await httpsGitServer({
    root: folder,
    login: { username: 'x-access-token', password: CANARY },
  })
  const url = server.urlOf('state.git')
  const trusted = { PHAROS_GIT_CA_FILE: server.caFile }

  expect(await problemOf(url, { PHAROS_GIT_TOKEN: CANARY })).toContain(
    'certificate of the host is not trusted',
  )
  const refused = await problemOf(url, { ...trusted, PHAROS_GIT_TOKEN: `${CANARY}-of-old` })
  expect(refused).toContain('refused the credential')
  expect(refused).not.toContain(CANARY)
  await raceOn(url, { ...trusted, PHAROS_GIT_TOKEN: CANARY })
  await server.close()
})

test('a web page in place of the repository, such as that of a proxy, is not a repository without the state', async () => {
  const server = await httpsGitServer({ root: folder })
  const env = { PATH: process.env.PATH, HOME: folder, PHAROS_GIT_CA_FILE: server.caFile }
  const location = gitLocationOf(`git:${server.urlOf('state.git')}#${REF}`, env)
  const ref = await GitRef.open(location)
  const failure = { reason: 'unusable', message: expect.stringContaining('did not come from git') }
  const refuses = async (when: string) => {
    for (const page of ['', '<html>Sign in</html>']) {
      server.behaviour = { page }
      expect([when, await refExists(location).catch((error: unknown) => error)]).toMatchObject([
        when,
        failure,
      ])
      expect([when, await ref.read().catch((error: unknown) => error)]).toMatchObject([when, failure])
      const written = ref.write({ state: 'other', lease: '{}' }, 'other')
      expect([when, await written.catch((error: unknown) => error)]).toMatchObject([when, failure])
    }
    server.behaviour = 'respond'
  }

  await refuses('before the first write')
  expect(await ref.read()).toBeNull()
  await ref.write({ state: 'first', lease: '{}' }, 'first')
  await refuses('after it')
  expect(await ref.read()).toMatchObject({ state: 'first' })
  ref.close()
  await server.close()
})

test.skipIf(sshSkipReason !== null)(
  `a state is stored over ssh with a key and known hosts from the environment${sshSkipReason === null ? '' : ` (${sshSkipReason})`}`,
  async () => {
    const server = await sshGitServer(folder)
    const url = server.urlOf(join(folder, 'state.git'))
    const key = { PHAROS_GIT_SSH_KEY_FILE: server.keyFile }

    expect(await problemOf(url, key)).toContain('the key of the host is unknown')
    expect(await problemOf(url, { ...key, PHAROS_GIT_KNOWN_HOSTS_FILE: server.wrongHostsFile })).toContain(
      'the key of the host has changed',
    )
    await raceOn(url, { ...key, PHAROS_GIT_KNOWN_HOSTS_FILE: server.knownHostsFile })
    await server.close()
  },
)

test('renewals for days leave few files behind, and later writes have the correct parent', async () => {
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const state = join(folder, 'state.git')
  const location = gitLocationOf(`git:${state}#${REF}`, { PATH: process.env.PATH, HOME: folder })
  const ref = await GitRef.open(location, 8)
  await ref.write({ state: 'first', lease: '{}' }, 'first')
  for (let sign = 0; sign < 10; sign += 1)
    await ref.write({ state: 'first', lease: `{"renewals": ${sign}}` }, 'sign of life', true)
  const files = readdirSync(temporary, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  expect(files.length).toBeLessThan(40)

  await ref.write({ state: 'last', lease: '{}' }, 'last')
  ref.close()
  const log = execFileSync('git', ['-C', state, 'log', '--format=%s', REF], { encoding: 'utf8' })
  expect(log).toBe('last\nfirst\n')
  expect(
    execFileSync('git', ['-C', state, 'fsck', '--strict', '--no-progress', '--no-dangling']),
  ).toHaveLength(0)
  expect(
    readdirSync(temporary, { recursive: true }).filter((name) => !String(name).includes('.lock')),
  ).toEqual([expect.stringMatching(/^pharos-git-state-\d+$/)])
})

test('a write starts git once, and so does a read of a state that is unchanged', async () => {
  const { path, taken } = gitCalls(testFolder())
  const location = gitLocationOf(`git:${join(folder, 'state.git')}#${REF}`, { PATH: path, HOME: folder })
  const [one, two] = [await GitRef.open(location), await GitRef.open(location)]
  taken()

  await one.write({ state: 'of one', lease: '{}' }, 'one')
  const [written, calls] = [await one.read(), taken()]
  expect(calls).toEqual(['push', 'ls-remote'])
  expect([await two.read(), taken()]).toEqual([written, ['ls-remote', 'fetch', 'cat-file']])
  expect([await two.read(), taken()]).toEqual([written, ['ls-remote']])
  one.close()
  two.close()
})

test('a push that the repository refuses is reported with the reason and a remedy', async () => {
  const state = join(folder, 'state.git')
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', state, ...args], { encoding: 'utf8' }).trim()
  const refusal = async (ref: string): Promise<string> => {
    const location = gitLocationOf(`git:${state}#${ref}`, { PATH: process.env.PATH, HOME: folder })
    const opened = await GitRef.open(location)
    await opened.read()
    const refused = opened.write({ state: ref, lease: '{}' }, 'write')
    const { message } = await refused.then(
      () => new Error('accepted'),
      (error: Error) => error,
    )
    opened.close()
    return message
  }
  expect(await refusal(REF)).toBe('accepted')
  const commit = git('rev-parse', REF)
  const sameName = expect.stringContaining(
    'a branch or a tag of the repository has the complete name of this ref',
  )

  git('update-ref', `refs/heads/${REF}`, commit)
  expect(await refusal(REF)).toEqual(sameName)
  git('update-ref', `refs/heads/${REF}-new`, git('commit-tree', '-m', 'other', `${commit}^{tree}`))
  expect(await refusal(`${REF}-new`)).toEqual(sameName)
  expect(await refusal(`${REF}/new`)).toContain('whose name is the beginning of this one, or begins with it')
  expect(await refusal('refs/HEAD')).toMatch(/: the host accepts no ref of this name: .* \(.*funny ref.*\)$/)
  git('config', 'receive.hideRefs', 'refs/hidden')
  expect(await refusal('refs/hidden/a')).toMatch(
    /: the host accepts no ref of this name: .*\(.*hidden ref.*\)$/,
  )
  writeFileSync(join(state, 'pre-receive'), '#!/bin/sh\necho keep out; exit 1\n', { mode: 0o755 })
  git('config', 'core.hooksPath', state)
  expect(await refusal('refs/heads/other')).toMatch(
    /: the host refused the push: .* \(remote: keep out .*\)$/,
  )
})

test('one call of git tells whether the ref exists, whatever other refs end with its name', async () => {
  const { path, taken } = gitCalls(testFolder())
  const location = gitLocationOf(`git:${join(folder, 'state.git')}#${REF}`, { PATH: path, HOME: folder })
  const other = await GitRef.open({ ...location, ref: `refs/heads/${REF}` })
  const ref = await GitRef.open(location)
  await other.write({ state: 'other', lease: '{}' }, 'other')
  taken()

  expect([await refExists(location), await ref.read(), taken()]).toEqual([
    false,
    null,
    ['ls-remote', 'ls-remote'],
  ])
  other.close()
  ref.close()
})

test('a ref that is known is listed without the packets of all refs', async () => {
  const [bin, log] = [testFolder(), join(folder, 'with-packets')]
  const script = `#!/bin/sh\n[ -z "$GIT_TRACE_PACKET" ] || echo "$1" >>'${log}'\nPATH='${process.env.PATH}' exec git "$@"\n`
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder }
  const ref = await GitRef.open(gitLocationOf(`git:${join(folder, 'state.git')}#${REF}`, env))

  expect(await ref.read()).toBeNull()
  await ref.write({ state: 'first', lease: '{}' }, 'first')
  expect(await ref.read()).toMatchObject({ state: 'first' })
  expect(readFileSync(log, 'utf8')).toBe('ls-remote\n')
  ref.close()
})

test('a state that cannot be written on this machine is reported as unusable', async () => {
  const temporary = testFolder()
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const url = join(folder, 'state.git')
  const ref = await GitRef.open(gitLocationOf(`git:${url}#${REF}`, { PATH: process.env.PATH }))
  const [objects = ''] = readdirSync(temporary, { recursive: true }).filter((name) =>
    String(name).endsWith('/objects'),
  )
  rmSync(join(temporary, String(objects)), { recursive: true })
  writeFileSync(join(temporary, String(objects)), '')

  await expect(ref.write({ state: 'one', lease: '{}' }, 'one')).rejects.toMatchObject({
    name: 'StateError',
    reason: 'unusable',
    message: expect.stringMatching(/^the state in git cannot be used: .*objects.* cannot be used: /),
  })
  ref.close()
})

test('a git that is missing or too old is reported before it is used', async () => {
  const state = join(folder, 'state.git')
  expect(await problemOf(state, { PATH: folder })).toMatch(/git could not be started: .*install git/)

  writeFileSync(join(folder, 'git'), '#!/bin/sh\necho git version 2.30.2\n')
  chmodSync(join(folder, 'git'), 0o755)
  expect(await problemOf(state, { PATH: folder })).toContain('git 2.30.2 is too old: install 2.34 or newer')
})

test('git that cannot be started, because there are no free file descriptors, is reported', async () => {
  const version = () =>
    runGit({
      access: { url: folder, scheme: 'file' },
      directory: folder,
      args: ['version'],
      limitMs: 60_000,
      env: { PATH: process.env.PATH },
    })
  const limited = spawn('sh', [
    '-c',
    `before=$(prlimit --pid $PPID --nofile --output SOFT --noheadings)
    prlimit --pid $PPID --nofile=3: && echo && read _
    prlimit --pid $PPID --nofile=$before:`,
  ])
  await once(limited.stdout, 'data')

  const failure = await version().catch((error: unknown) => error)
  limited.stdin.end('\n')
  await once(limited, 'close')

  expect(failure).toMatchObject({
    name: 'GitError',
    message: expect.stringMatching(/^git could not be started: this process has no free file descriptors: /),
  })
  expect(String(await version())).toMatch(/^git version /)
})
