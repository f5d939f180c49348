import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { compileSet } from '../manifest/compile/serviceSet.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { readManifests } from './manifestFiles.ts'

let folder: string
beforeEach(() => {
  folder = testFolder()
})

function makePipe(name: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, name)])
}

function notUtf8Name(parent: string): Buffer {
  return Buffer.concat([Buffer.from(`${parent}/`), Buffer.from('\xff.yaml', 'latin1')])
}

function problems(path = folder): readonly string[] {
  return readManifests(path).problems.map(
    ({ file, line, column, code, message }) =>
      `${file.slice(folder.length + 1)}:${line}:${column} ${code} ${message}`,
  )
}

test('a pipe, a socket and a device are reported, not read', async () => {
  makePipe('pipe.yaml')
  const socket = createServer()
  await new Promise<void>((resolve) => socket.listen(join(folder, 'socket.yaml'), resolve))

  const found = problems()

  expect(found).toEqual([
    'pipe.yaml:1:1 E_FILE pipe.yaml is not a regular file',
    'socket.yaml:1:1 E_FILE socket.yaml is not a regular file',
  ])
  expect(problems(join(folder, 'pipe.yaml'))).toEqual([found[0]])
  expect(readManifests('/dev/zero').problems).toMatchObject([
    { code: 'E_FILE', message: 'zero is not a regular file' },
  ])
  await new Promise((resolve) => socket.close(resolve))
})

test('a link in the folder is refused, and a link given as the path is followed', () => {
  writeFileSync(join(folder, 'a.yaml'), manifestOf('a'))
  symlinkSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'))

  expect(problems()).toEqual(['b.yaml:1:1 E_FILE b.yaml is a symbolic link, which is not followed'])
  expect(readManifests(join(folder, 'b.yaml'))).toMatchObject({ documents: [{ index: 0 }], problems: [] })
})

test('a link to a folder is refused, so that manifests below it do not count as removed', () => {
  const elsewhere = testFolder()
  writeFileSync(join(elsewhere, 'a.yaml'), manifestOf('a'))
  writeFileSync(join(elsewhere, 'notes.txt'), '')
  for (const name of ['shared', 'v1.2']) symlinkSync(elsewhere, join(folder, name))
  symlinkSync(join(elsewhere, 'notes.txt'), join(folder, 'notes.txt'))
  symlinkSync('nowhere', join(folder, 'gone.txt'))
  symlinkSync('round.txt', join(folder, 'round.txt'))

  expect(problems()).toEqual([
    'round.txt:1:1 E_FILE round.txt is a symbolic link, which is not followed',
    'shared:1:1 E_FILE shared is a symbolic link, which is not followed',
    'v1.2:1:1 E_FILE v1.2 is a symbolic link, which is not followed',
  ])
})

test('a file that is not UTF-8 is reported at its first bad byte and not rewritten', () => {
  writeFileSync(
    join(folder, 'a.yaml'),
    Buffer.concat([Buffer.from('# \uFFFD is fine\nname: \uFFFD caf'), Buffer.from([0xe9, 0x0a])]),
  )

  const { documents } = readManifests(folder)

  expect([documents, problems()]).toEqual([[], ['a.yaml:2:12 E_FILE not UTF-8']])
})

test('pointers of Git LFS and names that are not UTF-8 are reported as such', () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'
  writeFileSync(join(folder, 'large.yaml'), pointer)
  writeFileSync(join(folder, 'body.json'), pointer)
  writeFileSync(join(folder, 'a.yaml'), manifestOf('a', '      body: {file: ./body.json}\n'))
  writeFileSync(notUtf8Name(folder), '')

  const { documents } = readManifests(folder)
  const set = compileSet(documents, {
    env: {},
    secretsDirectory: folder,
    rootDirectory: folder,
    allowInlineSecrets: false,
    secrets: 'required',
  })

  expect(problems()).toEqual([
    'large.yaml:1:1 E_FILE this is only a pointer of Git LFS',
    '\uFFFD.yaml:1:1 E_FILE the name of the file is not UTF-8',
  ])
  expect(set.problems.map(({ message }) => message)).toEqual([
    'spec.endpoints[0].body refers to ./body.json, which is only a pointer of Git LFS',
  ])
})

