import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { Registry } from 'prom-client'
import { beforeEach, expect, test, vi } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { newestBackupAtMs } from '../store/sqlite/files/backupFolder.ts'
import { MIGRATIONS, migrate } from '../store/sqlite/files/migrations.ts'
import { databaseFile } from '../store/sqlite/files/openDatabase.ts'
import { type SqliteEngine, sqliteEngine } from '../store/sqlite/sqliteEngine.ts'
import { startBackups } from './backups.ts'
import { createLog } from './requestLog.ts'

const HOUR_MS = 3_600_000
const WAIT = { timeout: 60_000, interval: 20 }

let folder: string
let backups: string
let nowMs: number
let engine: SqliteEngine
beforeEach(() => {
  folder = testFolder()
  backups = join(folder, 'backups')
  nowMs = Date.parse('2026-11-23T12:00:00.000Z')
  engine = sqliteEngine(join(folder, 'data'), () => nowMs)
})

const filesIn = (dir: string) =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.db'))
    .sort()
const named = (instant: string) => `pharos-${instant}.db`

test('old copies are removed only after a new one is complete', async () => {
  await (await engine.open('administer')).close()
  for (const hours of [0, 1, 2]) {
    nowMs += hours * HOUR_MS
    await engine.backupInto(backups, 2)
  }
  const kept = filesIn(backups)
  writeFileSync(join(backups, 'mine.db'), '')
  // The next one cannot be written: something has its name.
  nowMs += HOUR_MS
  writeFileSync(join(backups, named('2026-11-23T16-00-00-000Z')), '')
  const failure = engine.backupInto(backups, 1)

  expect(kept).toEqual([named('2026-11-23T13-00-00-000Z'), named('2026-11-23T15-00-00-000Z')])
  await expect(failure).rejects.toThrow('already exists')
  expect(filesIn(backups)).toEqual(['mine.db', ...kept, named('2026-11-23T16-00-00-000Z')].sort())
  expect(readdirSync(backups).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('copies of a clock that was ahead are removed before those of the right time', async () => {
  await (await engine.open('administer')).close()
  for (const hours of [0, 24, -23]) {
    nowMs += hours * HOUR_MS
    await engine.backupInto(backups, 2)
  }

  expect(filesIn(backups)).toEqual([named('2026-11-23T12-00-00-000Z'), named('2026-11-23T13-00-00-000Z')])
})

test('a copy first removes what killed programs left of theirs, and nothing of a program that may still run', async () => {
  await (await engine.open('administer')).close()
  const part = (digit: string) => `pharos-backup-${digit.repeat(8)}-0000-4000-8000-000000000000.part`
  mkdirSync(backups)
  for (const [name, minutes] of [
    [part('1'), 11],
    [`${part('1')}-journal`, 11],
    [part('2'), 9],
    ['mine.part', 11],
  ] as const) {
    writeFileSync(join(backups, name), '')
    const writtenS = nowMs / 1_000 - minutes * 60
    utimesSync(join(backups, name), writtenS, writtenS)
  }
  // No copy can be made: something has its name.
  writeFileSync(join(backups, named('2026-11-23T12-00-00-000Z')), '')

  await expect(engine.backupInto(backups, 1)).rejects.toThrow('already exists')

  expect(readdirSync(backups).sort()).toEqual(
    ['mine.part', named('2026-11-23T12-00-00-000Z'), part('2')].sort(),
  )
})

test('a copy is made when it is due, across a restart and a clock that is set back, and a failure is logged and counted', async () => {
  await (await engine.open('administer')).close()
  let lines = ''
  let begun = 0
  let made = 0
  const write = (line: string): void => {
    lines += line
  }
  const log = createLog({ write }, 'info')
  const start = (to: string, registry = new Registry()) =>
    startBackups(
      {
        everyMs: HOUR_MS,
        newestAtMs: (atMs) => newestBackupAtMs(to, atMs),
        backup: async (signal) => {
          begun += 1
          const file = await engine.backupInto(to, 7, signal)
          made += 1
          return file
        },
      },
      { log, nowMs: () => nowMs, registry },
    )

  const stop = start(backups)
  await vi.waitUntil(() => made === 1, WAIT)
  await stop()
  nowMs += HOUR_MS / 2
  await start(backups)()
  const afterRestart = begun
  nowMs += HOUR_MS / 2
  const later = start(backups)
  await vi.waitUntil(() => made === 2, WAIT)
  await later()
  nowMs -= HOUR_MS / 2
  await start(backups)()
  const afterSetBack = begun
  nowMs += HOUR_MS / 2
  // A file where the folder would be.
  const registry = new Registry()
  writeFileSync(join(folder, 'taken'), '')
  const failing = start(join(folder, 'taken'), registry)
  await vi.waitUntil(() => lines.includes('the database could not be backed up'), WAIT)
  await failing()

  expect([afterRestart, afterSetBack]).toEqual([1, 2])
  expect(filesIn(backups)).toEqual([named('2026-11-23T12-00-00-000Z'), named('2026-11-23T13-00-00-000Z')])
  expect(await registry.metrics()).toMatch(/^pharos_backups_failed_total [1-9]/m)
})

test('the database is copied before its schema changes, and not otherwise', async () => {
  const dataDir = join(folder, 'old')
  const old = sqliteEngine(dataDir, () => nowMs)
  await (await old.open('administer')).close()
  const before = filesIn(dataDir)
  rmSync(databaseFile(dataDir))
  const database = new Sqlite(databaseFile(dataDir))
  migrate(database, MIGRATIONS.slice(0, 2))
  database.exec("INSERT INTO orgs (id, name, plan, created_at) VALUES ('o', 'Acme', 'business', '2026')")
  database.close()

  await (await old.open('administer')).close()
  const copy = `pharos-2026-11-23T12-00-00-000Z-schema-2.db`
  const restored = sqliteEngine(join(folder, 'restored'), () => nowMs)
  await restored.restoreFrom(join(dataDir, copy))
  const version = await restored.schemaNow()
  const store = await restored.open('administer')
  const orgs = await store.listOrgs()
  await store.close()

  expect([before, filesIn(dataDir)]).toEqual([['control.db'], ['control.db', copy]])
  expect(version).toBe(2)
  expect(orgs).toMatchObject([{ name: 'Acme' }])
  expect(existsSync(join(dataDir, copy))).toBe(true)
})
