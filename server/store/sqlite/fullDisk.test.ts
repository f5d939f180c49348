import { mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import type { FailingRound } from '../../domain/autoIncidentTexts.ts'
import { setAutoIncidents } from '../../domain/serviceChanges.ts'
import { storeOrg, storeService } from '../../testing/storedServices.ts'
import { RESERVE_FILE } from './files/diskSpace.ts'
import { openStore } from './openStore.ts'

test('an automatic incident that finds the disk full is opened when there is space', async () => {
  const folder = testFolder()
  const store = await openStore(folder, () => 60_000)
  await store.activateMasterKey('first', 0)
  const orgId = await storeOrg(store)
  // True because the text is that of a service.
  const { id, endpoints } = JSON.parse((await storeService(store, orgId)).text) as ServiceResponse
  await store.changeService(orgId, id, (service) =>
    setAutoIncidents(service, { threshold: 1, windowMinutes: 1 }),
  )
  const round: FailingRound = {
    ...{ endpoint_id: endpoints[0]?.id ?? '', round: 1, interval_s: 60, mark: 'one' },
    ...{ down_count: 1, endpoint_count: 1, regions: ['eu-west-1'], is_everywhere: true, explained: [] },
  }
  const failing = {
    ...{ sequence: 1, atS: 60, serviceId: id, kind: 'service.round' },
    body: JSON.stringify(round),
  } as const
  const reserve = join(folder, RESERVE_FILE)
  await store.assertDiskSpace()
  // In its place the reserve cannot be filled.
  rmSync(reserve)
  mkdirSync(reserve)
  await store.assertDiskSpace().catch(() => {})

  const onFullDisk: unknown = await store.applyTransition('file', 0, failing).catch((error: unknown) => error)
  rmdirSync(reserve)
  await store.assertDiskSpace()
  const later = await store.applyTransition('file', 0, failing).catch((error: unknown) => error)
  await store.close()

  expect(onFullDisk).toMatchObject({
    message: expect.stringContaining('the disk of the data folder is full'),
  })
  expect(later).toEqual({ kind: 'opened', incident: 'INC-1' })
})
