import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { MonitoredServices } from '../agents/monitoredServices.ts'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { timestamp } from '../domain/environment.ts'
import { RESULTS_FILE } from '../results/file/resultsSchema.ts'
import { apiClient } from '../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'
import { renderProbes } from './probeMetrics.ts'

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function start(options: Parameters<typeof startServer>[0]): Promise<TestServer> {
  const server = await startServer({ rateLimit: 'none', ...options })
  undo.push(() => server.close())
  return server
}

async function create(server: TestServer, body = serviceBody()): Promise<ServiceResponse> {
  const { json, status } = await apiClient(server.url, server.apiKey).post('/v1/services', body)
  expect(status).toBe(201)
  // True because the response is a service.
  return json as ServiceResponse
}

/** Resolves with the page once it has `count` values of probe_success. */
async function probesOf(server: TestServer, count: number, query = ''): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${server.adminUrl}/metrics/probes${query}`)).text()
    if (text.split('\nprobe_success{').length > count) return text
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('the page has the last result of each series under the names of blackbox_exporter, and no secret of a URL', async () => {
  const target = createServer((_request, response) => response.writeHead(204).end())
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  undo.push(() => void target.close())
  // True because the server listens on TCP.
  const { port } = target.address() as AddressInfo
  const server = await start({ isMonitoring: true, allowedRanges: ['127.0.0.0/8'] })
  const url = `http://127.0.0.1:${port}/health`
  const up = await create(
    server,
    serviceBody({ name: 'A "quoted\\" name', endpoints: [endpointBody({ url: `${url}?token=canary` })] }),
  )
  const failing = { StatusCode: { expected: { Eq: 200 } } }
  await create(server, serviceBody({ endpoints: [endpointBody({ url, assertions: [failing] })] }))

  const text = await probesOf(server, 1, `?service=${up.id}`)
  const all = await probesOf(server, 2)
  const nowMs = Date.now()
  const hour = (from: number) => ({
    startsAt: timestamp(nowMs + from * 3_600_000),
    endsAt: timestamp(nowMs + (from + 1) * 3_600_000),
  })
  const window = { orgId: server.orgId, title: 'Move', serviceIds: [up.id] }
  const statesDuring = async (from: number) => {
    await server.store.createMaintenance({ ...window, id: randomUUID(), ...hour(from) }, OPERATOR, nowMs)
    const page = await probesOf(server, 1, `?service=${up.id}`)
    return [...page.matchAll(/state="(\w+)"\} 1$/gm)].map(([, state]) => state)
  }
  const beforeWindow = await statesDuring(1)
  const inWindow = await statesDuring(-0.5)

  const endpoint = up.endpoints[0]?.id ?? ''
  const own = `org="${server.orgId}",service="${up.id}",service_name="A \\"quoted\\\\\\" name",endpoint="${endpoint}",instance="${url}"`
  const values = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )
  const of = (name: string, more = '') => values.get(`${name}{${own},region="eu-west-1"${more}}`)
  expect(of('probe_success')).toBe(1)
  expect(of('probe_http_status_code')).toBe(204)
  expect(of('probe_http_ssl')).toBe(0)
  expect(of('probe_http_version')).toBe(1.1)
  expect(of('probe_http_redirects')).toBe(0)
  expect(of('probe_ip_protocol')).toBe(4)
  expect(of('probe_duration_seconds')).toBeGreaterThan(0)
  expect(of('probe_http_duration_seconds', ',phase="processing"')).toBeGreaterThan(0)
  expect(values.get(`pharos_endpoint_state{${own},state="up"}`)).toBe(1)
  expect(values.get(`pharos_endpoint_state{${own},state="down"}`)).toBe(0)
  expect([...all.matchAll(/^probe_success\{.*\} (\d)$/gm)].map(([, value]) => value).sort()).toEqual([
    '0',
    '1',
  ])
  expect(all).not.toContain('canary')
  expect([beforeWindow, inWindow]).toEqual([['up'], ['maintenance']])
})

test.each([
  ['?orgs=x', 'unknown parameter: this page takes org, region, service'],
  ['?org=a&org=b', 'org: must be given once'],
  ['?region=mars', 'region: is not a region'],
])('%s is 400: %s', async (query, error) => {
  const server = await start({ isMonitoring: true })

  const response = await fetch(`${server.adminUrl}/metrics/probes${query}`)

  expect([response.status, await response.json()]).toEqual([400, { error }])
})

test('an unknown organisation is 404, and one without services has an empty page', async () => {
  const server = await start({ isMonitoring: true })
  const { store } = server
  await store.createOrg({ id: 'empty', name: 'Empty', plan: 'free', nowMs: 0 })
  const { id } = await create(server)
  const page = async (query: string) => {
    const response = await fetch(`${server.adminUrl}/metrics/probes${query}`)
    return [response.status, await response.text()]
  }

  const pages = ['?org=gone', '?service=gone', `?org=empty&service=${id}`, '?org=empty'].map(page)

  const error = (text: string) => JSON.stringify({ error: text })
  expect(await Promise.all(pages)).toEqual([
    [404, error('there is no organisation gone: "pharos-server org list" shows them')],
    [404, error('there is no service gone')],
    [404, error(`service ${id} belongs to another organisation`)],
    [200, ''],
  ])
})

test('a page with more than 5,000 series is 400 until fewer are selected', async () => {
  const server = await start({ plan: 'enterprise' })
  const { store } = server
  const regions = ['eu-west-1', 'us-east-1']
  const endpoints = Array.from({ length: 100 }, (_, index) =>
    endpointBody({ url: `https://example.com/${index}` }),
  )
  for (let made = 0; made < 26; made += 1) await create(server, serviceBody({ regions, endpoints }))
  await new MonitoredServices(store).readAll()
  const asked: number[] = []
  const page = (query: string) =>
    renderProbes(new URLSearchParams(query), {
      store,
      nowMs: Date.now,
      latest: async (series) => {
        asked.push(series.length)
        return []
      },
    })

  await expect(page('')).rejects.toThrow('more than 5000 series: select fewer with org, region, service')
  await page('region=us-east-1')

  expect(asked).toEqual([500, 500, 500, 500, 500, 100])
})

test('a server stays ready while its results cannot be opened, and reports it in a metric', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'pharos-no-results-'))
  undo.push(() => rmSync(dataDir, { recursive: true }))
  mkdirSync(join(dataDir, RESULTS_FILE))
  const server = await start({ isMonitoring: true, dataDir })

  const [ready, probes, metrics] = await Promise.all(
    ['/readyz', '/metrics/probes', '/metrics'].map((path) => fetch(`${server.adminUrl}${path}`)),
  )

  expect(ready?.status).toBe(200)
  expect(await metrics?.text()).toMatch(/^pharos_results_up 0$/m)
  // Without a service there is nothing to ask the thread for.
  expect(probes?.status).toBe(200)
  await create(server)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect((await fetch(`${server.adminUrl}/metrics/probes`)).status).toBe(503)
})

test('a server that checks nothing has no page of results', async () => {
  const server = await start({ isMonitoring: false })

  expect((await fetch(`${server.adminUrl}/metrics/probes`)).status).toBe(404)
})
