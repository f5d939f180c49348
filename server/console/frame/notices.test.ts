import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { RESULTS_FILE } from '../../results/file/resultsSchema.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { runHere } from '../../testing/commandHere.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { startConsoleServer } from '../testing/startConsoleServer.ts'

const server = await startConsoleServer({ isMonitoring: true })
afterAll(() => server.close())

test('pages name a region without a connected agent, to organisations with services in it', async () => {
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
  const named = async ({ client, root }: typeof user) => {
    const { status, text } = await client.get(`${root}/incidents`)
    expect([status, text]).toEqual([200, expect.any(String)])
    return notice.exec(text)?.[1]
  }

  const before = [await named(user), await named(other)]
  const report = { agents: 1, version: '0.1.0', clockAheadMs: 0, spooled: 0, checksInFlight: 0 }
  await store.recordAgentReports([{ ...report, tokenId, seenAtMs: Date.now() }])
  const connected = await named(user)
  await store.recordAgentReports([{ ...report, tokenId, seenAtMs: Date.now() - 120_000 }])
  const away = await named(user)
  await api.post(`/v1/services/${Object(service).id}/pause`)
  const paused = await named(user)

  expect(before).toEqual([region, undefined])
  expect([connected, away, paused]).toEqual([undefined, region, undefined])
})

test('pages are rendered without results while they are unavailable, and say so', async () => {
  const dataDir = testFolder()
  // No results thread opens a folder.
  mkdirSync(join(dataDir, RESULTS_FILE))
  const broken = await startConsoleServer({ engine: 'sqlite', dataDir, isMonitoring: true })
  onTestFinished(async () => {
    await broken.close()
  })
  const { json: service } = await apiClient(broken.url, broken.apiKey).post('/v1/services', serviceBody())
  const { client, root, actions } = await broken.signIn('owner')
  const paths = ['services', `services/${Object(service).id}`, 'incidents', 'services?look=wall']
  const notice = 'Check results cannot be read at present'

  const pages = await Promise.all(paths.map((path) => client.get(`${root}/${path}`)))
  const paused = await client.post(`${actions}/services/${Object(service).id}/pause`, {})
  const after = await apiClient(broken.url, broken.apiKey).get(`/v1/services/${Object(service).id}`)

  expect(pages.map(({ status, text }) => [status, text.includes(notice)])).toEqual([
    [200, true],
    [200, true],
    [200, false],
    [200, true],
  ])
  expect(pages[0]?.text).toContain(Object(service).name)
  expect(paused.status).toBe(303)
  expect(Object(after.json).paused_at).toEqual(expect.any(String))
})
