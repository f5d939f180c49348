import { expect, onTestFinished, test } from 'vitest'
import { MonitoredServices } from '../agents/monitoredServices.ts'
import { apiClient } from '../testing/apiClient.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startServer } from '../testing/startServer.ts'
import { probesPage } from './probesPage.ts'

const EVERYTHING = new URLSearchParams()

test('a results thread that does not respond fails one scrape, and no later scrapes', async () => {
  const server = await startServer({})
  onTestFinished(() => server.close())
  await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  await new MonitoredServices(server.store).readAll()
  const replies: (() => void)[] = []
  const latest = () => new Promise<readonly []>((resolve) => replies.push(() => resolve([])))
  const page = probesPage({ store: server.store, nowMs: Date.now, latest, pageMsMax: 200 })

  const late = [page(EVERYTHING), page(EVERYTHING)]
  const refusals = await Promise.allSettled(late)
  for (const reply of replies) reply()
  const next = page(EVERYTHING)
  while (replies.length < 2) await new Promise((resolve) => setImmediate(resolve))
  replies[1]?.()

  const error = expect.objectContaining({
    code: 'unavailable',
    message: 'the results thread did not respond in time: try again',
  })
  expect(refusals).toEqual(late.map(() => ({ status: 'rejected', reason: error })))
  expect(await next).toBe('')
  // The second page was never rendered, because its scrape had ended before its turn.
  expect(replies).toHaveLength(2)
})
