import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { request } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { RESPONSE_BOUNDS } from '../../http/transport/responseBudget.ts'
import { apiClient } from '../apiClient.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'
import { seedIncidents } from './seedIncidents.ts'

/** Number of requests that a key may send at once. */
const BURST = 20
const HEAP_MIB = 192
/** Interval of polling for a condition (milliseconds). */
const LOOK_MS = 20

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** A server with a small heap, 100 incidents of 176 KiB at least, as many keys of their organisation, and one key of another. */
async function startSmall(keyCount: number, updates: number, bodyChars: number) {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-responses-'))
  undo.push(() => rm(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const orgId = await makeOrg(dataDir)
  const keys = await makeKeys(dataDir, orgId, keyCount)
  const [otherKey = ''] = await makeKeys(dataDir, await makeOrg(dataDir), 1)
  seedIncidents(dataDir, { orgId, incidents: 100, updates, bodyChars })
  const environment = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` }
  const server = await startProcess(dataDir, ['--admin-port', '0'], { environment })
  undo.push(server.kill)
  return {
    server,
    keys,
    other: apiClient(server.url, otherKey),
    /** Sends `count` requests on a connection whose responses are never read. */
    askAndNeverRead: (path: string, key: string, count: number): Socket => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause()
      socket.on('error', () => {})
      undo.push(() => {
        socket.destroy()
      })
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`.repeat(count))
      return socket
    },
    /** The value of a metric without labels. */
    metric: async (name: string): Promise<number> => {
      const { body } = await request(`${server.adminUrl()}/metrics`)
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await body.text())?.[1])
    },
  }
}

test.each([
  ['of large updates', 9, 19_900],
  ['of thousands of small updates', 1_300, 1],
])(
  'unread pages of the largest incidents, %s, stay within the memory limit, and other requests get a response',
  async (_what, updates, chars) => {
    const { server, keys, other, askAndNeverRead, metric } = await startSmall(1, updates, chars)
    const [key = ''] = keys

    const sockets = Array.from({ length: BURST }, () =>
      askAndNeverRead('/v1/incidents?section=active&limit=100', key, 1),
    )
    while ((await metric('pharos_answers_held_bytes')) < RESPONSE_BOUNDS.orgBytesMax)
      await setTimeout(LOOK_MS)
    const response = await other.get('/v1/org')
    const page = await other.get('/v1/incidents?section=active&limit=100')

    expect([response.status, page.status]).toEqual([200, 200])
    expect(await metric('pharos_answers_held_bytes_peak')).toBe(RESPONSE_BOUNDS.orgBytesMax)
    for (const socket of sockets) socket.destroy()
    while ((await metric('pharos_answers_held_bytes')) > 0) await setTimeout(LOOK_MS)
    expect(server.child.exitCode).toBeNull()
  },
)

test('unread responses with single incidents for forty keys stay within the memory limit', async () => {
  const { server, keys, other, askAndNeverRead, metric } = await startSmall(40, 13, 19_900)
  const { body } = await request(`${server.url}/v1/incidents?section=active&limit=1`, {
    headers: { authorization: `Bearer ${keys[39]}` },
  })
  const { items }: { items: { id: string }[] } = JSON.parse(await body.text())

  const sockets = keys.slice(0, 39).map((key) => askAndNeverRead(`/v1/incidents/${items[0]?.id}`, key, BURST))
  while ((await metric('pharos_answers_held_bytes')) < RESPONSE_BOUNDS.orgBytesMax - 512 * 1_024)
    await setTimeout(LOOK_MS)
  const response = await other.get('/v1/org')

  expect(response.status).toBe(200)
  expect(await metric('pharos_answers_held_bytes_peak')).toBeLessThanOrEqual(RESPONSE_BOUNDS.orgBytesMax)
  expect(server.child.exitCode).toBeNull()
  for (const socket of sockets) socket.destroy()
  while ((await metric('pharos_answers_held_bytes')) > 0) await setTimeout(LOOK_MS)
})
