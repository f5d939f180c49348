import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { runGit } from '../git/gitProgram.ts'
import { type GitRepository, gitRepository } from '../testing/gitRepository.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { manifestReader } from './gitManifests.ts'
import { SourceUnavailable } from './gitMirror.ts'
import { type GitSource, gitSource } from './gitSource.ts'

let repository: GitRepository
let folder: string
let source: GitSource
beforeEach(() => {
  repository = gitRepository()
  folder = testFolder()
  source = gitSource({ ...mirrored(), branch: 'main', path: 'monitoring' })
})
afterEach(() => repository.remove())

const mirrored = () =>
  ({
    access: { url: repository.url, scheme: 'file' },
    directory: join(folder, 'mirror'),
    env: { PATH: process.env.PATH },
  }) as const

/** What the newest commit comes to: keys, and problems with their files. */
async function loaded() {
  const compileWith = { env: {}, secretsDirectory: '/run/secrets', allowInlineSecrets: false }
  const { set, commit, exists } = await source.load(await source.fetch(), {
    ...compileWith,
    secrets: 'required',
  })
  return {
    commit,
    exists,
    keys: set.services.map(({ key }) => key),
    problems: set.problems.map(({ file, message }) => `${file}: ${message}`),
  }
}

async function refusal(): Promise<string> {
  const error = await source.fetch().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof SourceUnavailable)) throw error ?? new Error('it was fetched')
  return error.message
}

/** Makes an object, whatever git thinks of it; its SHA. */
function object(type: 'blob' | 'tree' | 'commit', input: string | Buffer): string {
  const args = ['hash-object', '-t', type, '-w', '--stdin', '--literally']
  return execFileSync('git', args, { cwd: repository.directory, input }).toString().trim()
}

function entry(mode: string, name: string, sha: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, 'hex')])
}

/** Makes `tree` what the branch has. */
function commitTree(tree: string, message = 'a tree'): void {
  repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', tree, '-m', message))
}

test('a tree of a few kilobytes that expands to a hundred million files is refused, and its repository stays usable', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `a${String(index).padStart(2, '0')}`)
  let sha = object('blob', 'x')
  let mode = '100644'
  for (let level = 0; level < 4; level += 1) {
    sha = object('tree', Buffer.concat(names.map((name) => entry(mode, name, sha))))
    mode = '40000'
  }
  commitTree(object('tree', entry('40000', 'monitoring', sha)))

  const bomb = await loaded()
  expect([bomb.exists, bomb.keys, bomb.problems]).toEqual([
    true,
    [],
    ['monitoring: there are more than 200000 files'],
  ])
  const file = entry('100644', 'a.yaml', object('blob', manifestOf('a')))
  commitTree(object('tree', entry('40000', 'monitoring', object('tree', file))))
  expect((await loaded()).keys).toEqual(['a'])
})

test('a path of a set that is itself a link or a submodule is a problem, and is not followed', async () => {
  const sha = repository.commit({ 'elsewhere/a.yaml': manifestOf('a') })
  symlinkSync('elsewhere', join(repository.directory, 'monitoring'))
  repository.commit({})
  expect(await loaded()).toMatchObject({
    keys: [],
    problems: ['monitoring: this is a symbolic link, which is not followed'],
  })

  repository.commit({ monitoring: null })
  repository.git('update-index', '--add', '--cacheinfo', `160000,${sha},monitoring`)
  repository.git('commit', '--quiet', '--message', 'a submodule')
  expect(await loaded()).toMatchObject({
    keys: [],
    problems: ['monitoring: this is a submodule, which is not read'],
  })
})

test('an object that git calls malformed is refused by its name, and harmless old faults are accepted', async () => {
  const blob = object('blob', manifestOf('a'))
  const folderOf = (file: Buffer): string =>
    object('tree', entry('40000', 'monitoring', object('tree', file)))
  commitTree(folderOf(entry('0100644', 'a.yaml', blob)))
  expect((await loaded()).keys).toEqual(['a'])

  const twice = entry('100644', 'a.yaml', blob)
  commitTree(folderOf(Buffer.concat([twice, twice])))
  expect(await refusal()).toMatch(/ git refuses an object .*duplicateEntries/)

  const modules = object('blob', '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n')
  commitTree(object('tree', entry('100644', '.gitmodules', modules)))
  expect(await refusal()).toMatch(/git refuses an object .*gitmodulesUrl/)
})

test('control characters in names and messages are replaced, and long messages are truncated', async () => {
  const names = ['--upload-pack=x.yaml', '$(touch x).yaml', '\u001b[31mred.yaml', 'A.YAML', 'a.yaml']
  const files = names.map((name, index) => [`monitoring/${name}`, manifestOf(`s${index}`)])
  repository.commit({ ...Object.fromEntries(files), 'monitoring/\u001bbad.yaml': 'x: [' })
  const raw = repository.git('cat-file', 'commit', 'HEAD').replace(/^author Ada/m, 'author A\u001b[2Jda')
  const words = raw.replace(/\n\nchange$/, `\n\n\u001b[1mHi\u0007 ${'x'.repeat(1_000_000)}\n`)
  repository.git('update-ref', 'refs/heads/main', object('commit', words))

  const { commit, keys, problems } = await loaded()

  expect([commit.author, commit.subject.slice(0, 8), commit.subject.length < 600]).toEqual([
    'A…[2Jda',
    '…[1mHi… ',
    true,
  ])
  expect(keys.length).toBe(5)
  expect(problems).toEqual([expect.stringMatching(/^monitoring\/…bad\.yaml: /)])
})

