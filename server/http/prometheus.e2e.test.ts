import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { testAuthority } from '../../monitoring/check/testing/certificates.ts'
import { apiClient } from '../testing/apiClient.ts'
import { PROMTOOL, skipReason, startPrometheus } from '../testing/prometheusProcess.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/**
 * A server that monitors a service with two endpoints. One of them uses TLS with a certificate that the server trusts.
 */
async function startMonitored() {
  const folder = temporaryFolder()
  const { authorities, valid } = testAuthority()
  const targets = [createHttpServer(respondOk), createHttpsServer(valid, respondOk)]
  const [http, https] = await Promise.all(targets.map(listening))
  const orgId = await makeOrg(folder)
  const [apiKey = ''] = await makeKeys(folder, orgId, 1)
  writeFileSync(join(folder, 'authorities.pem'), authorities)
  const server = await startProcess(folder, ['--admin-port', '0', '--allow-ranges', '127.0.0.0/8'], {
    environment: { PHAROS_MONITOR: 'on', NODE_EXTRA_CA_CERTS: join(folder, 'authorities.pem') },
  })
  undo.push(() => server.kill())
  const endpoints = [`http://127.0.0.1:${http}/`, `https://127.0.0.1:${https}/`].map((url) =>
    endpointBody({ url }),
  )
  await apiClient(server.url, apiKey).post('/v1/services', serviceBody({ endpoints }))
  return { orgId, adminUrl: server.adminUrl() ?? '' }
}

function respondOk(_request: IncomingMessage, response: ServerResponse): void {
  response.end('ok')
}

/** The port on which `server` listens until the end of the test. */
async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  undo.push(() => void server.close())
  // True because the server listens on TCP.
  return (server.address() as AddressInfo).port
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-prometheus-'))
  undo.push(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The scrape configuration in docs/monitoring.md, for the server at `adminUrl`. */
function documentedConfiguration(adminUrl: string): string {
  const page = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8')
  const block = /^```yaml\n(scrape_configs:\n.*?)^```$/ms.exec(page)?.[1] ?? ''
  return `global: { scrape_interval: 1s }\n${block.replaceAll('127.0.0.1:7172', new URL(adminUrl).host)}`
}

/** The metrics of /metrics that the pages about monitoring and agents name, those of the agent's own page left out. */
function documentedMetrics(): readonly string[] {
  const pages = ['monitoring', 'agents'].map((page) =>
    readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8'),
  )
  const names = [...pages.join('').matchAll(/`(pharos_[a-z_]*[a-z])[`{]/g)].map(([, name = '']) => name)
  const elsewhere =
    /^pharos_(endpoint_state|agent_connected|agent_results_refused_total|backups_failed_total)$/
  return [...new Set(names)].filter((name) => !elsewhere.test(name))
}

const BASIC = [
  'probe_success',
  'probe_duration_seconds',
  'probe_dns_lookup_time_seconds',
  'probe_ssl_earliest_cert_expiry',
] as const
const HTTP = [...BASIC, 'probe_http_status_code', 'probe_http_ssl'] as const
const ALL = [...HTTP, 'probe_http_duration_seconds', 'probe_http_version', 'probe_tls_version_info'] as const

/** Dashboards of grafana.com, the labels by which they select and group, and the metrics that they ask for. */
const DASHBOARDS: readonly (readonly [
  id: number,
  selector: string,
  by: string,
  metrics: readonly string[],
])[] = [
  [5345, 'target=~".+"', 'target', HTTP],
  [7587, 'instance=~".+"', 'phase', ALL.slice(0, -1)],
  [11175, 'instance=~".+"', 'instance', HTTP],
  [11529, '', 'instance', BASIC],
  [12653, 'instance=~".+"', 'phase', ALL],
  [13659, 'job=~".+", instance=~".+"', 'instance', ALL],
  [14928, 'instance=~".+"', 'instance', [...ALL, 'probe_ip_protocol']],
  [16124, 'job=~".+", instance=~".+"', 'phase', [...ALL, 'probe_http_redirects']],
  [16292, 'project=~".*", app=~".*"', 'instance', ALL],
]
const QUERIES = [
  ...new Set(
    DASHBOARDS.flatMap(([, selector, by, metrics]) => [
      ...metrics.map((name) => `${name}{${selector}}`),
      `sum by (${by}) (probe_http_duration_seconds{${selector}})`,
    ]),
  ),
]

test.skipIf(skipReason !== null)(
  `a Prometheus with the documented configuration returns results for the queries of blackbox_exporter dashboards, and accepts both pages${skipReason === null ? '' : ` (${skipReason})`}`,
  async () => {
    const { orgId, adminUrl } = await startMonitored()
    const prometheus = await startPrometheus(documentedConfiguration(adminUrl))
    undo.push(prometheus.stop)
    const { samplesOf } = prometheus

    const [success] = await samplesOf('probe_success{instance=~"http:.+"}')
    const filled = []
    for (const query of QUERIES) if ((await samplesOf(query)).length > 0) filled.push(query)
    const phases = await samplesOf('sum by (phase) (probe_http_duration_seconds)')
    const [tls] = await samplesOf('probe_tls_version_info')
    const [counted] = await samplesOf('pharos_checks_total{outcome="up"}')
    const [labels] = await samplesOf('pharos_region_mode{region="eu-west-1"}')
    const checks = ['/metrics', '/metrics/probes'].map(async (path) => {
      const page = await (await fetch(`${adminUrl}${path}`)).text()
      const checking = promisify(execFile)(PROMTOOL, ['check', 'metrics'])
      checking.child.stdin?.end(page)
      return checking
    })

    expect(success?.value[1]).toBe('1')
    expect(success?.metric).toMatchObject({ org: orgId, region: 'eu-west-1', job: 'blackbox' })
    expect(success?.metric.instance).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(success?.metric.target).toBe(success?.metric.instance)
    expect(filled).toEqual(QUERIES)
    expect(phases.map(({ metric }) => metric.phase).sort()).toEqual([
      'connect',
      'processing',
      'resolve',
      'tls',
      'transfer',
    ])
    expect(tls?.metric.version).toBe('TLS 1.3')
    expect(labels?.metric.mode).toBe('embedded')
    expect(counted?.metric.region).toBe('eu-west-1')
    const own = await (await fetch(`${adminUrl}/metrics`)).text()
    expect(documentedMetrics().filter((name) => !own.includes(`# TYPE ${name} `))).toEqual([])
    expect(await Promise.all(checks)).toEqual(checks.map(() => ({ stdout: '', stderr: '' })))
  },
)
