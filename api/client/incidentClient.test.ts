import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../../server/testing/startServer.ts'
import type { IncidentRequest } from '../contract/incident.ts'
import { Client } from './client.ts'

test('incidents are opened, updated, read and listed with their filters', async () => {
  const server = await startServer({ rateLimit: 'none' })
  const client = new Client({ url: server.url, apiKey: server.apiKey, userAgent: 'test' })
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  const { incidents } = client
  const service = await client.createService(
    {
      name: 'checkout',
      interval_secs: 60,
      regions: ['eu-west-1'],
      endpoints: [
        { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
      ],
    },
    'service',
  )
  const request: IncidentRequest = {
    title: 'Slow',
    message: 'Looking into it',
    severity: 'partial_outage',
    service_ids: [service.id],
  }

  const opened = await incidents.create(request, 'incident')
  const same = await incidents.create(request, 'incident')
  const resolved = await incidents.update(opened.id, { body: 'Done', status: 'resolved' })
  const read = await incidents.get(opened.id)
  const active = await incidents.list({ section: 'active' })
  const found = await incidents.list({
    section: 'resolved',
    q: 'slow',
    severity: 'partial_outage',
    serviceIds: [service.id],
    page: 1,
    limit: 1,
  })

  expect(same.id).toBe(opened.id)
  expect(resolved.updates.map(({ body }) => body)).toEqual(['Looking into it', 'Done'])
  expect(read).toEqual(resolved)
  expect(active.items).toEqual([])
  expect(found).toEqual({ items: [resolved], totalPages: 1 })
  await expect(incidents.get(service.id)).rejects.toMatchObject({ code: 'not_found' })
})
