import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import type { Store } from '../../store.ts'
import { openStore } from '../openStore.ts'
import { type SqliteEngine, sqliteEngine } from '../sqliteEngine.ts'
import { restoreDatabase } from './restoreDatabase.ts'

let folder: string
let engine: SqliteEngine
let store: Store

beforeEach(async () => {
  folder = testFolder()
  engine = sqliteEngine(join(folder, 'live'), () => 0)
  store = await engine.open('administer')
  await store.createOrg({ id: 'org', name: 'Kept', plan: 'business', nowMs: 0 })
})

afterEach(() => store.close())

test('a backup is readable by its owner only, and leaves no other file', async () => {
  await mkdir(join(folder, 'backups'))

  await engine.backupTo(join(folder, 'backups/one.db'))

  expect((await stat(join(folder, 'backups/one.db'))).mode & 0o777).toBe(0o600)
  expect(await readdir(join(folder, 'backups'))).toEqual(['one.db'])
})

test('a backup completes during constant writes, and is a snapshot', async () => {
  // Some hundred pages: many steps of the copy.
  await store.createOrg({ id: 'large', name: 'x'.repeat(4_000_000), plan: 'business', nowMs: 0 })
  const backup = join(folder, 'one.db')
  let isDone = false
  const done = engine.backupTo(backup).finally(() => {
    isDone = true
  })

  let made = 0
  while (!isDone) {
    made += 1
    await store.createOrg({ id: `later${made}`, name: 'Later', plan: 'business', nowMs: 0 })
  }
  await done

  expect(made).toBeGreaterThan(1)
  await restoreDatabase(backup, join(folder, 'restored'))
  const restored = await openStore(join(folder, 'restored'), () => 0)
  const names = (await restored.listOrgs()).map(({ id }) => id)
  expect(names).toEqual(expect.arrayContaining(['org', 'large']))
  expect(names).not.toContain(`later${made}`)
  await restored.close()
})

test('a backup never replaces a file', async () => {
  const other = join(folder, 'other.db')
  await writeFile(other, 'precious')

  await expect(engine.backupTo(other)).rejects.toThrow('already exists: name a new file')
  await expect(engine.backupTo(join(folder, 'live/control.db'))).rejects.toThrow('already exists')

  expect(await readFile(other, 'utf8')).toBe('precious')
  expect((await readdir(folder)).sort()).toEqual(['live', 'other.db'])
})

test('a backup into a missing folder is refused, and the folder is not created', async () => {
  await expect(engine.backupTo(join(folder, 'nowhere/one.db'))).rejects.toThrow('there is no folder')

  expect(await readdir(folder)).toEqual(['live'])
})

test('a restore into a folder with the log of another database is refused', async () => {
  const backup = join(folder, 'one.db')
  await engine.backupTo(backup)
  await store.createOrg({ id: 'later', name: 'Later', plan: 'business', nowMs: 0 })
  const restored = join(folder, 'restored')
  await mkdir(restored)
  await copyFile(join(folder, 'live/control.db-wal'), join(restored, 'control.db-wal'))

  await expect(restoreDatabase(backup, restored)).rejects.toThrow(
    'is not empty: restore into an empty folder',
  )

  expect(await readdir(restored)).toEqual(['control.db-wal'])
})

test.each([
  ['/proc/backup.db', '/proc/backup.db cannot be written (ENOENT)'],
  [`/tmp/${'x'.repeat(300)}`, `/tmp/${'x'.repeat(300)} cannot be written (ENAMETOOLONG)`],
])('a backup that fails for %s names the requested file', async (file, words) => {
  await expect(engine.backupTo(file)).rejects.toThrow(words)
})

test('the name of a backup may have the maximum length of a file name', async () => {
  const file = join(folder, 'x'.repeat(255))

  await engine.backupTo(file)

  expect((await stat(file)).size).toBeGreaterThan(0)
})

test('restoring from the database of a folder in use is refused: the changes in its log would be missing', async () => {
  const from = join(folder, 'live/control.db')

  await expect(restoreDatabase(from, join(folder, 'restored'))).rejects.toThrow(
    'its newest changes are not in it',
  )
  expect(await readdir(folder)).toEqual(['live'])
})
