import { rm } from 'node:fs/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { defaultKeyFile } from '../secrets/keyring.ts'
import { apiClient } from '../testing/apiClient.ts'
import { startServer } from '../testing/startServer.ts'
import { startKeyUses } from './keyUses.ts'

afterEach(() => vi.useRealTimers())

test('the use of a key needs no commit, and is recorded with its tool within a minute, once for many uses', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const server = await startServer({ rateLimit: 'none' })
  const uses = startKeyUses(server.store, () => {})
  const [key] = await server.store.listKeys(server.orgId)
  const before = server.store.changeCount()
  for (let index = 1; index <= 100; index += 1) uses.note(key?.id ?? '', `pharos/1.2.${index} (linux)`, index)
  const during = server.store.changeCount()
  vi.advanceTimersByTime(60_000)
  await vi.waitUntil(async () => (await server.store.listKeys(server.orgId))[0]?.usedAtMs !== null, 30_000)
  const [used] = await server.store.listKeys(server.orgId)
  await uses.stop()
  await server.close()

  expect([during, before]).toEqual([before, before])
  expect([key?.usedAtMs, used?.usedAtMs, used?.usedBy]).toEqual([null, 100, 'pharos/1.2.100'])
})

test('API requests are recorded as uses of their key, and a stopping server writes the pending ones', async () => {
  const dataDir = testFolder()
  const server = await startServer({ dataDir })
  const headers = { 'user-agent': 'terraform-provider-pharos/0.1.0 terraform/1.11' }
  await apiClient(server.url, server.apiKey).get('/v1/org', { headers })
  await server.close()
  const store = await server.engine.open('administer')
  const [key] = await store.listKeys(server.orgId)
  await store.close()
  await rm(defaultKeyFile(dataDir), { force: true })

  expect(key).toMatchObject({ usedBy: 'terraform-provider-pharos/0.1.0', usedAtMs: expect.any(Number) })
})
