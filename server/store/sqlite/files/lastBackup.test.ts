import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import { createService } from '../../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../../process/systemEnvironment.ts'
import { serviceBody } from '../../../testing/serviceBodies.ts'
import { BUS_READER } from '../../store.ts'
import { sqliteEngine } from '../sqliteEngine.ts'

let folder: string
beforeEach(async () => {
  folder = testFolder()
})

test('the stats of a store are those of its outbox, files and last backup', async () => {
  const engine = sqliteEngine(join(folder, 'data'), () => 7_000)
  const store = await engine.open('administer')
  await store.activateMasterKey('first', 0)
  await store.createOrg({ id: 'acme', name: 'Acme', plan: 'business', nowMs: 0 })
  const before = await store.stats()
  const unsealed = {
    ...systemEnvironment,
    nowMs: 7_000,
    isBlocked: () => false,
    seal: () => {
      throw new Error('the body has no secret')
    },
  }
  await store.createService('acme', undefined, ({ quota }) =>
    createService(serviceBody(), { ...unsealed, quota }),
  )

  await engine.backupTo(join(folder, 'copy.db'))
  const after = await store.stats()
  await store.moveCursor(BUS_READER, '', `${store.storeId}.0.1`)
  const published = await store.stats()
  await store.close()

  expect([before.unpublishedCommands, before.oldestUnpublishedAtMs, before.lastBackupAtMs]).toEqual([
    0,
    null,
    null,
  ])
  expect([after.unpublishedCommands, after.oldestUnpublishedAtMs]).toEqual([1, 7_000])
  expect(after.lastBackupAtMs).toBeGreaterThan(0)
  expect(after.databaseBytes + (after.logBytes ?? 0)).toBeGreaterThan(100_000)
  expect(after.diskFreeBytes).toBeGreaterThan(0)
  expect([published.unpublishedCommands, published.oldestUnpublishedAtMs]).toEqual([0, null])
})
