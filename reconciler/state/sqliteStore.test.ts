import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Binding } from '../plan/binding.ts'
import { SCHEMA } from './sqliteSchema.ts'
import { openSqliteStore, readSqliteStore } from './sqliteStore.ts'
import { fingerprintFor, stateKeyFor } from './stateKey.ts'
import type { Intent } from './store.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-state-'))
  path = join(folder, 'pharos.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

const binding: Binding = {
  key: 'shop',
  serviceId: 'id-1',
  desired: { name: 'Shop', interval_secs: 60, regions: ['a'], endpoints: [] },
  observed: null,
  paused: true,
  onDelete: 'pause',
  protect: true,
  tombstone: false,
}
const intent: Intent = {
  opId: 'op-1',
  runId: 'run-1',
  key: 'shop',
  kind: 'create',
  serviceId: null,
  sentAtMs: 1_000,
  create: {
    sent: { name: 'Shop', interval_secs: 60, regions: [], endpoints: [] },
    preIds: ['x'],
    policy: { onDelete: 'delete', protect: false },
  },
}

test('what was written is there when the state is opened again', async () => {
  const first = await openSqliteStore(path)
  await first.settleIn({ orgId: 'org', url: 'http://x', source: 'monitoring' })
  await first.begin(intent)
  await first.begin({ ...intent, opId: 'op-2', key: 'other' })
  await first.failed('op-2')
  await first.settle('op-1', { put: binding })
  await first.close()

  const second = await readSqliteStore(path)
  expect(second.stateId).toBe(first.stateId)
  expect(await second.home()).toEqual({ orgId: 'org', url: 'http://x', source: 'monitoring' })
  expect(await second.bindings()).toEqual([binding])
  expect(await second.openIntents()).toEqual([{ ...intent, opId: 'op-2', key: 'other', mayStillLand: false }])
  await second.close()
})

test('a state of version 1 is read as it is, and migrated when it is written to', async () => {
  const old = new Database(path)
  old.exec(SCHEMA.replace(/,\s*source TEXT/, ''))
  old.exec("INSERT INTO meta VALUES (1, 'id', 'org', 'http://x')")
  old.pragma('user_version = 1')
  old.close()

  const reading = await readSqliteStore(path)
  expect(await reading.home()).toEqual({ orgId: 'org', url: 'http://x', source: null })
  await reading.close()

  const writing = await openSqliteStore(path)
  await writing.settleIn({ orgId: 'org', url: 'http://x', source: 'monitoring' })
  await writing.settleIn({ orgId: 'org', url: 'http://y', source: null })
  expect(await writing.home()).toEqual({ orgId: 'org', url: 'http://y', source: 'monitoring' })
  await writing.close()
})

test('a rename moves the binding in one step, and a service has one binding', async () => {
  const store = await openSqliteStore(path)
  await store.save({ put: binding })
  await store.save({ drop: 'shop', put: { ...binding, key: 'store' } })
  expect((await store.bindings()).map((one) => one.key)).toEqual(['store'])
  await store.close()
})

test('one run at a time holds the state, and gives it back', async () => {
  const first = await openSqliteStore(path)
  await expect(openSqliteStore(path)).rejects.toMatchObject({ reason: 'held' })
  await first.close()
  const second = await openSqliteStore(path)
  await second.close()
})

test('a state of a newer version, a foreign database and a broken file are refused', async () => {
  const newer = new Database(path)
  newer.exec(SCHEMA)
  newer.pragma('user_version = 99')
  newer.close()
  await expect(openSqliteStore(path)).rejects.toThrow('written by a newer pharos')

  const foreign = join(folder, 'foreign.db')
  const database = new Database(foreign)
  database.exec('CREATE TABLE theirs (a)')
  database.close()
  await expect(openSqliteStore(foreign)).rejects.toThrow('no state of pharos')

  const broken = join(folder, 'broken.db')
  writeFileSync(broken, 'this is no database, but it is long enough to be looked at as one'.repeat(50))
  await expect(openSqliteStore(broken)).rejects.toThrow('cannot be used')
})

test.each([0, 1, 2])('a foreign database of version %i is left as it is', async (version) => {
  const foreign = new Database(path)
  foreign.exec('CREATE TABLE theirs (a)')
  foreign.pragma(`user_version = ${version}`)
  foreign.close()
  const before = readFileSync(path)

  for (const open of [openSqliteStore, readSqliteStore]) {
    await expect(open(path)).rejects.toThrow(`${path} is a database, but no state of pharos`)
  }
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('who only reads writes nothing, leaves no file, and cannot write by mistake', async () => {
  const store = await openSqliteStore(path)
  await store.save({ put: binding })
  await store.close()
  const before = [readFileSync(path), readdirSync(folder)]

  const reading = await readSqliteStore(path)

  expect(await reading.bindings()).toEqual([binding])
  await expect(reading.save({ drop: 'shop' })).rejects.toThrow('readonly')
  await reading.close()
  expect([readFileSync(path), readdirSync(folder)]).toEqual(before)
})

test('who reads while a run writes sees what is written so far', async () => {
  const writing = await openSqliteStore(path)
  await writing.save({ put: binding })

  const reading = await readSqliteStore(path)

  expect(await reading.bindings()).toEqual([binding])
  await reading.close()
  await writing.close()
})

test('the state and its key can be read by their owner only', async () => {
  const store = await openSqliteStore(path)
  await store.close()
  const { value, isNew } = stateKeyFor(path, undefined, true)
  expect([isNew, value?.length]).toEqual([true, 64])
  expect(stateKeyFor(path, undefined, false)).toEqual({ value, isNew: false })
  expect([path, `${path}.key`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  expect(readFileSync(path).includes(value ?? '')).toBe(false)
})

test('marks differ by place, state and key, and are the same every time', () => {
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
