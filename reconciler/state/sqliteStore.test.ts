import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Binding } from '../plan/binding.ts'
import { openSqliteStore } from './sqliteStore.ts'
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
  const first = await openSqliteStore(path, { lock: true })
  await first.settleIn({ orgId: 'org', url: 'http://x' })
  await first.begin(intent)
  await first.begin({ ...intent, opId: 'op-2', key: 'other' })
  await first.failed('op-2')
  await first.settle('op-1', { put: binding })
  await first.close()

  const second = await openSqliteStore(path, { lock: false })
  expect(second.stateId).toBe(first.stateId)
  expect(await second.home()).toEqual({ orgId: 'org', url: 'http://x' })
  expect(await second.bindings()).toEqual([binding])
  expect(await second.openIntents()).toEqual([{ ...intent, opId: 'op-2', key: 'other', mayStillLand: false }])
  await second.close()
})

test('a rename moves the binding in one step, and a service has one binding', async () => {
  const store = await openSqliteStore(path, { lock: false })
  await store.save({ put: binding })
  await store.save({ drop: 'shop', put: { ...binding, key: 'store' } })
  expect((await store.bindings()).map((one) => one.key)).toEqual(['store'])
  await store.close()
})

test('one run at a time holds the state, and gives it back', async () => {
  const first = await openSqliteStore(path, { lock: true })
  await expect(openSqliteStore(path, { lock: true })).rejects.toMatchObject({ reason: 'held' })
  await first.close()
  const second = await openSqliteStore(path, { lock: true })
  await second.close()
})

test('a state of a newer version, a foreign database and a broken file are refused', async () => {
  const newer = new Database(path)
  newer.pragma('user_version = 99')
  newer.close()
  await expect(openSqliteStore(path, { lock: false })).rejects.toThrow('written by a newer pharos')

  const foreign = join(folder, 'foreign.db')
  const database = new Database(foreign)
  database.exec('CREATE TABLE theirs (a)')
  database.close()
  await expect(openSqliteStore(foreign, { lock: false })).rejects.toThrow('not one of pharos')

  const broken = join(folder, 'broken.db')
  writeFileSync(broken, 'this is no database, but it is long enough to be looked at as one'.repeat(50))
  await expect(openSqliteStore(broken, { lock: false })).rejects.toThrow('cannot be used')
})

test('the state and its key can be read by their owner only', async () => {
  const store = await openSqliteStore(path, { lock: false })
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
