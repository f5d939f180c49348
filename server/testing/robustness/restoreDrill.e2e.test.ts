import { copyFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { newestBackupAtMs } from '../../store/sqlite/files/backupFolder.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'

const WAIT = { timeout: 60_000, interval: 50 }
/** Number of keys that create services. Each may send 20 requests at once, and five a second. */
const KEYS = 8
/** Wait of a key whose requests are refused, until it may send another one (milliseconds). */
const REFILL_MS = 200
/** Number of copies to wait for under load. */
const COPIES = 3

test('a restore brings back everything that was acknowledged before the last copy', async () => {
  const folder = testFolder()
  const [dataDir, backups, again] = ['data', 'backups', 'again'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const orgId = await makeOrg(dataDir)
  const keys = await makeKeys(dataDir, orgId, KEYS)
  const flags = ['--monitor', 'off', '--admin-port', '0', '--backup-to', backups]
  const server = await startProcess(dataDir, [...flags, '--backup-every', '1s', '--backup-keep', '2'])
  const firstAtMs = await vi.waitFor(
    async () => (await newestBackupAtMs(backups, Date.now())) ?? Promise.reject(),
    WAIT,
  )

  const acknowledged = new Map<string, number>()
  let isLoaded = true
  const load = keys.map(async (key) => {
    const api = apiClient(server.url, key)
    while (isLoaded) {
      const response = await api.post('/v1/services', serviceBody()).catch(() => undefined)
      if (response?.status !== 201) await new Promise((resolve) => setTimeout(resolve, REFILL_MS))
      else acknowledged.set(serviceResponseSchema.parse(response.json).id, Date.now())
    }
  })
  const seen = new Set<number>()
  await vi.waitUntil(async () => {
    const newest = await newestBackupAtMs(backups, Date.now())
    if (newest !== undefined && newest > firstAtMs) seen.add(newest)
    return seen.size >= COPIES && acknowledged.size >= 100
  }, WAIT)
  const metrics = await fetch(`${server.adminUrl()}/metrics`).then((response) => response.text())
  // The machine is gone, with its disk.
  await server.kill()
  isLoaded = false
  await Promise.all(load)
  rmSync(dataDir, { recursive: true })

  const startedAtMs = performance.now()
  const files = readdirSync(backups)
    .filter((name) => name.endsWith('.db'))
    .sort()
  const newestFile = join(backups, files.at(-1) ?? '')
  const copiedAtMs = (await newestBackupAtMs(backups, Date.now())) ?? 0
  const restored = await runHere(['restore', '--data-dir', again, '--from', newestFile])
  copyFileSync(defaultKeyFile(dataDir), defaultKeyFile(again))
  const next = await startProcess(again, ['--monitor', 'off'])
  const list = await apiClient(next.url, keys[0] ?? '').get('/v1/services')
  const tookMs = performance.now() - startedAtMs
  await next.stop()

  const found = new Set(
    serviceResponseSchema
      .array()
      .parse(list.json)
      .map(({ id }) => id),
  )
  const lost = [...acknowledged].filter(([id]) => !found.has(id))
  const lostBefore = lost.filter(([, atMs]) => atMs < copiedAtMs)
  const lostMs = Math.max(0, ...acknowledged.values()) - copiedAtMs
  process.stdout.write(
    `restore drill: ${acknowledged.size} services acknowledged, ${(statSync(newestFile).size / 2 ** 20).toFixed(1)} MiB restored and served in ${tookMs.toFixed(0)} ms; ${lost.length} lost, those of the last ${lostMs} ms\n`,
  )
  expect(restored.code).toBe(0)
  expect(lostBefore).toEqual([])
  // The oldest is removed after the newest is whole, and the kill may have come between.
  expect([2, 3]).toContain(files.length)
  expect(metrics).toMatch(/^pharos_backup_age_seconds \d/m)
  expect(metrics).toMatch(/^pharos_backups_failed_total 0$/m)
})
