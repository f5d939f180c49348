import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseFile } from '../store/sqlite/files/openDatabase.ts'
import { type ApiClient, apiClient } from '../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'

let server: TestServer
let api: ApiClient

beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  api = apiClient(server.url, server.apiKey)
})
afterAll(() => server.close())

test('a service goes through create, replace, pause, resume and delete, and the regions get their commands', async () => {
  const created = await api.post(
    '/v1/services',
    serviceBody({
      regions: ['eu-west-1', 'us-east-1'],
      endpoints: [
        endpointBody({
          call: {
            Http: {
              method: 'POST',
              timeout: { secs: 5, nanos: 0 },
              headers: { 'X-Token': { value: 'hush', sensitive: true } },
            },
          },
        }),
      ],
    }),
  )
  expect(created.status).toBe(201)
  const { id } = created.json as { id: string }
  expect(created.text).not.toContain('hush')
  expect((await api.get(`/v1/services/${id}`)).text).toBe(created.text)
  expect((await api.patch(`/v1/services/${id}`, serviceBody({ name: 'Cart' }))).status).toBe(200)
  expect((await api.post(`/v1/services/${id}/pause`)).status).toBe(200)
  expect((await api.post(`/v1/services/${id}/resume`)).status).toBe(200)
  expect((await api.delete(`/v1/services/${id}`)).status).toBe(204)
  expect((await api.get(`/v1/services/${id}`)).status).toBe(404)

  const commands = (await server.commands()).filter(({ service_id }) => service_id === id)

  expect(commands.map(({ type, region }) => `${type.replace('ServiceMonitoring', '')} ${region}`)).toEqual([
    'Start eu-west-1',
    'Start us-east-1',
    'End us-east-1',
    'Start eu-west-1',
    'End eu-west-1',
    'Start eu-west-1',
    'End eu-west-1',
  ])
})

test("a stopping server does not wait for another program's transaction: waiting mutations are rejected", async () => {
  const stopping = await startServer()
  const other = new Sqlite(databaseFile(stopping.dataDir))
  other.exec('BEGIN IMMEDIATE')
  // Before a mutation would fail by its time limit.
  const release = setTimeout(() => other.exec('COMMIT'), 2_000)

  const made = Promise.allSettled([stopping.createOrg()])
  await stopping.close()

  expect(await made).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'SQLITE_BUSY' }) },
  ])
  clearTimeout(release)
  other.close()
})
