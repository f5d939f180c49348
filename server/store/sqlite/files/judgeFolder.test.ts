import { chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import { sqliteEngine } from '../sqliteEngine.ts'
import { type FolderFacts, judgeFolder } from './judgeFolder.ts'
import { databaseFile } from './openDatabase.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const GOOD: FolderFacts = {
  ...{ dataDir: 'data', journalMode: 'wal', synchronous: 2, integrity: 'ok', fileSystem: 0xef53 },
  ...{ modes: [0o700, 0o600], freeBytes: 2 ** 40, ageMs: 30 * DAY_MS, backupAgeMs: DAY_MS },
}

test.each<[Partial<FolderFacts>, string, RegExp | undefined]>([
  [{}, 'ok', undefined],
  [{ ageMs: DAY_MS, backupAgeMs: undefined }, 'ok', undefined],
  [{ journalMode: 'delete' }, 'refused', /journal_mode is delete/],
  [{ synchronous: 1 }, 'refused', /synchronous is 1/],
  [{ integrity: 'row 7 missing' }, 'refused', /damaged \(row 7 missing\)/],
  [{ fileSystem: 0x6969 }, 'broken', /is on NFS/],
  [{ freeBytes: 10 * 2 ** 20 }, 'broken', /only 10 MiB are free/],
  [{ freeBytes: 500 * 2 ** 20 }, 'warning', /only 500 MiB are free/],
  [{ backupAgeMs: undefined }, 'warning', /30\.0 days old and has no backup/],
  [{ backupAgeMs: 8 * DAY_MS }, 'warning', /the last backup is 8\.0 days old/],
  [{ modes: [0o700, 0o640] }, 'warning', /chmod -R go-rwx data/],
])('a data folder with %j is %s', (facts, health, problem) => {
  const found = judgeFolder({ ...GOOD, ...facts }).filter((finding) => finding.health !== 'ok')

  expect(found.map((finding) => finding.health)).toEqual(health === 'ok' ? [] : [health])
  if (problem !== undefined) expect(found[0]?.text).toMatch(problem)
})

test('a real data folder is durable and intact, and read access for others is detected', async () => {
  const dataDir = testFolder()
  const engine = sqliteEngine(dataDir, Date.now)
  await (await engine.open('administer')).close()
  const healthOf = async (check: string) =>
    (await engine.examine('whole')).find((finding) => finding.check === check)?.health
  const before = await Promise.all(['durability', 'integrity', 'permissions', 'backup'].map(healthOf))
  chmodSync(databaseFile(dataDir), 0o644)
  const after = await healthOf('permissions')

  expect(before).toEqual(['ok', 'ok', 'ok', 'ok'])
  expect(after).toBe('warning')
})
