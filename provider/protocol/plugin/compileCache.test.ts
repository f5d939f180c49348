import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheFolder, compileCached, readCache, writeCache } from './compileCache.ts'

let home: string

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'pharos-cache-'))
})
afterAll(() => rmSync(home, { recursive: true }))

test("files are cached in the user's cache folder, which is not writable by others", () => {
  const own = join(home, 'missing/own')
  const open = join(home, 'open')
  mkdirSync(join(open, 'pharos'), { recursive: true })
  chmodSync(join(open, 'pharos'), 0o777)
  writeFileSync(join(home, 'file'), '')

  expect(cacheFolder({ XDG_CACHE_HOME: own })).toBe(join(own, 'pharos'))
  expect(cacheFolder({ XDG_CACHE_HOME: open })).toBeUndefined()
  expect(cacheFolder({ XDG_CACHE_HOME: join(home, 'file') })).toBeUndefined()
  // Where nothing can be created, Node's recursive mkdir does not return.
  expect(cacheFolder({ XDG_CACHE_HOME: '/proc/x' })).toBeUndefined()
  expect(cacheFolder({ XDG_CACHE_HOME: own, NODE_DISABLE_COMPILE_CACHE: '1' })).toBeUndefined()
})

test('a file is read as it was written, and a damaged or missing one is not', () => {
  const file = join(home, 'main')
  const compiled = { text: 'return “text”', kinds: ['/a/One', '/a/Two'], code: Buffer.from('compiled') }
  writeCache(file, compiled)
  const read = readCache(file)
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(0, -1))
  const cut = readCache(file)
  bytes[32] = (bytes[32] ?? 0) ^ 1
  writeFileSync(file, bytes)

  expect(read).toEqual(compiled)
  expect([cut, readCache(file), readCache(join(home, 'absent'))]).toEqual([undefined, undefined, undefined])
})

test('an intact cache file of another format is not read', () => {
  const file = join(home, 'form')
  writeCache(file, { text: '() => 1', kinds: [], code: Buffer.from('compiled') })
  const bytes = readFileSync(file)
  const rest = bytes.subarray(32)
  writeFileSync(file, Buffer.concat([createHash('sha256').update(rest).digest(), rest]))

  expect(readCache(file)).toBeUndefined()
})

test('a write removes files that are older than a month, and leaves no temporary file when it fails', () => {
  const folder = join(home, 'old')
  mkdirSync(folder)
  const [old, fresh] = [join(folder, 'old'), join(folder, 'fresh')]
  for (const file of [old, fresh]) writeFileSync(file, '')
  const longAgo = Date.now() / 1_000 - 31 * 86_400
  utimesSync(old, longAgo, longAgo)
  const compiled = { text: 'x', kinds: [], code: Buffer.from('x') }
  writeCache(join(folder, 'main'), compiled)
  mkdirSync(join(folder, 'taken'))
  writeCache(join(folder, 'taken'), compiled)

  expect(readdirSync(folder).sort()).toEqual(['fresh', 'main', 'taken'])
})

test('a function is compiled with its parameters, with and without a cache', () => {
  const options = { names: ['one', 'other'], key: 'test', filename: 'test.js' }
  const unpack = (): string => 'return one + other'

  expect(compileCached(unpack, options)(1, 2)).toBe(3)
  expect(compileCached(unpack, options)(3, 4)).toBe(7)
})
