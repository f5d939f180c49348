import { expect, onTestFinished, test } from 'vitest'
import { apiClient } from '../testing/apiClient.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startServer } from '../testing/startServer.ts'
import { feedPage } from './feed.ts'

const unused = (): never => {
  throw new Error('no service has a secret')
}

test('a region gets each changed service once, as it is now, and an end for those that no longer run there', async () => {
  const server = await startServer({ plan: 'enterprise', rateLimit: 'none' })
  onTestFinished(() => server.close())
  const { store } = server
  const api = apiClient(server.url, server.apiKey)
  const create = async (...regions: string[]): Promise<string> => {
    const { json } = await api.post('/v1/services', serviceBody({ regions }))
    // True because the response is a service.
    return (json as { id: string }).id
  }
  const page = async (region: string, cursor: string | null) =>
    feedPage(
      { store, storeId: store.storeId, findMasterKey: unused },
      { region, cursor, upTo: await store.newestCommand(), reachedUpTo: 0, wrapSecret: unused },
    )
  const before = (await page('eu-west-1', `${store.storeId}.${await store.newestCommand()}`)).cursor

  const moved = await create('eu-west-1')
  const paused = await create('eu-west-1', 'us-east-1')
  const gone = await create('eu-west-1')
  const kept = await create('eu-west-1')
  await api.patch(`/v1/services/${moved}`, serviceBody({ regions: ['us-east-1'] }))
  await api.post(`/v1/services/${paused}/pause`)
  await api.delete(`/v1/services/${gone}`)
  for (const interval_secs of [120, 180])
    await api.patch(`/v1/services/${kept}`, serviceBody({ regions: ['eu-west-1'], interval_secs }))

  const { json } = await api.get('/v1/services')
  // True because the response is a list of services.
  for (const { id, endpoints } of json as { id: string; endpoints: { id: string }[] }[])
    await store.numberEndpoints(endpoints.map((endpoint) => ({ id: endpoint.id, serviceId: id })))

  const [here, there] = [await page('eu-west-1', before), await page('us-east-1', before)]

  const started = (found: typeof here) =>
    found.start.map((one) => [one.service, one.generation, one.interval_s])
  const ended = (found: typeof here) => found.end.map(({ service }) => service).toSorted()
  expect(started(here)).toEqual([[kept, 3, 180]])
  expect(ended(here)).toEqual([moved, paused, gone].toSorted())
  expect(started(there)).toEqual([[moved, 2, 60]])
  expect(ended(there)).toEqual([paused])
  expect((await page('eu-west-1', here.cursor)).start).toEqual([])
  // The cursor of another store, such as a restored one, gets everything.
  expect(await page('us-east-1', `${crypto.randomUUID()}.1`)).toMatchObject({ whole: true })
})