test.each(['latin1', 'utf16le'] as const)(
  'Defaults that are not UTF-8 but %s are not ignored',
  (encoding) => {
    const text = 'apiVersion: pharos/v1\nkind: Defaults\nspec: {interval: 60s} # caf\u00e9\n'
    writeFileSync(join(folder, 'pharos.yaml'), Buffer.from(text, encoding))

    expect(readManifests(folder).documents).toMatchObject([{ isHidden: true, faulty: true }])
  },
)

test('the extension of a manifest may be in capitals', () => {
  for (const name of ['a.YAML', 'b.Yml', 'c.yaml.bak']) writeFileSync(join(folder, name), manifestOf(name))

  expect(readManifests(folder)).toMatchObject({ files: 2, documents: [{ index: 0 }, { index: 0 }] })
})

test('a file that cannot be seen may be Defaults: the services of its folder and below are not used, and no other problem is invented', () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'
  const unseen: readonly (readonly [string, (path: string) => void])[] = [
    ['link', (path) => symlinkSync('/etc/hostname', path)],
    ['pointer', (path) => writeFileSync(path, pointer)],
    ['large', (path) => writeFileSync(path, `#${'x'.repeat(1024 * 1024)}\n`)],
    ['pipe', (path) => makePipe(relative(folder, path))],
    ['name', (path) => writeFileSync(notUtf8Name(dirname(path)), '')],
  ]
  for (const [name, make] of unseen) {
    mkdirSync(join(folder, name, 'below'), { recursive: true })
    make(join(folder, name, 'pharos.yaml'))
    // Without an interval: the Defaults would have it.
    writeFileSync(join(folder, name, 'a.yaml'), manifestOf(name).replace('  interval: 60s\n', ''))
    writeFileSync(join(folder, name, 'below/b.yaml'), manifestOf(`${name}-below`))
  }
  writeFileSync(join(folder, 'other.yaml'), manifestOf('other'))

  const { documents, problems: unread } = readManifests(folder)
  const set = compileSet(documents, {
    env: {},
    secretsDirectory: folder,
    rootDirectory: folder,
    allowInlineSecrets: false,
    secrets: 'required',
  })

  expect(new Set(unread.map(({ hint }) => hint?.split('; ')[1]))).toEqual(
    new Set(['until then the services of its folder stay unchanged, because it may have their Defaults']),
  )
  expect(unread.map(({ file }) => relative(folder, file))).toEqual([
    'large/pharos.yaml',
    'link/pharos.yaml',
    'name/\uFFFD.yaml',
    'pipe/pharos.yaml',
    'pointer/pharos.yaml',
  ])
  expect([set.services.map(({ key }) => key), set.problems]).toEqual([['other'], []])
  expect([...set.frozenKeys].sort()).toEqual(unseen.flatMap(([name]) => [name, `${name}-below`]).sort())
})

test('a body and a secret that are not UTF-8 are reported, and so is a pipe in place of a secret', () => {
  const latin1 = Buffer.from('caf\xe9', 'latin1')
  for (const name of ['payload.txt', 'secret']) writeFileSync(join(folder, name), latin1)
  makePipe('pipe')
  const more = `      body: {file: ./payload.txt}\n      headers: {X-A: {file: secret}, X-B: {file: pipe}}\n`
  writeFileSync(join(folder, 'a.yaml'), manifestOf('a', more))

  const set = compileSet(readManifests(folder).documents, {
    env: {},
    secretsDirectory: folder,
    rootDirectory: folder,
    allowInlineSecrets: false,
    secrets: 'required',
  })

  expect(set.problems.map(({ message }) => message)).toEqual([
    'spec.endpoints[0].body refers to ./payload.txt, which is not UTF-8: save it as UTF-8',
    `spec.endpoints[0].headers.X-A refers to the secret file ${folder}/secret, which is not UTF-8: save it as UTF-8`,
    `spec.endpoints[0].headers.X-B refers to the secret file ${folder}/pipe, which cannot be read`,
  ])
})
