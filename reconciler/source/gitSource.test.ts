import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { branchProblem, gitSchemeOf, treePathProblem } from '../git/gitUrl.ts'
import { type GitRepository, gitRepository } from '../testing/gitRepository.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { manifestReader } from './gitManifests.ts'
import { mirrorOf, type SourceUnavailable } from './gitMirror.ts'
import { compiledCommit, type GitSource, type GitSourceOptions, gitSource } from './gitSource.ts'

let repository: GitRepository
let folder: string
beforeEach(() => {
  repository = gitRepository()
  folder = testFolder()
})
afterEach(() => repository.remove())

function source(options: Partial<GitSourceOptions> = {}): GitSource {
  const access = { url: repository.url, scheme: 'file' as const }
  const env = { PATH: process.env.PATH }
  return gitSource({
    access,
    branch: 'main',
    directory: join(folder, 'mirror'),
    env,
    path: 'monitoring',
    ...options,
  })
}

const WITH = {
  env: {},
  secretsDirectory: '/run/secrets',
  allowInlineSecrets: false,
  secrets: 'required' as const,
}

async function load(from: GitSource) {
  return from.load(await from.fetch(), WITH)
}

function keys({ set }: Awaited<ReturnType<typeof load>>): readonly string[] {
  return set.services.map(({ key }) => key)
}

function problems({ set }: Awaited<ReturnType<typeof load>>): readonly string[] {
  return set.problems.map(({ file, message }) => `${file}: ${message}`)
}

async function refusal(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: SourceUnavailable) => error.message,
  )
}

test('the manifests of the newest commit are read without a checkout, with the bodies that they name', async () => {
  const files = {
    'monitoring/services/a.yaml': manifestOf('a'),
    'monitoring/services/b.yaml': manifestOf('b', '      body: {file: ./b.json}\n'),
    'monitoring/services/b.json': '{"probe": true}',
    'monitoring/.hidden/c.yaml': manifestOf('c'),
    'elsewhere/d.yaml': manifestOf('d'),
  }
  const sha = repository.commit(files, 'first words\n\nPharos-Approve: 0123456789abcdef')

  const loaded = await load(source())

  expect(problems(loaded)).toEqual([])
  expect(keys(loaded)).toEqual(['a', 'b'])
  expect(loaded.set.services[1]?.request.endpoints[0]?.call).toMatchObject({
    Http: { body: { value: '{"probe": true}' } },
  })
  expect(loaded.commit).toMatchObject({
    sha,
    subject: 'first words',
    author: 'Ada',
    approvals: ['0123456789abcdef'],
  })
  expect(readdirSync(join(folder, 'mirror')).includes('HEAD')).toBe(true)
  expect(execFileSync('find', [folder, '-name', '*.yaml']).toString()).toBe('')
})

test('only files that changed are parsed again', async () => {
  repository.commit({ 'monitoring/a.yaml': manifestOf('a'), 'monitoring/b.yaml': manifestOf('b') })
  const from = source()
  const first = await load(from)
  repository.commit({ 'monitoring/b.yaml': manifestOf('c') })
  const second = await load(from)

  expect([keys(first), keys(second)]).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ])
  expect(second.set.services[0]?.manifest).not.toBe(first.set.services[0]?.manifest)
  expect(await from.contains(second.commit.sha, first.commit.sha)).toBe(true)
  expect(await from.contains(first.commit.sha, second.commit.sha)).toBe(false)
})

