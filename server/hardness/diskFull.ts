import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceResponseSchema } from '../../api/contract/service.ts'
import { openDatabase } from '../store/openDatabase.ts'
import { openStore } from '../store/openStore.ts'
import { systemEnvironment } from '../systemEnvironment.ts'
import { type ApiAnswer, type ApiClient, apiClient } from '../testing/apiClient.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { type ServerProcess, startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'

/** What is taken away when the disk is full, to make room (bytes). */
const BALLAST_BYTES = 12 * 1_024 * 1_024
/** Creates after which a disk counts as too large for this. */
const CREATES_MAX = 5_000
/** Requests that one key may make at once. */
const BURST = 20

/** What happened on a disk, for whoever wants to print it. */
export interface DiskReport {
  /** Creates that were acknowledged before the disk was full. */
  readonly acknowledged: number
}

/**
 * Fills the small disk that `folder` is with services until a create fails. Throws when that is anything but
 * 500, when reads stop, when the server does not say that it cannot write, when it does not write again once
 * there is room, or when anything acknowledged is not there afterwards.
 */
export async function fillDisk(folder: string): Promise<DiskReport> {
  const dataDir = join(folder, 'data')
  const ballast = join(folder, 'ballast')
  await writeFile(ballast, Buffer.alloc(BALLAST_BYTES))
  const orgId = await makeOrg(dataDir)
  const keys = await makeKeys(dataDir, orgId, CREATES_MAX / BURST + 1)
  const server = await startProcess(dataDir, ['--admin-port', '0'])
  const acknowledged: string[] = []
  const api = apiClient(server.url, keys.at(-1) ?? '')
  try {
    await createUntilFull(api, keys, acknowledged)
    await assertReadsOnly(server, api, acknowledged)
    await rm(ballast)
    const again = await api.post('/v1/services', serviceBody({ name: 'After' }))
    expectStatus(again, 201)
    acknowledged.push(again.text)
    await expectReady(server, 200)
  } finally {
    await server.stop()
  }
  await assertStored(dataDir, orgId, acknowledged)
  return { acknowledged: acknowledged.length - 1 }
}

async function createUntilFull(api: ApiClient, keys: readonly string[], told: string[]): Promise<void> {
  const headers = Object.fromEntries(
    [1, 2, 3].map((index) => [`X-${index}`, { value: 'x'.repeat(8_000), sensitive: true }]),
  )
  const call = { Http: { method: 'GET' as const, timeout: null, headers } }
  const json = serviceBody({ endpoints: [endpointBody({ call })] })
  for (let sent = 0; sent < CREATES_MAX; sent += 1) {
    const answer = await api.call('POST', '/v1/services', { json, key: keys[Math.floor(sent / BURST)] ?? '' })
    if (answer.status !== 201) {
      expectStatus(answer, 500)
      return
    }
    told.push(answer.text)
  }
  throw new Error('the disk was never full: give a smaller one')
}

async function assertReadsOnly(
  server: ServerProcess,
  api: ApiClient,
  told: readonly string[],
): Promise<void> {
  const [first = ''] = told
  const { id } = serviceResponseSchema.parse(JSON.parse(first))
  const read = await api.get(`/v1/services/${id}`)
  expectStatus(read, 200)
  if (read.text !== first) throw new Error('a service reads otherwise on a full disk')
  await expectReady(server, 503)
}

function expectStatus({ status, text }: ApiAnswer, expected: number): void {
  if (status !== expected) throw new Error(`answered ${status} and not ${expected}: ${text}`)
}

async function expectReady(server: ServerProcess, expected: number): Promise<void> {
  const { status } = await fetch(`${server.adminUrl()}/readyz`)
  if (status !== expected) throw new Error(`/readyz is ${status} and not ${expected}`)
}

async function assertStored(dataDir: string, orgId: string, told: readonly string[]): Promise<void> {
  const { reader, writer } = await openDatabase(dataDir)
  const integrity = writer.pragma('integrity_check', { simple: true })
  reader.close()
  writer.close()
  if (integrity !== 'ok') throw new Error('the database is damaged')
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const stored = (await store.listServices(orgId)).map(({ text }) => text)
  await store.close()
  const lost = told.length - stored.filter((text, index) => text === told[index]).length
  if (lost !== 0 || stored.length !== told.length) {
    throw new Error(`${told.length} services were acknowledged and ${stored.length} are stored`)
  }
}
