import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { restoreDatabase } from '../../store/sqlite/files/restoreDatabase.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ engine: 'sqlite', rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

test('C173 the same change makes another tag in a restored copy, where an earlier tag is 412', async () => {
  const parent = testFolder()
  const [backup, dataDir] = [join(parent, 'backup.db'), join(parent, 'data')]
  const created = await api.post('/v1/services', serviceBody())
  const path = `/v1/services/${serviceResponseSchema.parse(created.json).id}`
  await server.backUp(backup)
  await restoreDatabase(backup, dataDir)
  await copyFile(defaultKeyFile(server.dataDir), defaultKeyFile(dataDir))
  const restored = await startServer({ engine: 'sqlite', dataDir })
  const copy = apiClient(restored.url, server.apiKey)

  const lost = await api.patch(path, serviceBody({ name: 'Lost' }))
  const kept = await copy.patch(path, serviceBody({ name: 'Kept' }))
  const headers = { 'if-match': String(lost.headers.etag) }
  const stale = await copy.patch(path, serviceBody(), { headers })
  await restored.close()

  expect([kept.status, stale.status]).toEqual([200, 412])
  expect(kept.headers.etag).not.toBe(lost.headers.etag)
})

test('G53 a restore is recorded in the restored database', async () => {
  const parent = testFolder()
  const [backup, restored] = [join(parent, 'backup.db'), join(parent, 'data')]
  await runHere(['backup', '--to', backup, '--data-dir', server.dataDir])
  await runHere(['restore', '--from', backup, '--data-dir', restored])

  const { stdout } = await runHere([
    ...['audit', 'list', '--org', server.orgId, '--data-dir', restored, '--json'],
  ])

  expect(JSON.parse(stdout)[0]).toMatchObject({ action: 'database.restore', actor_kind: 'cli' })
})