test('a large set leaves turns to other sets and leases while it is read and compiled', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`)
  const sha = repository.commit(
    Object.fromEntries(names.map((name) => [`monitoring/${name}.yaml`, manifestOf(name)])),
  )
  const mirror = mirrorOf({
    access: { url: repository.url, scheme: 'file' },
    branch: 'main',
    directory: join(folder, 'mirror'),
    env: { PATH: process.env.PATH },
  })
  await mirror.fetch()
  let turns = 0
  let isDone = false
  const takeTurn = (): void => {
    turns += 1
    if (!isDone) setImmediate(takeTurn)
  }
  takeTurn()

  const reader = manifestReader(
    {
      read: async (...call) => {
        const output = await mirror.read(...call)
        turns = 0
        return output
      },
    },
    'monitoring',
  )
  const manifests = await reader.read(sha)
  const whileReading = turns
  turns = 0
  const set = await compiledCommit(manifests, WITH, undefined)
  isDone = true

  expect(set.services).toHaveLength(names.length)
  expect(whileReading).toBeGreaterThanOrEqual(names.length)
  expect(turns).toBeGreaterThanOrEqual(names.length)
})

test('Scenario 17: a deleted branch or an unavailable repository is reported, and read again when it is back', async () => {
  const sha = repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
  const from = source()
  await load(from)

  repository.git('branch', '--move', 'main', 'other')
  expect(await refusal(from.fetch())).toContain('has no branch main')
  repository.git('branch', '--move', 'other', 'main')
  expect(await from.fetch()).toBe(sha)

  execFileSync('mv', [repository.directory, `${repository.directory}.away`])
  expect(await refusal(from.fetch())).toContain('cannot be read')
  execFileSync('mv', [`${repository.directory}.away`, repository.directory])
  expect(await from.fetch()).toBe(sha)

  const access = { url: 'https://no-such-host.invalid/shop.git', scheme: 'https' as const }
  expect(await refusal(source({ access, directory: join(folder, 'other') }).fetch())).toContain(
    'cannot be read',
  )
})

test('Scenario 20: links, submodules, LFS pointers and unsafe names are problems at their file, never followed, and may be Defaults', async () => {
  writeFileSync(join(folder, 'outside.yaml'), manifestOf('outside'))
  repository.commit({
    'monitoring/a.yaml': manifestOf('a'),
    'monitoring/unseen/z.yaml': manifestOf('z'),
    'monitoring/unseen/large.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
    'monitoring/executable.yaml': manifestOf('executable'),
    'monitoring/line\nbreak.yaml': manifestOf('line-break'),
    'monitoring/-rf.yaml': manifestOf('rf'),
    'monitoring/A.yaml': manifestOf('upper'),
  })
  chmodSync(join(repository.directory, 'monitoring/executable.yaml'), 0o755)
  symlinkSync(join(folder, 'outside.yaml'), join(repository.directory, 'monitoring/unseen/outside.yaml'))
  symlinkSync('../monitoring', join(repository.directory, 'monitoring/inside'))
  for (const name of ['\xff.yml', '\xff.txt'])
    writeFileSync(
      Buffer.concat([Buffer.from(`${repository.directory}/monitoring/unseen/`), Buffer.from(name, 'latin1')]),
      'x',
    )
  const sha = repository.commit({})
  repository.git('update-index', '--add', '--cacheinfo', `160000,${sha},monitoring/vendor`)
  repository.git('commit', '--quiet', '--message', 'a submodule')

  const loaded = await load(source())

  expect([...keys(loaded)].sort()).toEqual(['a', 'executable', 'line-break', 'rf', 'upper'])
  expect(loaded.set.frozenKeys).toEqual(['z'])
  expect([...problems(loaded)].sort()).toEqual([
    'monitoring/inside: this is a symbolic link, which is not followed',
    'monitoring/unseen/large.yaml: this is only a pointer of Git LFS',
    'monitoring/unseen/outside.yaml: this is a symbolic link, which is not followed',
    'monitoring/unseen/\uFFFD.yml: the name of the file is not UTF-8',
    'monitoring/vendor: this is a submodule, which is not read',
  ])
})

test('Scenario 6: a file beyond the limit is refused for its size, and may be the Defaults of its folder', async () => {
  repository.commit({
    'monitoring/a.yaml': manifestOf('a'),
    'monitoring/huge/b.yaml': manifestOf('b'),
    'monitoring/huge/huge.yaml': `# ${'x'.repeat(2 * 1024 * 1024)}`,
  })

  const loaded = await load(source())

  expect([keys(loaded), loaded.set.frozenKeys, problems(loaded)]).toEqual([
    ['a'],
    ['b'],
    ['monitoring/huge/huge.yaml: the file has more than 1048576 bytes'],
  ])
})