test('each request body may have the maximum size, but their total is limited too', async () => {
  const names = Array.from({ length: 1_100 }, (_, index) => `${index}.json`)
  const bodies = names.map((name) => [`monitoring/${name}`, Buffer.alloc(65_000, `${name} `)])
  for (const name of ['core.compression', 'pack.window']) repository.git('config', name, '0')
  repository.commit(Object.fromEntries(bodies))
  const read = (args: readonly string[], input?: string): Promise<Buffer> =>
    runGit({ ...mirrored(), args, limitMs: 60_000, ...(input === undefined ? {} : { input }) })
  const sha = await source.fetch()

  const { readSetFile } = await manifestReader({ read }, 'monitoring').read(sha)

  const refused = names.filter((name) => readSetFile(name, 65_536) === 'too-large')
  expect(names.length - refused.length).toBe(Math.floor((64 * 1024 * 1024) / 65_000))
})

test('a transfer beyond its limit is aborted and leaves nothing on the disk, and the mirror stays usable', async () => {
  const mirror = join(folder, 'mirror')
  source = gitSource({ ...mirrored(), branch: 'main', path: 'monitoring', transferMiBMax: 1 })
  repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
  expect((await loaded()).keys).toEqual(['a'])
  const kept = statSync(mirror).ino
  // Two files, each of which would pass.
  repository.commit({ one: randomBytes(700_000), two: randomBytes(700_000) })

  const refused =
    'cannot be read: a transfer brought more than 1 MiB: keep manifests in a smaller repository, or raise "fetchMiB"'
  expect(await refusal()).toBe(`${repository.url} ${refused}`)
  expect(await refusal()).toBe(`${repository.url} ${refused}`)

  const files = readdirSync(mirror, { recursive: true }).map(String)
  expect(files.filter((name) => name.includes('tmp_'))).toEqual([])
  repository.git('reset', '--quiet', '--hard', 'HEAD~')
  repository.commit({ 'monitoring/b.yaml': manifestOf('b') })
  expect([(await loaded()).keys, statSync(mirror).ino]).toEqual([['a', 'b'], kept])
})

test('a mirror is garbage-collected even where all transfers together exceed the limit of one, and again after a failure', async () => {
  const packFolder = join(folder, 'mirror', 'objects', 'pack')
  const packs = (): readonly string[] => readdirSync(packFolder).filter((name) => name.endsWith('.pack'))
  source = gitSource({ ...mirrored(), branch: 'main', path: 'monitoring', transferMiBMax: 1 })
  for (const name of ['one', 'two']) {
    repository.commit({ [name]: randomBytes(700_000) })
    await source.fetch()
  }
  /** Makes copies of a pack, which stand for those of so many pushes: more than git leaves as they are. */
  const afterPushes = async (from: number, to: number): Promise<number> => {
    const [pack = ''] = packs()
    for (let index = from; index <= to; index += 1) {
      const copy = join(packFolder, `pack-${String(index).padStart(40, '0')}`)
      for (const kind of ['pack', 'idx'])
        linkSync(join(packFolder, pack.replace(/pack$/, kind)), `${copy}.${kind}`)
    }
    repository.commit({ three: String(to) })
    await source.fetch()
    return packs().length
  }
  const lock = join(folder, 'mirror', 'packed-refs.lock')
  writeFileSync(lock, '')
  expect(await afterPushes(1, 60)).toBeGreaterThan(60)
  rmSync(lock)
  expect(await afterPushes(61, 62)).toBeGreaterThan(62)

  expect(await afterPushes(63, 130)).toBeLessThan(5)
  expect(readdirSync(join(folder, 'mirror'), { recursive: true }).join(' ')).not.toContain('tmp_')
})

test('a repository that becomes empty, shallow or another one is reported as such', async () => {
  const sha = repository.commit({ 'monitoring/a.yaml': manifestOf('a') })
  await source.fetch()
  const { directory } = repository
  const replaced = (...args: readonly string[]): void => {
    rmSync(directory, { recursive: true })
    execFileSync('git', [...args], { stdio: 'pipe' })
  }
  const kept = join(folder, 'kept')
  execFileSync('git', ['clone', '--quiet', directory, kept])

  replaced('init', '--quiet', '--initial-branch=main', directory)
  expect(await refusal()).toMatch(/ has no branch /)

  repository.commit({ 'monitoring/b.yaml': manifestOf('b') })
  const unrelated = await source.fetch()
  expect([await source.contains(unrelated, sha), await source.contains(sha, unrelated)]).toEqual([
    false,
    false,
  ])
  expect((await loaded()).keys).toEqual(['b'])

  replaced('init', '--quiet', '--initial-branch=main', '--object-format=sha256', directory)
  repository.commit({})
  expect(await refusal()).toContain('uses SHA-256')

  rmSync(directory, { recursive: true })
  renameSync(kept, directory)
  repository.commit({})
  replaced('clone', '--quiet', '--depth=1', `file://${cloned(directory)}`, directory)
  expect(await refusal()).toContain('is a shallow repository')
})

/** A copy of the repository in `directory`, which is about to be replaced. */
function cloned(directory: string): string {
  const copy = join(folder, 'copy')
  execFileSync('git', ['clone', '--quiet', directory, copy])
  return copy
}

test('a branch that does not point to a commit is refused', async () => {
  repository.commit({})
  writeFileSync(join(repository.directory, '.git/refs/heads/main'), `${object('blob', 'x')}\n`)

  expect(await refusal()).toMatch(/ cannot be read: /)
})
