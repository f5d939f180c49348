import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BUS_READER, type Store } from '../store.ts'
import { openDatabase } from './files/openDatabase.ts'
import { openStore } from './openStore.ts'

const WEEK_MS = 7 * 24 * 60 * 60 * 1_000

let folder: string
let store: Store

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pharos-upkeep-'))
  store = await openStore(folder, () => 0)
})

afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

test('clean-up removes every published command older than a week, and requests are served in between', async () => {
  const { writer, reader } = await openDatabase(folder)
  const insert = writer.prepare(
    "INSERT INTO commands (type, region, service_id, generation, created_at_ms) VALUES ('EndServiceMonitoring', 'eu-west-1', ?, 1, ?)",
  )
  writer.transaction(() => {
    for (let made = 0; made < 4_500; made += 1) insert.run('old', 0)
    for (const name of ['recent', 'unpublished']) insert.run(name, name === 'recent' ? WEEK_MS : 0)
  })()
  expect(await store.moveCursor(BUS_READER, '', `${store.storeId}.4501`)).toBe(true)

  const done: string[] = []
  const tidying = store.tidy(WEEK_MS + 1).then(() => done.push('tidying'))
  await store.createOrg({ id: 'org', name: 'x', plan: 'business', nowMs: 0 }).then(() => done.push('create'))
  await tidying

  expect(done).toEqual(['create', 'tidying'])
  expect((await store.listCommands()).map(({ serviceId }) => serviceId)).toEqual(['recent', 'unpublished'])
  for (const database of [writer, reader]) database.close()
})