test('the ignore file of a set applies as it does in a folder', async () => {
  repository.commit({
    'monitoring/.pharosignore': 'drafts/\n*.draft.yaml\n',
    'monitoring/a.yaml': manifestOf('a'),
    'monitoring/b.draft.yaml': 'not: yet',
    'monitoring/drafts/deep/c.yaml': 'not: yet',
  })

  const loaded = await load(source())

  expect([keys(loaded), problems(loaded)]).toEqual([['a'], []])

  repository.commit({ 'monitoring/.pharosignore': Buffer.from('# entw\xfcrfe\ndrafts/\n', 'latin1') })
  const unread = await load(source())

  expect([keys(unread), problems(unread)]).toEqual([[], ['monitoring/.pharosignore: not UTF-8']])
})

test('a missing path is distinguished from a folder without manifests', async () => {
  repository.commit({ 'monitoring/README.md': 'nothing yet' })

  expect(await load(source())).toMatchObject({ exists: true })
  expect(await load(source({ path: 'monitorin' }))).toMatchObject({ exists: false })
  expect(await load(source({ path: '.' }))).toMatchObject({ exists: true })
})

test('a body is read only from the set', async () => {
  const withBody = (name: string, file: string) => manifestOf(name, `      body: {file: ${file}}\n`)
  repository.commit({
    'monitoring/up.yaml': withBody('up', '../../secret.json'),
    'monitoring/gone.yaml': withBody('gone', './gone.json'),
    'secret.json': '{}',
  })

  expect(problems(await load(source())).map((text) => text.replace(/.*body /, ''))).toEqual([
    'refers to ./gone.json, which is not a readable regular file',
    'refers to a file outside the folder of the manifests',
  ])
})

test.each([
  ['--upload-pack=touch /tmp/x', /address/],
  ['ext::sh -c touch% /tmp/x', /address/],
  ['fd::17', /address/],
  ['http://example.com/a.git', /address/],
  ['file:///srv/a.git', /allowFile/],
  ['https://user:token@example.com/a.git', /credential/],
  ['https://token@example.com/a.git', /credential/],
  ['ssh://-oProxyCommand=x/a', /address|host/],
  ['git@-oProxyCommand:a', /address/],
  ['git@host:-x', /address/],
  ['https://example.com/a b', /address/],
  ['/srv/a.git', /address/],
] as const)('Scenario 21: the address %s is refused before git sees it', (url, words) => {
  expect(gitSchemeOf(url, { file: false })).toEqual({ problem: expect.stringMatching(words) })
})

test('usual URLs, branches and paths are accepted, and those that could be an option or leave the repository are refused', () => {
  const schemes = [
    'https://example.com/a.git',
    'ssh://git@example.com:22/a.git',
    'git@example.com:shop/a.git',
    'file:///srv/a.git',
  ]
  expect(schemes.map((url) => gitSchemeOf(url, { file: true }))).toEqual(
    ['https', 'ssh', 'ssh', 'file'].map((scheme) => ({ scheme })),
  )
  const branches = [
    'main',
    'release/1.2',
    '-x',
    '--upload-pack=x',
    'a..b',
    'a.lock',
    'a b',
    'a/',
    '',
    '/a',
    'a@{1}',
  ]
  expect(branches.filter((branch) => branchProblem(branch) === undefined)).toEqual(['main', 'release/1.2'])
  const paths = ['.', 'a/b', 'a/', '-rf', '/a', '../a', 'a/../b', 'a//b', '', 'a\\b', 'a\nb']
  expect(paths.filter((path) => treePathProblem(path) === undefined)).toEqual(['.', 'a/b', 'a/', '-rf'])
})

