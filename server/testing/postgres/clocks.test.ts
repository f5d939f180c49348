import { expect, test } from 'vitest'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { type ApiResponse, apiClient } from '../apiClient.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer, type TestServer } from '../startServer.ts'

const HOUR_MS = 60 * 60 * 1_000

test('servers whose clocks differ by an hour keep the order of creations and updates', async () => {
  const dataDir = testFolder()
  const servers: TestServer[] = []
  for (const offsetMs of [0, HOUR_MS, -HOUR_MS]) {
    const environment = { nowMs: () => Date.now() + offsetMs }
    servers.push(await startServer({ engine: 'postgres', dataDir, environment, rateLimit: 'none' }))
  }
  const key = servers[0]?.apiKey ?? ''
  const at = (index: number) => apiClient(servers[index % servers.length]?.url ?? '', key)
  const names = Array.from({ length: 9 }, (_, index) => `Service ${index}`)
  const responses: ApiResponse[] = []
  for (const [index, name] of names.entries()) {
    responses.push(await at(index).post('/v1/services', serviceBody({ name })))
  }
  const { id: serviceId } = serviceResponseSchema.parse(responses[0]?.json)
  const opened = await at(1).post('/v1/incidents', {
    ...{ title: 'x', message: 'first', severity: 'major_outage', service_ids: [serviceId] },
  })
  const { id } = incidentSchema.parse(opened.json)
  const second = await at(2).post(`/v1/incidents/${id}/updates`, { body: 'second', status: 'monitoring' })
  const third = await at(0).post(`/v1/incidents/${id}/updates`, { body: 'third', status: 'resolved' })
  const listed = serviceResponseSchema.array().parse((await at(2).get('/v1/services')).json)
  const incident = incidentSchema.parse((await at(1).get(`/v1/incidents/${id}`)).json)
  for (const server of servers) await server.close()

  expect([...responses, opened, second, third].map(({ status }) => status)).toEqual([
    ...names.map(() => 201),
    ...[201, 200, 200],
  ])
  expect(listed.map(({ name }) => name)).toEqual(names)
  expect(incident.updates.map(({ body }) => body)).toEqual(['first', 'second', 'third'])
  const times = incident.updates.map(({ created_at }) => created_at)
  expect(times).toEqual(times.toSorted())
})
