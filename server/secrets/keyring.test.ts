import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { isExposed, readKeys } from './keyring.ts'

const KEY = `${'0f'.repeat(32)}\n`
let folder: string
let dataDir: string

beforeEach(() => {
  folder = testFolder()
  dataDir = join(folder, 'data')
  mkdirSync(dataDir)
})

test('a master key next to the data folder is read, even with a name that starts like the folder', () => {
  for (const name of ['data.master-key', '..key']) {
    writeFileSync(join(folder, name), KEY, { mode: 0o600 })

    expect(readKeys({ kind: 'file', file: join(folder, name) }, dataDir).length).toBe(1)
  }
})

test.each([
  ['by its path', () => join(dataDir, 'key')],
  ['under a name that starts with two dots', () => join(dataDir, '..key')],
  ['behind a link to the file', () => join(folder, 'link')],
  ['behind a link to the folder', () => join(folder, 'linked/key')],
])('a master key within the data folder %s is refused', (_how, file) => {
  for (const name of ['key', '..key']) writeFileSync(join(dataDir, name), KEY, { mode: 0o600 })
  symlinkSync(join(dataDir, 'key'), join(folder, 'link'))
  symlinkSync(dataDir, join(folder, 'linked'))

  expect(() => readKeys({ kind: 'file', file: file() }, dataDir)).toThrow('is in the data folder')
})

test.each([
  ['its own file', 10_001, 10_001, 0o600, false],
  ['its own file that its group can read', 10_001, 10_001, 0o640, true],
  ['a mounted secret: a file of root that its group can read', 0, 10_001, 0o440, false],
  ['a file of root that its group can change', 0, 10_001, 0o660, true],
  ['a file of root that all can read', 0, 10_001, 0o444, true],
  ['as root, a file of root that its group can read', 0, 0, 0o440, true],
  ['a file of another user that its group can read', 1_000, 10_001, 0o440, true],
  ['a file on a system without users', 0, undefined, 0o600, false],
])('a server detects whether a master key is exposed: %s', (_what, owner, server, mode, expected) => {
  expect(isExposed({ uid: owner, mode: 0o100_000 | mode }, server)).toBe(expected)
})
