import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type GitRepository, gitRepository } from '../testing/gitRepository.ts'
import { signatureProblem } from './gitSignature.ts'

let repository: GitRepository
let folder: string
beforeEach(() => {
  repository = gitRepository()
  folder = mkdtempSync(join(tmpdir(), 'pharos-signature-'))
})
afterEach(() => {
  repository.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** What is said of commit `sha` where these files of keys count; null when nothing is. */
function problem(
  sha: string,
  keys: { readonly allowedSignersFile?: string; readonly gpgKeysFile?: string },
  env: Readonly<Record<string, string | undefined>> = { PATH: process.env.PATH },
): Promise<string | null> {
  const access = { url: repository.url, scheme: 'file', ...keys } as const
  return signatureProblem({ access, directory: repository.directory, env }, sha)
}

/** A commit with the content of `sha` but another message: its signature is that of something else. */
function tampered(sha: string): string {
  const raw = execFileSync('git', ['cat-file', 'commit', sha], { cwd: repository.directory })
  const input = raw.toString().replace('signed by', 'really signed by')
  const args = ['hash-object', '-t', 'commit', '-w', '--stdin']
  return execFileSync('git', args, { cwd: repository.directory, input }).toString().trim()
}

/** A key of ssh named `name`; its public half. */
function sshKey(name: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(folder, name)])
  return readFileSync(join(folder, `${name}.pub`), 'utf8').trim()
}

function signedWithSsh(name: string): string {
  const key = `user.signingKey=${join(folder, name)}`
  const commit = ['commit', '--quiet', '--allow-empty', '-S', '-m', `signed by ${name}`]
  repository.git('-c', 'gpg.format=ssh', '-c', key, ...commit)
  return repository.git('rev-parse', 'HEAD')
}

function signers(...lines: readonly string[]): { readonly allowedSignersFile: string } {
  const allowedSignersFile = join(folder, 'signers')
  writeFileSync(allowedSignersFile, `${lines.join('\n')}\n`)
  return { allowedSignersFile }
}

test('Scenario 24: an ssh signature is valid while its key is allowed at the time of the commit, for any author', async () => {
  const ada = sshKey('ada')
  sshKey('eve')
  const sha = signedWithSsh('ada')

  expect(await problem(sha, signers(`somebody@example.com ${ada}`))).toBe(null)
  expect(await problem(sha, signers(`ada@example.com namespaces="git" ${ada}`))).toBe(null)
  expect(await problem(sha, signers(`ada@example.com valid-after="20200101" ${ada}`))).toBe(null)

  expect(await problem(sha, signers(`ada@example.com namespaces="file" ${ada}`))).not.toBe(null)
  expect(await problem(sha, signers(`ada@example.com valid-before="20200101" ${ada}`))).not.toBe(null)
  expect(await problem(sha, signers(''))).toMatch(/[Nn]o principal|Good "git" signature/)
  expect(await problem(sha, { allowedSignersFile: join(folder, 'gone') })).toContain('gone')
})

test('Scenario 24: a commit that was changed after its signature, signed with an unknown key or not signed is refused', async () => {
  const allowed = signers(`ada@example.com ${sshKey('ada')}`)
  sshKey('eve')

  expect(await problem(tampered(signedWithSsh('ada')), allowed)).toMatch(
    /incorrect signature|Could not verify/,
  )
  expect(await problem(signedWithSsh('eve'), allowed)).not.toBe(null)
  expect(await problem(repository.commit({}), allowed)).toBe('it has no signature')
})

/** `.ci/run` installs it. */
const gpgSkipReason =
  existsSync('/usr/bin/gpg') || process.env.CI === 'true' ? null : 'no gpg at /usr/bin/gpg'

describe.skipIf(gpgSkipReason !== null)(
  `OpenPGP${gpgSkipReason === null ? '' : ` (${gpgSkipReason})`}`,
  () => {
    let home: string
    const gpg = (...args: readonly string[]): Buffer =>
      execFileSync('gpg', ['--batch', '--quiet', '--no-tty', ...args], {
        env: { PATH: process.env.PATH, GNUPGHOME: home },
        stdio: 'pipe',
      })
    beforeAll(() => {
      // Short: the agent's socket stands in it.
      home = mkdtempSync(join(tmpdir(), 'pg-'))
      for (const name of ['ada', 'eve']) {
        gpg('--passphrase', '', '--quick-gen-key', `${name}@example.com`, 'ed25519', 'sign', 'never')
      }
    })
    afterAll(() => {
      execFileSync('gpgconf', ['--kill', 'all'], { env: { PATH: process.env.PATH, GNUPGHOME: home } })
      rmSync(home, { recursive: true, force: true })
    })

    function signed(name: string): string {
      repository.commit({}, `signed by ${name}`)
      execFileSync(
        'git',
        ['commit', '--amend', '--no-edit', '--quiet', '--allow-empty', `-S${name}@example.com`],
        {
          cwd: repository.directory,
          env: {
            PATH: process.env.PATH,
            GNUPGHOME: home,
            GIT_CONFIG_GLOBAL: '/dev/null',
            GIT_COMMITTER_NAME: 'Ada',
            GIT_COMMITTER_EMAIL: 'ada@example.com',
          },
        },
      )
      return repository.git('rev-parse', 'HEAD')
    }

    function keysOf(name: string): { readonly gpgKeysFile: string } {
      const gpgKeysFile = join(folder, `${name}.asc`)
      writeFileSync(gpgKeysFile, gpg('--armor', '--export', `${name}@example.com`))
      return { gpgKeysFile }
    }

    test('Scenario 24: an OpenPGP signature is valid when its key is in the file, and keys of the machine are not used', async () => {
      const allowed = keysOf('ada')
      const everything = { PATH: process.env.PATH, HOME: home, GNUPGHOME: home }

      expect(await problem(signed('ada'), allowed)).toBe(null)
      expect(await problem(signed('eve'), allowed, everything)).toContain('No public key')
      expect(await problem(tampered(signed('ada')), allowed)).toContain('BAD signature')
      expect(await problem(repository.commit({}), allowed)).toBe('it has no signature')
    })

    test('Scenario 24: with both kinds of keys either signature is valid, and with one kind only that one', async () => {
      const ssh = signers(`ada@example.com ${sshKey('ada')}`)
      const openPgp = keysOf('ada')
      const commits = [signedWithSsh('ada'), signed('ada')]
      const found = (keys: object) =>
        Promise.all(commits.map(async (sha) => (await problem(sha, keys)) === null))

      expect(await found({ ...ssh, ...openPgp })).toEqual([true, true])
      expect(await found(ssh)).toEqual([true, false])
      expect(await found(openPgp)).toEqual([false, true])
    })

    test('keys that cannot be read are reported as such', async () => {
      const gpgKeysFile = join(folder, 'none.asc')

      expect(await problem(signed('ada'), { gpgKeysFile })).toContain(
        `the file of OpenPGP keys ${gpgKeysFile} cannot be used`,
      )
    })

    test('a commit is not refused when gpg cannot be started: its signature is unknown', async () => {
      const check = (): Promise<string> =>
        problem(signed('ada'), keysOf('ada'), { PATH: folder }).then(
          String,
          ({ name, message }) => `${name}: ${message}`,
        )

      expect(await check()).toBe('GitError: gpg could not be started: install gnupg, or correct PATH')
      writeFileSync(join(folder, 'gpg'), '')
      expect(await check()).toContain('GitError: gpg could not check it: this user has no permission')
    })
  },
)
