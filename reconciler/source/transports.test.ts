import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { suiteFolder, testFolder } from '../../api/testing/temporaryFolder.ts'
import type { GitAccess } from '../git/gitAccess.ts'
import { type GitRepository, gitRepository } from '../testing/gitRepository.ts'
import { authority, type HttpsGitServer, httpsGitServer } from '../testing/httpsGitServer.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { processesNaming } from '../testing/processes.ts'
import { type SshGitServer, sshGitServer, sshSkipReason } from '../testing/sshGitServer.ts'
import { SourceUnavailable } from './gitMirror.ts'
import { type GitSource, gitSource } from './gitSource.ts'

const CANARY = 'canary+of/the=token'
const LOGIN = { username: 'x-access-token', password: CANARY }
/** Longest transfer, where one is meant to take too long (milliseconds). */
const TRANSFER_MS_MAX = 1_500

let repository: GitRepository
let folder: string
beforeEach(() => {
  repository = gitRepository()
  folder = testFolder()
})
afterEach(() => repository.remove())

function sourceOf(access: GitAccess, transferMsMax?: number): GitSource {
  return gitSource({
    access,
    branch: 'main',
    directory: join(folder, 'mirror'),
    // A HOME without anything: no key and no host is known by accident.
    env: { PATH: process.env.PATH, HOME: folder },
    path: 'monitoring',
    transferMsMax,
  })
}

async function keysOf(source: GitSource): Promise<readonly string[]> {
  const sources = {
    env: {},
    secretsDirectory: '/run/secrets',
    allowInlineSecrets: false,
    secrets: 'required' as const,
  }
  const { set } = await source.load(await source.fetch(), sources)
  return set.services.map(({ key }) => key)
}

/** Why a fetch did not work, as the condition shows it. */
async function refusalOf(access: GitAccess, transferMsMax?: number): Promise<string> {
  const error = await sourceOf(access, transferMsMax)
    .fetch()
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
  if (!(error instanceof SourceUnavailable)) throw error ?? new Error('it was fetched')
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    expect(cause.message).not.toContain(CANARY)
    expect(cause.message).not.toContain(Buffer.from(`x-access-token:${CANARY}`).toString('base64'))
  }
  return error.message
}

describe('over https', () => {
  let server: HttpsGitServer
  const access = (more: Partial<GitAccess> = {}): GitAccess => ({
    url: server.urlOf('shop.git'),
    scheme: 'https',
    caFile: server.caFile,
    credential: LOGIN,
    ...more,
  })
  beforeEach(async () => {
    repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
    execFileSync('git', ['clone', '--quiet', '--bare', repository.url, join(folder, 'shop.git')])
    server = await httpsGitServer({ root: folder, login: LOGIN })
  })
  afterEach(() => server.close())

  test('manifests are fetched with the configured credential, which is not stored in the mirror', async () => {
    expect(await keysOf(sourceOf(access()))).toEqual(['a'])

    expect(server.logins.length).toBeGreaterThan(1)
    // It is sent at once, before any refusal.
    expect(server.logins).not.toContain(null)
    expect(spawnSync('grep', ['-rqF', CANARY, join(folder, 'mirror')]).status).toBe(1)
  })

  test('a public repository needs no credential', async () => {
    const root = join(folder, 'open')
    mkdirSync(root)
    execFileSync('mv', [join(folder, 'shop.git'), root])
    const open = await httpsGitServer({ root })
    const { credential: _, ...anonymous } = access({ url: open.urlOf('shop.git'), caFile: open.caFile })

    expect(await keysOf(sourceOf(anonymous))).toEqual(['a'])
    await open.close()
  })

  test('a wrong or missing credential is reported without its value, and fetches succeed once it is correct', async () => {
    const wrong = { ...LOGIN, password: `${CANARY}-of-yesterday` }

    expect(await refusalOf(access({ credential: wrong }))).toContain(
      'refused the credential, or requires one',
    )
    expect(await refusalOf(access({ credential: undefined }))).toContain('refused the credential')
    expect(await refusalOf(access({ url: server.urlOf('none.git') }))).toContain(
      'there is no repository at the address, or this user has no access to it',
    )
    expect(await keysOf(sourceOf(access()))).toEqual(['a'])
  })

  test('a certificate of an unknown issuer, or one that has expired, ends the fetch before the credential is sent', async () => {
    const strangers = join(folder, 'strangers')
    mkdirSync(strangers)
    const good = server.issue(2)
    for (const certificate of [authority(strangers).issue(2), server.issue(-1)]) {
      server.show(certificate)
      expect(await refusalOf(access())).toMatch(/certificate of the host is not trusted, has expired/)
    }
    expect(server.logins).toEqual([])

    server.show(good)
    expect(await refusalOf(access({ caFile: undefined }))).toContain('add its CA certificate')
    expect(await refusalOf(access({ caFile: join(folder, 'no-ca.pem') }))).toContain(
      'the file of CA certificates cannot be read',
    )
    expect(await keysOf(sourceOf(access()))).toEqual(['a'])
  })

  test('a redirect to another host is not followed, so that no other host gets the credential', async () => {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    const other = await httpsGitServer({ root: elsewhere })
    server.behaviour = { redirectTo: other.urlOf('').replace(/\/$/, '') }

    expect(await refusalOf(access())).toContain('the address redirects to another one, which is not followed')
    expect(other.logins).toEqual([])

    server.behaviour = 'respond'
    expect(await keysOf(sourceOf(access()))).toEqual(['a'])
    await other.close()
  })

  test.each([
    [
      '<html>\n<body>Sign in</body>\n</html>\n',
      'the response did not come from git but, for example, from a login page',
    ],
    ['<html>Sign in</html>', 'it has no commits, or the address leads to a web page'],
  ])('a web page in place of the repository is reported as such (%#)', async (page, reason) => {
    server.behaviour = { page }

    expect(await refusalOf(access())).toContain(reason)
  })

  test('a credential that the host echoes appears in no message', async () => {
    server.behaviour = 'tell-credential'

    expect(await refusalOf(access())).toContain('who sends Basic …')
  })

  test('a fetch from a host that stops in the middle of a pack is aborted, with all its processes', async () => {
    const source = sourceOf(access(), TRANSFER_MS_MAX)
    server.behaviour = 'stop-in-pack'
    const held = server.held()
    const fetching = refusalOf(access(), TRANSFER_MS_MAX)
    await held
    const during = processesNaming(server.urlOf('shop.git'))

    expect(await fetching).toContain('git fetch was ended after 1.5 s')
    expect(during.length).toBeGreaterThan(1)
    expect(processesNaming(CANARY)).toEqual([])
    expect(processesNaming(server.urlOf('shop.git'))).toEqual([])

    server.behaviour = 'respond'
    expect(await keysOf(source)).toEqual(['a'])
    expect(
      readdirSync(join(folder, 'mirror/objects/pack')).filter((name) => name.startsWith('tmp_')),
    ).toEqual([])
  })
})

