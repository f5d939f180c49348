import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readKeys } from './keyring.ts'

const KEY = `${'0f'.repeat(32)}\n`
let folder: string
let dataDir: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-keys-'))
  dataDir = join(folder, 'data')
  mkdirSync(dataDir)
})

afterEach(() => rmSync(folder, { recursive: true }))

test('a master key beside the data folder is read, also under a name that starts like the folder', () => {
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
])('a master key that lies in the data folder %s is refused', (_how, file) => {
  for (const name of ['key', '..key']) writeFileSync(join(dataDir, name), KEY, { mode: 0o600 })
  symlinkSync(join(dataDir, 'key'), join(folder, 'link'))
  symlinkSync(dataDir, join(folder, 'linked'))

  expect(() => readKeys({ kind: 'file', file: file() }, dataDir)).toThrow('lies in the data folder')
})
