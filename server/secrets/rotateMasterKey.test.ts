import { expect, test } from 'vitest'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { apiClient } from '../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startServer } from '../testing/startServer.ts'
import { defaultKeyFile } from './keyring.ts'
import { rotateMasterKey } from './rotateMasterKey.ts'

test('a rotation allows the server to write between its transactions, and leaves nothing under the old key', async () => {
  const server = await startServer({ rateLimit: 'none' })
  const api = apiClient(server.url, server.apiKey)
  const names = Array.from({ length: 50 }, (_, index) => `X-Token-${index}`)
  const headers = Object.fromEntries(names.map((name) => [name, { value: 'hush', sensitive: true }]))
  const endpoint = endpointBody({ call: { Http: { method: 'GET', timeout: null, headers } } })
  const body = serviceBody({ endpoints: Array(10).fill(endpoint) })
  const { json } = await api.post('/v1/services', body)

  const statuses: number[] = []
  const { engine, store, dataDir } = server
  const rotation = await rotateMasterKey({
    store,
    engine,
    source: { kind: 'file', file: defaultKeyFile(dataDir) },
    dataDir,
    environment: systemEnvironment,
    yieldTurn: async () => {
      statuses.push((await api.post('/v1/services', serviceBody())).status)
    },
  })

  expect(rotation.rewrapped).toBe(500)
  expect(statuses).toEqual([201, 201, 201])
  const id = typeof json === 'object' && json !== null && 'id' in json ? String(json.id) : ''
  const keys = (await store.sealedValues(id)).map(({ masterKeyId }) => masterKeyId)
  expect(keys).toEqual(Array(500).fill(rotation.activeId))
  await server.close()
})
