import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiClient } from '../../testing/apiClient.ts'
import { runHere } from '../../testing/commandHere.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { type ConsoleServer, startConsoleServer } from '../testing/startConsoleServer.ts'

let server: ConsoleServer

beforeAll(async () => {
  server = await startConsoleServer({ isMonitoring: true })
})
afterAll(() => server.close())

test('pages name a region without a connected agent, to those whose services it checks', async () => {
  const { store, dataDir, url, apiKey } = server
  const region = 'sa-east-1'
  const api = apiClient(url, apiKey)
  const { json: service } = await api.post('/v1/services', serviceBody({ regions: [region] }))
  const given = ['--region', region, '--name', 'lost', '--data-dir', dataDir, '--json']
  const { stdout } = await runHere(['agent', 'create', ...given])
  const tokenId: string = JSON.parse(stdout).id
  const user = await server.signIn('viewer')
  const other = await server.signIn('viewer', { orgId: await server.createOrg({ name: 'Elsewhere' }) })
  const notice = /No agent is connected in ([^:]*):/
  const named = async ({ client, root }: typeof user) =>
    notice.exec((await client.get(`${root}/incidents`)).text)?.[1]

  const before = [await named(user), await named(other)]
  const sighting = { agents: 1, version: '0.1.0', clockAheadMs: 0, spooled: 0, checksInFlight: 0 }
  await store.noteAgents([{ ...sighting, tokenId, seenAtMs: Date.now() }])
  const connected = await named(user)
  await store.noteAgents([{ ...sighting, tokenId, seenAtMs: Date.now() - 120_000 }])
  const away = await named(user)
  await api.post(`/v1/services/${Object(service).id}/pause`)
  const paused = await named(user)

  expect(before).toEqual([region, undefined])
  expect([connected, away, paused]).toEqual([undefined, region, undefined])
})