test('Scenario 21: a scheme that is not allowed is refused by git itself', async () => {
  repository.commit({})
  const access = { url: repository.url, scheme: 'https' as const }

  await expect(source({ access }).fetch()).rejects.toThrow(/transport 'file' not allowed/)
})

test('no hook, filter or setting of the machine runs while manifests are read', async () => {
  const trap = join(folder, 'sprung')
  const script = join(folder, 'trap.sh')
  writeFileSync(script, `#!/bin/sh\ntouch ${trap}\ncat\n`, { mode: 0o755 })
  const home = join(folder, 'home')
  execFileSync('mkdir', [home])
  writeFileSync(
    join(home, '.gitconfig'),
    `[core]\n\thooksPath = ${folder}\n\tfsmonitor = ${script}\n[filter "x"]\n\tsmudge = ${script}\n[credential]\n\thelper = ${script}\n`,
  )
  repository.commit({ '.gitattributes': '* filter=x', 'monitoring/a.yaml': manifestOf('a') })

  const loaded = await load(
    source({ env: { PATH: process.env.PATH, HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') } }),
  )

  expect([keys(loaded), existsSync(trap)]).toEqual([['a'], false])
})

test('Scenario 22: a mirror that lost objects, was left locked or is no folder is created again once, and works again', async () => {
  const sha = repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
  const from = source()
  await from.fetch()
  repository.git('gc', '--quiet')
  const packs = execFileSync('find', [join(folder, 'mirror/objects'), '-type', 'f'])
    .toString()
    .trim()
    .split('\n')
  for (const pack of packs) {
    chmodSync(pack, 0o600)
    truncateSync(pack, 5)
  }
  expect(keys(await from.load(sha, WITH))).toEqual(['a'])

  const next = repository.commit({ 'monitoring/b.yaml': manifestOf('b') })
  writeFileSync(join(folder, 'mirror/refs/heads/main.lock'), '')
  expect(await from.fetch()).toBe(next)
  expect(keys(await load(from))).toEqual(['a', 'b'])

  rmSync(join(folder, 'mirror'), { recursive: true })
  writeFileSync(join(folder, 'mirror'), 'no folder')
  expect(keys(await load(from))).toEqual(['a', 'b'])
})

test('Scenario 22: a repository that git refuses is not cloned repeatedly', async () => {
  repository.commit({})
  // A tree that leads into .git: fsck refuses it.
  const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
    cwd: repository.directory,
    input: 'x',
  })
    .toString()
    .trim()
  const tree = execFileSync('git', ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], {
    cwd: repository.directory,
    input: Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]),
  })
    .toString()
    .trim()
  repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', tree, '-m', 'evil'))
  const from = source()

  expect(await refusal(from.fetch())).toContain('cannot be read')
  writeFileSync(join(folder, 'mirror/witness'), '')
  expect(await refusal(from.fetch())).toContain('cannot be read')
  expect(existsSync(join(folder, 'mirror/witness'))).toBe(true)
})

test('Scenario 24: with allowed signers a commit is accepted only with the signature of one of them', async () => {
  const key = (name: string) => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(folder, name)])
    return execFileSync('cat', [join(folder, `${name}.pub`)]).toString()
  }
  const signers = join(folder, 'signers')
  writeFileSync(signers, `ada@example.com ${key('ada')}`)
  key('eve')
  const signed = (by: string): string => {
    repository.git(
      '-c',
      'gpg.format=ssh',
      '-c',
      `user.signingKey=${join(folder, by)}`,
      'commit',
      '--quiet',
      '--allow-empty',
      '-S',
      '-m',
      by,
    )
    return repository.git('rev-parse', 'HEAD')
  }
  const access = { url: repository.url, scheme: 'file' as const, allowedSignersFile: signers }
  const commits = [signed('ada'), signed('eve'), repository.commit({})]
  const from = source({ access })
  await from.fetch()

  const found = await Promise.all(commits.map((sha) => from.signatureProblem(sha)))

  expect(found).toEqual([
    null,
    expect.stringMatching(/No principal|Good "git" signature/),
    'it has no signature',
  ])
})
