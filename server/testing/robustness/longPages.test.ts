import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { incidentPageSchema, incidentSchema } from '../../../api/contract/incident.ts'
import { apiClient } from '../apiClient.ts'
import { startServer } from '../startServer.ts'
import { seedIncidents } from './seedIncidents.ts'

const server = await startServer({ rateLimit: 'none' })
afterAll(() => server.close())
const api = apiClient(server.url, server.apiKey)
const INCIDENTS = 60
/** In total far more than is read at once, and more than the buffers of two sockets hold. */
seedIncidents(server.dataDir, { orgId: server.orgId, incidents: INCIDENTS, updates: 13, bodyChars: 19_900 })

const PATH = '/v1/incidents?section=active&limit=100'

/** Every incident read separately, newest first. */
async function readOneByOne(): Promise<readonly unknown[]> {
  const items: unknown[] = []
  for (let page = 1; page <= INCIDENTS; page += 1) {
    const { json } = await api.get(`/v1/incidents?section=active&limit=1&page=${page}`)
    items.push(...incidentPageSchema.parse(json).items)
  }
  return items
}

test('a page that is streamed because of its length has the same incidents as single reads', async () => {
  const items = await readOneByOne()

  const { json, headers } = await api.get(PATH)
  const head = await api.call('HEAD', PATH)

  expect(json).toEqual({ items, page: 1, limit: 100, total: items.length, total_pages: 1 })
  expect(headers['transfer-encoding']).toBe('chunked')
  expect([head.status, head.text]).toEqual([200, ''])
})

test('a long page is a snapshot, whatever changes while it is read', async () => {
  const before = (await api.get(PATH)).text
  const [oldest] = (await readOneByOne()).slice(-1)

  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  // Without chunks, so that the bytes are exactly the response.
  socket.write(`GET ${PATH} HTTP/1.0\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`)
  await once(socket, 'readable')
  const { status } = await api.post(`/v1/incidents/${incidentSchema.parse(oldest).id}/updates`, {
    body: 'Fixed',
    status: 'resolved',
  })
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close')
  const [, body] = Buffer.concat(chunks).toString().split('\r\n\r\n')

  expect(status).toBe(200)
  expect(body === before).toBe(true)
  expect((await api.get(PATH)).json).toMatchObject({ total: INCIDENTS - 1 })
})