describe.skipIf(sshSkipReason !== null)(
  `over ssh${sshSkipReason === null ? '' : ` (${sshSkipReason})`}`,
  () => {
    let server: SshGitServer
    const access = (more: Partial<GitAccess> = {}): GitAccess => ({
      url: server.urlOf(repository.directory),
      scheme: 'ssh',
      sshKeyFile: server.keyFile,
      knownHostsFile: server.knownHostsFile,
      ...more,
    })
    const serverFolder = suiteFolder()
    beforeAll(async () => {
      server = await sshGitServer(serverFolder)
    })
    afterAll(() => server.close())
    beforeEach(() => {
      repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
    })

    test('manifests are fetched with the key of the configuration from a host that it knows', async () => {
      const source = sourceOf(access())
      expect(await keysOf(source)).toEqual(['a'])

      repository.commit({ 'monitoring/b.yaml': manifestOf('b') })
      expect(await keysOf(source)).toEqual(['a', 'b'])
    })

    test('key files and known_hosts files may have any name', async () => {
      // git hands their names to a shell, and ssh splits them and takes what follows a percent sign for its own.
      const odd = join(folder, `Ada's "100%h" $(touch keys) & \\ hosts`)
      mkdirSync(odd)
      const [sshKeyFile, knownHostsFile] = [join(odd, 'key'), join(odd, 'hosts')]
      cpSync(server.keyFile, sshKeyFile)
      cpSync(server.knownHostsFile, knownHostsFile)

      expect(await keysOf(sourceOf(access({ sshKeyFile, knownHostsFile })))).toEqual(['a'])
    })

    test('an unknown host, or one with another key than the known one, gets no request', async () => {
      expect(await refusalOf(access({ knownHostsFile: undefined }))).toContain(
        'the key of the host is unknown',
      )
      expect(await refusalOf(access({ knownHostsFile: server.wrongHostsFile }))).toMatch(
        /the key of the host has changed: ask its operator why.*SHA256:/,
      )
      expect(await keysOf(sourceOf(access()))).toEqual(['a'])
    })

    test('a key that the host refuses, or that is missing, is reported', async () => {
      expect(await refusalOf(access({ sshKeyFile: server.strangersKeyFile }))).toContain(
        'the host refused the SSH key',
      )
      expect(await refusalOf(access({ sshKeyFile: join(folder, 'no-key') }))).toContain(
        'the SSH key cannot be used',
      )
      expect(await refusalOf(access({ url: server.urlOf('/no/such.git') }))).toContain(
        "'/no/such.git' does not appear to be a git repository",
      )
      expect(await keysOf(sourceOf(access()))).toEqual(['a'])
    })

    test('a fetch from a host that accepts the connection and never responds is aborted', async () => {
      const silent = createServer()
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
      const address = silent.address()
      const port = typeof address === 'object' ? address?.port : undefined
      const url = `ssh://git@127.0.0.1:${port}/shop.git`

      expect(await refusalOf(access({ url }), TRANSFER_MS_MAX)).toContain(
        'git fetch was ended after 1.5 s: the host is slow, or does not respond',
      )
      expect(processesNaming(`git@127.0.0.1`)).toEqual([])
      silent.close()
    })
  },
)
