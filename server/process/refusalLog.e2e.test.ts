import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { MIGRATIONS } from '../store/sqlite/files/migrations.ts'
import { apiClient } from '../testing/apiClient.ts'
import { UNKNOWN_ID } from '../testing/routes.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { startProcess } from '../testing/serverProcess.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { type StartServerOptions, startServer, type TestServer } from '../testing/startServer.ts'

afterEach(() => vi.useRealTimers())

/** A started server that logs refusals only when it is closed, however long the requests of a test take. */
function startWithoutTimer(options: StartServerOptions): Promise<TestServer> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  return startServer(options)
}

/** The lines of a log, without their time. */
function linesOf(logged: string): readonly Record<string, unknown>[] {
  return logged
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { time: _time, ...rest } = JSON.parse(line)
      return rest
    })
}

test('401, 403, 404 and 429 are logged with their count, in one line for each key or address, without secrets', async () => {
  const server = await startWithoutTimer({ monotonicMs: () => 0 })
  const wrong = `pharos_${'e'.repeat(64)}`
  const readOnly = await server.readOnlyKey()
  const api = apiClient(server.url, server.apiKey)
  for (let asked = 0; asked < 30; asked += 1) {
    await api.get('/v1/org', { key: wrong })
    await api.get(`/v1/services/${UNKNOWN_ID}?token=hush`)
  }
  await api.post('/v1/services', serviceBody(), { key: readOnly })
  await server.close()

  const refused = linesOf(server.logged()).filter(({ msg }) => msg === 'refused')
  const own = { level: 30, key: server.apiKey.slice(-4), orgId: server.orgId, method: 'GET', msg: 'refused' }
  expect(refused).toEqual([
    {
      level: 30,
      status: 401,
      address: '127.0.0.1',
      method: 'GET',
      route: '/v1/org',
      count: 30,
      msg: 'refused',
    },
    { ...own, status: 404, route: '/v1/services/:id', count: 20 },
    { ...own, status: 429, route: '/v1/services/:id', count: 10 },
    { ...own, status: 403, method: 'POST', key: readOnly.slice(-4), route: '/v1/services', count: 1 },
  ])
  for (const secret of [wrong, server.apiKey, readOnly, 'hush', UNKNOWN_ID]) {
    expect(server.logged()).not.toContain(secret)
  }
})

test('however many keys are refused, the log has at most a hundred lines at a time, and one for the rest', async () => {
  const server = await startWithoutTimer({ rateLimit: 'none' })
  for (let made = 0; made < 105; made += 1) {
    await apiClient(server.url, await server.createKey()).get(`/v1/services/${UNKNOWN_ID}`)
  }
  await server.close()

  const refused = linesOf(server.logged()).filter(({ msg }) => msg === 'refused')
  expect(refused).toHaveLength(101)
  expect(refused.at(-1)).toMatchObject({ status: 404, address: 'others', count: 5 })
})

test('the log says how the server started and why it stopped', async () => {
  const folder = testFolder()
  const dataDir = join(folder, 'data')
  await makeKeys(dataDir, await makeOrg(dataDir), 1)
  const server = await startProcess(dataDir, ['--admin-port', '0', '--log-level', 'info'])

  await server.stop()

  expect(linesOf(server.stderr())).toEqual([
    {
      level: 30,
      version: packageJson.version,
      node: process.versions.node,
      dataDir,
      schema: MIGRATIONS.length,
      url: server.url,
      adminUrl: server.adminUrl(),
      agentUrl: null,
      statusUrl: null,
      consoleUrl: null,
      msg: 'started',
    },
    { level: 30, signal: 'SIGTERM', msg: 'stopping' },
    { level: 30, msg: 'stopped' },
  ])
})
