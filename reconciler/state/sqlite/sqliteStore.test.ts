import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { newBinding } from '../../plan/binding.ts'
import { finished } from '../../testing/processes.ts'
import { documentOf } from '../model/stateDocument.ts'
import { fingerprintFor, stateKeyFor } from '../stateKey.ts'
import { SCHEMA, SCHEMA_VERSION } from './sqliteSchema.ts'
import { openSqliteStore, readSqliteStore } from './sqliteStore.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = testFolder()
  path = join(folder, 'pharos.db')
})

const binding = newBinding('shop', 'id-1')

test('bindings are read from the file, whichever connection wrote them', async () => {
  const [writing, reading] = [await openSqliteStore(path), await readSqliteStore(path)]
  await writing.acquire('test')
  const keys = async () =>
    Promise.all([writing, reading].map(async (store) => (await store.bindings()).map(({ key }) => key)))
  expect(await keys()).toEqual([[], []])

  await writing.save({ put: binding })
  expect(await keys()).toEqual([['shop'], ['shop']])
  await writing.save({ put: newBinding('cart', 'id-2') })
  expect(await keys()).toEqual([
    ['cart', 'shop'],
    ['cart', 'shop'],
  ])
  await writing.restore({ ...(await documentOf(writing)), bindings: [] })
  expect(await keys()).toEqual([[], []])
  await Promise.all([writing.close(), reading.close()])
})

test('a state whose holder has certainly ended is taken over at once', async () => {
  const script = `
    const { openSqliteStore } = await import(${JSON.stringify(import.meta.resolve('./sqliteStore.ts'))})
    const store = await openSqliteStore(${JSON.stringify(path)})
    console.log(JSON.stringify(await store.acquire('first')))
    process.kill(process.pid, 'SIGKILL')`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  expect(JSON.parse((await finished(child)).stdout)).toEqual({ epoch: 1 })

  const store = await openSqliteStore(path)
  expect(await store.lease()).toMatchObject({ holder: 'first' })
  expect(await store.acquire('second')).toEqual({ epoch: 2 })
  await store.close()
})

test.each([
  [SCHEMA_VERSION + 1, 'written by a newer pharos'],
  [SCHEMA_VERSION - 1, 'before the first release: start again with "pharos state adopt apply"'],
])('a state of version %i is refused and not changed', async (version, problem) => {
  const other = new Database(path)
  other.exec(SCHEMA)
  other.pragma(`user_version = ${version}`)
  other.close()
  const before = readFileSync(path)

  for (const open of [openSqliteStore, readSqliteStore]) await expect(open(path)).rejects.toThrow(problem)
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a foreign database and a broken file are refused', async () => {
  const foreign = join(folder, 'foreign.db')
  const database = new Database(foreign)
  database.exec('CREATE TABLE theirs (a)')
  database.close()
  await expect(openSqliteStore(foreign)).rejects.toThrow('not a state of pharos')

  const broken = join(folder, 'broken.db')
  writeFileSync(broken, 'this is no database, but it is long enough to be looked at as one'.repeat(50))
  await expect(openSqliteStore(broken)).rejects.toThrow('file is not a database: restore a backup')
})

test('a write that was cut off in the middle is rolled back by the next reader', async () => {
  const store = await openSqliteStore(path)
  await store.acquire('test')
  await store.save({ put: binding })
  await store.close()
  const writing = new Database(path)
  writing.pragma('journal_mode = TRUNCATE')
  writing.pragma('cache_size = 1')
  writing.exec('BEGIN IMMEDIATE; DELETE FROM binding')
  const event = writing.prepare("INSERT INTO event (at, type, severity, message) VALUES ('', '', 'info', ?)")
  // More than the cache holds: pages of the transaction are in the file by now.
  for (let count = 0; count < 100; count += 1) event.run('x'.repeat(4_000))
  const copy = join(folder, 'copy.db')
  for (const end of ['', '-journal']) cpSync(`${path}${end}`, `${copy}${end}`)
  writing.exec('ROLLBACK')
  writing.close()
  expect(statSync(copy).size).toBeGreaterThan(statSync(path).size)

  const reading = await readSqliteStore(copy)
  expect([await reading.bindings(), await reading.events(1)]).toEqual([[binding], []])
  await reading.close()
})

test.each([0, 1, 2])('a foreign database of version %i is not changed', async (version) => {
  const foreign = new Database(path)
  foreign.exec('CREATE TABLE theirs (a)')
  foreign.pragma(`user_version = ${version}`)
  foreign.close()
  const before = readFileSync(path)

  for (const open of [openSqliteStore, readSqliteStore]) {
    await expect(open(path)).rejects.toThrow(`${path} is a database, but not a state of pharos`)
  }
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a reader writes nothing and leaves no file', async () => {
  const store = await openSqliteStore(path)
  await store.acquire('test')
  await store.save({ put: binding })
  await store.close()
  const before = [readFileSync(path), readdirSync(folder)]

  const reading = await readSqliteStore(path)

  expect(await reading.bindings()).toEqual([binding])
  await reading.close()
  expect([readFileSync(path), readdirSync(folder)]).toEqual(before)
})

test('a reader sees the writes so far of a run in progress', async () => {
  const writing = await openSqliteStore(path)
  await writing.acquire('test')
  await writing.save({ put: binding })

  const reading = await readSqliteStore(path)

  expect(await reading.bindings()).toEqual([binding])
  await reading.close()
  await writing.close()
})

test('a state behind a symbolic link is one state for readers, for its lock, and when it is removed', async () => {
  mkdirSync(join(folder, 'links'))
  const link = join(folder, 'links', 'state.db')
  const writing = await openSqliteStore(path)
  await writing.acquire('first')
  symlinkSync(path, link)

  const reading = await readSqliteStore(link)
  expect(await reading.lease()).toMatchObject({ holder: 'first' })
  await reading.close()
  const second = await openSqliteStore(link)
  expect(await second.acquire('second')).toMatchObject({ heldBy: { holder: 'first' } })
  await writing.release()
  expect(await second.acquire('second')).toEqual({ epoch: 2 })
  rmSync(path)
  await expect(second.save({ put: binding })).rejects.toThrow('state.db was removed or replaced')
  await second.close()
  await writing.close()
})

test('the state and its key are readable only by their owner', async () => {
  const store = await openSqliteStore(path)
  await store.close()
  const { value, isNew } = stateKeyFor(path, undefined, true)
  expect([isNew, value?.length]).toEqual([true, 64])
  expect(stateKeyFor(path, undefined, false)).toEqual({ value, isNew: false })
  expect([path, `${path}.key`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  expect(readFileSync(path).includes(value ?? '')).toBe(false)
})

test('fingerprints differ by place, state and key, and are deterministic', () => {
  const key = 'k'.repeat(32)
  const marks = [
    fingerprintFor(key, 'state', 'shop')('/a', 'v'),
    fingerprintFor(key, 'state', 'shop')('/b', 'v'),
    fingerprintFor(key, 'state', 'store')('/a', 'v'),
    fingerprintFor(key, 'other', 'shop')('/a', 'v'),
    fingerprintFor('l'.repeat(32), 'state', 'shop')('/a', 'v'),
  ]
  expect(new Set(marks).size).toBe(marks.length)
  expect(fingerprintFor(key, 'state', 'shop')('/a', 'v')).toBe(marks[0])
})
