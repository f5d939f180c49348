import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { openDatabase } from '../../store/sqlite/files/openDatabase.ts'
import { openStore } from '../../store/sqlite/openStore.ts'
import { type ApiResponse, apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { type ServerProcess, startProcess } from '../serverProcess.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { useUpSpace } from './useUpSpace.ts'

/** Space that is freed after the disk was full, which is more than the server reserves (bytes). */
const BALLAST_BYTES = 24 * 1_024 * 1_024
/** Number of creates after which a disk counts as too large for this test. */
const CREATES_MAX = 5_000
/** Number of requests that one key may send at once. */
const BURST = 20
/** Index of the first key for filling the disk again. Earlier ones are used up or revoked. */
const REFILL_KEYS_FROM = 50

/** The result of a run. */
export interface DiskReport {
  /** Number of creates that were acknowledged before the disk was full. */
  readonly acknowledged: number
}

/**
 * Fills the small disk at `folder` with services until creates fail. Throws when they fail with a status other than
 * 500, when reads stop, when a delete, a pause or the revocation of a key fails, when the server does not report the
 * full disk, when it does not start on it after a stop or kill, when it does not write again once there is space, or
 * when acknowledged data is missing afterwards.
 */
export async function fillDisk(folder: string): Promise<DiskReport> {
  const dataDir = join(folder, 'data')
  const ballast = join(folder, 'ballast')
  await writeFile(ballast, Buffer.alloc(BALLAST_BYTES))
  const orgId = await makeOrg(dataDir)
  const keys = await makeKeys(dataDir, orgId, CREATES_MAX / BURST + 1)
  const start = () => startProcess(dataDir, ['--admin-port', '0'])
  let server = await start()
  const acknowledged: string[] = []
  const used = keys.slice(-3)
  try {
    await createUntilFull(server, keys, acknowledged)
    await assertFreeing(server, { used, orgId, dataDir, acknowledged })
    for (const end of ['stop', 'kill'] as const) {
      await server[end]()
      server = await start()
      // A restart moves the log into the database, which may free enough space for further writes.
      await createUntilFull(server, keys.slice(REFILL_KEYS_FROM), acknowledged)
      await assertFreeing(server, { used, orgId, dataDir, acknowledged })
    }
    await useUpSpace(join(folder, 'rest'))
    await server.stop()
    server = await start()
    await assertReads(server, used[2] ?? '', acknowledged)
    await Promise.all([rm(ballast), rm(join(folder, 'rest'))])
    await expectReady(server, 200)
    const again = await apiClient(server.url, used[1] ?? '').post(
      '/v1/services',
      serviceBody({ name: 'After' }),
    )
    expectStatus(again, 201)
    acknowledged.push(again.text)
  } finally {
    await server.stop()
  }
  await assertStored(dataDir, orgId, acknowledged)
  return { acknowledged: acknowledged.length - 1 }
}

async function createUntilFull(
  server: ServerProcess,
  keys: readonly string[],
  acknowledged: string[],
): Promise<void> {
  const api = apiClient(server.url, '')
  const headers = Object.fromEntries(
    [1, 2, 3].map((index) => [`X-${index}`, { value: 'x'.repeat(8_000), sensitive: true }]),
  )
  const call = { Http: { method: 'GET' as const, timeout: null, headers } }
  const json = serviceBody({ endpoints: [endpointBody({ call })] })
  for (let sent = 0; sent < CREATES_MAX; sent += 1) {
    const response = await api.call('POST', '/v1/services', {
      json,
      key: keys[Math.floor(sent / BURST)] ?? '',
    })
    if (response.status !== 201) {
      expectStatus(response, 500)
      // Moving the log into the database may have freed enough space for further writes.
      if ((await readiness(server)) === 503) return
      continue
    }
    acknowledged.push(response.text)
  }
  throw new Error('the disk was never full: give a smaller one')
}

/** Operations on a full disk. */
interface FullDisk {
  /** Keys with their whole burst left, which must not be revoked. */
  readonly used: readonly string[]
  readonly orgId: string
  readonly dataDir: string
  /** Texts of acknowledged services: without deleted ones, and with the last response of paused ones. */
  readonly acknowledged: string[]
}

async function assertFreeing(
  server: ServerProcess,
  { used, orgId, dataDir, acknowledged }: FullDisk,
): Promise<void> {
  const api = apiClient(server.url, used[0] ?? '')
  const idOf = (text: string): string => serviceResponseSchema.parse(JSON.parse(text)).id
  const [first = '', second = ''] = acknowledged
  const read = await api.get(`/v1/services/${idOf(first)}`)
  expectStatus(read, 200)
  if (read.text !== first) throw new Error('a service reads otherwise on a full disk')
  expectStatus(await api.post('/v1/services', serviceBody()), 500)
  await expectReady(server, 503)
  expectStatus(await api.delete(`/v1/services/${idOf(first)}`), 204)
  const paused = await api.post(`/v1/services/${idOf(second)}/pause`)
  expectStatus(paused, 200)
  acknowledged.splice(0, 2)
  acknowledged.push(paused.text)
  const [spare] = await readSpareKeys(dataDir, orgId, used)
  const { code, stderr } = await runHere(['key', 'revoke', '--data-dir', dataDir, '--id', spare ?? ''])
  if (code !== 0) throw new Error(`a key could not be revoked: ${stderr}`)
}

async function assertReads(
  server: ServerProcess,
  key: string,
  acknowledged: readonly string[],
): Promise<void> {
  const text = acknowledged[0] ?? ''
  const { id } = serviceResponseSchema.parse(JSON.parse(text))
  const read = await apiClient(server.url, key).get(`/v1/services/${id}`)
  expectStatus(read, 200)
  if (read.text !== text) throw new Error('a service reads otherwise on a full disk')
  await expectReady(server, 503)
}

/** Ids of keys that are neither revoked nor still in use. */
async function readSpareKeys(
  dataDir: string,
  orgId: string,
  used: readonly string[],
): Promise<readonly string[]> {
  const { stdout } = await runHere(['key', 'list', '--data-dir', dataDir, '--org', orgId, '--json'])
  // True because the program prints this form.
  const keys = JSON.parse(stdout) as { id: string; last4: string; revokedAt: string | null }[]
  return keys
    .filter(({ last4, revokedAt }) => revokedAt === null && used.every((key) => !key.endsWith(last4)))
    .map(({ id }) => id)
}

function expectStatus({ status, text }: ApiResponse, expected: number): void {
  if (status !== expected) throw new Error(`a request got ${status} and not ${expected}: ${text}`)
}

async function readiness(server: ServerProcess): Promise<number> {
  return (await fetch(`${server.adminUrl()}/readyz`)).status
}

async function expectReady(server: ServerProcess, expected: number): Promise<void> {
  const status = await readiness(server)
  if (status !== expected) throw new Error(`/readyz is ${status} and not ${expected}`)
}

async function assertStored(dataDir: string, orgId: string, acknowledged: readonly string[]): Promise<void> {
  const { reader, writer } = await openDatabase(dataDir)
  const integrity = writer.pragma('integrity_check', { simple: true })
  reader.close()
  writer.close()
  if (integrity !== 'ok') throw new Error('the database is damaged')
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const stored = (await store.listServices(orgId)).map(({ text }) => text)
  await store.close()
  const isStored = new Set(stored)
  const lost = acknowledged.filter((text) => !isStored.has(text)).length
  if (lost !== 0 || stored.length !== acknowledged.length) {
    throw new Error(`${acknowledged.length} services were acknowledged and ${stored.length} are stored`)
  }
}
