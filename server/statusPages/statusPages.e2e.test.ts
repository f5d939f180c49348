import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { startAgentProcess } from '../testing/agentProcess.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startTarget } from '../testing/target.ts'

/** How often it is looked at what no event tells of (milliseconds). */
const LOOK_MS = 500
/** Internal texts of a service; the last one is what a member hides. */
const CANARIES = [
  ...[
    'name-canary-0c1d',
    'path-canary-1e2f',
    'query-canary-2a3b',
    'header-canary-3c4d',
    'sealed-canary-4e5f',
  ],
  ...['operand-canary-5a6b', 'endpoint-canary-6c7d', 'title-canary-7e8f'],
] as const

const target = await startTarget()
const dataDir = mkdtempSync(join(tmpdir(), 'pharos-status-'))
const flags = ['--monitor', 'on', '--allow-ranges', '127.0.0.0/8', '--status-port', '0', '--agent-port', '0']
const server = await startProcess(dataDir, flags)
afterAll(async () => {
  await server.stop()
  target.close()
  rmSync(dataDir, { recursive: true })
  rmSync(`${dataDir}.master-key`, { force: true })
})

async function admin(...args: string[]) {
  const { stdout, stderr } = await runHere([...args, '--data-dir', dataDir, '--json'])
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

/** The text below the page `shop` as soon as it has `part`. */
async function shownWith(path: string, part: string | RegExp): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${server.statusUrl()}/s/shop${path}`)).text()
    if (typeof part === 'string' ? text.includes(part) : part.test(text)) return text
    await sleep(LOOK_MS)
  }
}

test('C120 a page follows checks, automatic incidents, pause and delete, and names nothing internal', async () => {
  const [name, path, query, header, sealed, operand, endpoint, title] = CANARIES
  const { id: orgId } = await admin('org', 'create', '--name', 'Acme', '--plan', 'enterprise')
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', '1')
  await admin('org', 'auto-incidents', '--org', orgId, '--threshold', '2', '--window', '1')
  const api = apiClient(server.url, (await admin('key', 'create', '--org', orgId)).key)
  const headers = { [`X-${header}`]: { value: sealed, sensitive: true } }
  const call = { Http: { method: 'GET' as const, timeout: null, headers } }
  const assertions = [
    { StatusCode: { expected: { Eq: 200 } } },
    { Body: { matcher: { Contains: 'ok' } } },
    { Header: { name: operand, matcher: { Equals: operand } } },
  ]
  const url = target.url(`/${path}?q=${query}`)
  const endpoints = [endpointBody({ url, name: endpoint, call, assertions: assertions.slice(0, 2) })]
  const request = serviceBody({ name, interval_secs: 1, endpoints })
  // True because the responses are services.
  const service = (await api.post('/v1/services', request)).json as ServiceResponse
  await admin(
    ...['status-page', 'create', '--org', orgId, '--slug', 'shop', '--title', 'Shop', '--incidents', 'all'],
    ...['--service', `${service.id}=Checkout`],
  )
  const { json: incident } = await api.post('/v1/incidents', {
    ...{ title, message: title, severity: 'degraded_performance', service_ids: [service.id] },
  })
  // An open incident of a person would keep automation from opening one.
  await api.post(`/v1/incidents/${Object(incident).id}/updates`, { body: title, status: 'resolved' })
  const [page] = await admin('status-page', 'list', '--org', orgId)
  await admin('status-page', 'update', '--id', page.id, '--hide-incident', 'INC-1')

  const up = await shownWith('/status.json', '"state":"operational"')
  await api.patch(`/v1/services/${service.id}`, {
    ...request,
    endpoints: [{ ...request.endpoints[0], assertions }],
  })
  const down = await shownWith('/status.json', /"state":"down".*"display_id":"INC-2"/)
  const { id: componentId } = JSON.parse(down).sections[0].components[0]
  const paths = ['', '/history', '/incidents/INC-2', '/feed.atom', '/badge.svg', `/badge/${componentId}.svg`]
  const responses = await Promise.all(
    paths.map(async (one) => {
      const response = await fetch(`${server.statusUrl()}/s/shop${one}`)
      return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
    }),
  )
  await api.post(`/v1/services/${service.id}/pause`)
  const paused = await shownWith('/status.json', '"state":"paused"')
  await api.delete(`/v1/services/${service.id}`)
  const deleted = await shownWith('/status.json', '"sections":[]')

  expect(responses.map((text) => text.slice(0, 3))).toEqual(paths.map(() => '200'))
  expect(JSON.parse(down).incidents).toMatchObject([
    {
      title: 'Problems with Checkout',
      components: ['Checkout'],
      updates: [{ status: 'investigating', body: 'Automatic checks of Checkout fail.' }],
    },
  ])
  const ids = [service.id, orgId, ...service.endpoints.map(({ id }) => id)]
  const everything = [up, down, paused, deleted, ...responses].join('\n')
  expect([...CANARIES, ...ids, '127.0.0.1', 'Dublin'].filter((one) => everything.includes(one))).toEqual([])
})

test('components become Unknown when the only agent of their region is lost, even while no page is read', async () => {
  const { id: orgId } = await admin('org', 'create', '--name', 'Remote', '--plan', 'enterprise')
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', '1')
  const api = apiClient(server.url, (await admin('key', 'create', '--org', orgId)).key)
  const { token } = await admin('agent', 'create', '--region', 'us-east-1', '--name', 'one')
  const tokenFile = join(dataDir, 'token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const agentUrl = /^agents on (\S+)$/m.exec(server.stdout())?.[1] ?? ''
  const agent = startAgentProcess([
    ...['--server', agentUrl, '--token-file', tokenFile, '--allow-ranges', '127.0.0.0/8'],
    ...['--spool', join(dataDir, 'spool')],
  ])
  const call = { Http: { method: 'GET' as const, timeout: { secs: 1, nanos: 0 } } }
  const endpoints = [endpointBody({ url: target.url('/remote'), call })]
  const { json } = await api.post(
    '/v1/services',
    serviceBody({ regions: ['us-east-1'], interval_secs: 1, endpoints }),
  )
  const serviceId = String(Object(json).id)
  const page = ['--slug', 'remote', '--title', 'Remote', '--service', `${serviceId}=Search`]
  await admin('status-page', 'create', '--org', orgId, ...page)
  const shown = async () => (await fetch(`${server.statusUrl()}/s/remote/status.json`)).text()
  while (!(await shown()).includes('"state":"operational"')) await sleep(LOOK_MS)

  await agent.kill()
  const stateOf = async () => (await admin('states', '--org', orgId))[0].state
  while ((await stateOf()) !== 'unknown') await sleep(LOOK_MS)
  while (!(await shown()).includes('"state":"unknown"')) await sleep(LOOK_MS)
  const text = await (await fetch(`${server.statusUrl()}/s/remote`)).text()

  expect(text).toContain('Unknown')
})
