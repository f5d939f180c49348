import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import type { Store } from '../../store.ts'
import { openDatabase } from '../files/openDatabase.ts'
import { openStore } from '../openStore.ts'
import { GroupCommit } from './groupCommit.ts'

let folder: string
let store: Store

beforeEach(async () => {
  folder = testFolder()
  store = await openStore(folder, () => 0)
})

afterEach(() => store.close())

/** A small number of turns of the event loop: a turn takes many milliseconds during other work. */
const FEW_TURNS = 10

test('a commit waits for a few iterations of the event loop, even if each adds mutations', async () => {
  let made = 0
  const create = () => {
    made += 1
    return store.createOrg({ id: `org${made}`, name: 'Acme', plan: 'business', nowMs: 0 })
  }
  let isDurable = false
  const first = create().then(() => {
    isDurable = true
  })

  const others: Promise<void>[] = []
  while (!isDurable) {
    others.push(create())
    await setImmediate()
  }

  expect(others.length).toBeLessThan(FEW_TURNS)
  await Promise.all([first, ...others])
})

test("mutations wait in order for another program's transaction, and fail after a time limit", async () => {
  const { writer, reader } = await openDatabase(folder)
  const other = await openDatabase(folder)
  const hasty = new GroupCommit(writer, { busyMsMax: 100 })
  const patient = new GroupCommit(writer, { busyMsMax: 3_600_000 })
  const insert = writer.prepare(
    `INSERT INTO plans (name, has_api_access, services_max, endpoints_max, service_endpoints_max,
       interval_secs_min, regions_allowed) SELECT ?, 0, 0, 0, 0, 0, ?`,
  )
  const made = () => reader.prepare("SELECT name FROM plans WHERE regions_allowed = 'mine'").pluck().all()
  const make = (commits: GroupCommit, name: string) => commits.run(() => insert.run(name, 'mine'))

  other.writer.exec('BEGIN IMMEDIATE')
  const givenUp = await Promise.allSettled([make(hasty, 'a'), make(hasty, 'b')])
  const waiting = ['d', 'c'].map((name) => make(patient, name))
  await setImmediate()
  waiting.push(make(patient, 'e'))
  other.writer.exec('COMMIT')
  await Promise.all(waiting)

  expect(givenUp).toEqual(
    Array(2).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'SQLITE_BUSY' }) }),
  )
  expect(made()).toEqual(['d', 'c', 'e'])
  for (const database of [reader, writer, other.reader, other.writer]) database.close()
})

test('once waiting for other programs ends, waiting mutations are rejected at once', async () => {
  const { writer, reader } = await openDatabase(folder)
  const other = await openDatabase(folder)
  const commits = new GroupCommit(writer, { busyMsMax: 3_600_000 })
  const remove = () => commits.run(() => writer.exec('DELETE FROM heartbeat'))

  other.writer.exec('BEGIN IMMEDIATE')
  const waiting = remove()
  await setImmediate()
  commits.rejectWaiting()
  const late = remove()
  const givenUp = await Promise.allSettled([waiting, late])
  await commits.flush()
  other.writer.exec('COMMIT')

  expect(givenUp.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(remove()).resolves.toBeDefined()
  for (const database of [reader, writer, other.reader, other.writer]) database.close()
})

test('a store can be opened and read while another program writes', async () => {
  const other = await openDatabase(folder)
  other.writer.exec('BEGIN IMMEDIATE')

  const opened = await openStore(folder, () => 0)

  expect((await opened.listPlans()).length).toBe(4)
  other.writer.exec('COMMIT')
  await opened.close()
  for (const database of [other.reader, other.writer]) database.close()
})

test('mutations that take too long for one commit share several, in their order', async () => {
  const { writer, reader } = await openDatabase(folder)
  const commits = new GroupCommit(writer, { batchMsMax: 0 })
  const done: (number | string)[] = []
  commits.onCommit(() => done.push('commit'))

  await Promise.all([1, 2, 3].map((number) => commits.run(() => number).then(() => done.push(number))))

  expect(done).toEqual(['commit', 1, 'commit', 2, 'commit', 3])
  writer.close()
  reader.close()
})
