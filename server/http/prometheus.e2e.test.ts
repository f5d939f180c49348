import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { apiClient } from '../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'

// Debian's package `prometheus` has both.
const [PROMETHEUS, PROMTOOL] = ['/usr/bin/prometheus', '/usr/bin/promtool']
const skipReason =
  (existsSync(PROMETHEUS) && existsSync(PROMTOOL)) || process.env.CI === 'true'
    ? null
    : `no prometheus at ${PROMETHEUS}`

/** Interval of the queries while Prometheus has not scraped yet (milliseconds). */
const LOOK_MS = 250

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** A server that monitors one service whose target answers. */
async function startMonitored(): Promise<TestServer> {
  const target = createServer((_request, response) => response.end('ok'))
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  undo.push(() => void target.close())
  const server = await startServer({ isMonitoring: true, allowedRanges: ['127.0.0.0/8'], rateLimit: 'none' })
  undo.push(() => server.close())
  // True because the server listens on TCP.
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`
  const endpoints = [endpointBody({ url })]
  await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody({ endpoints }))
  return server
}

async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  // True because the socket listens on TCP.
  const { port } = socket.address() as AddressInfo
  await new Promise((resolve) => socket.close(resolve))
  return port
}

async function startPrometheus(adminUrl: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-prometheus-'))
  const job = (name: string, path: string) => ({
    ...{ job_name: name, metrics_path: path, honor_labels: true, scrape_interval: '1s' },
    static_configs: [{ targets: [new URL(adminUrl).host] }],
  })
  // JSON is YAML.
  const config = { scrape_configs: [job('blackbox', '/metrics/probes'), job('pharos', '/metrics')] }
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const address = `127.0.0.1:${await freePort()}`
  const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`]
  const child: ChildProcess = spawn(PROMETHEUS, [...args, `--web.listen-address=${address}`], {
    stdio: 'ignore',
  })
  undo.push(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true })
  })
  return `http://${address}`
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

/** The samples of `query`, as soon as there are any. */
async function samplesOf(prometheus: string, query: string): Promise<readonly Sample[]> {
  for (;;) {
    const answer = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query })}`).catch(
      () => undefined,
    )
    if (answer?.ok === true) {
      // True because this is what the HTTP API of Prometheus answers.
      const { data } = (await answer.json()) as { data: { result: Sample[] } }
      if (data.result.length > 0) return data.result
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Queries of blackbox_exporter dashboards, with `$target` and `$job` filled in. */
const QUERIES = [
  'probe_success{instance=~".*"}',
  'avg(probe_duration_seconds{instance=~".*"})',
  'probe_http_duration_seconds{instance=~".*"}',
  'sum by (phase) (probe_http_duration_seconds{job="blackbox"})',
  'probe_http_status_code{job="blackbox"}',
  'probe_http_ssl{instance=~".*"}',
  'avg(probe_dns_lookup_time_seconds{instance=~".*"})',
  'avg_over_time(probe_success{job="blackbox"}[1h])',
]

test.skipIf(skipReason !== null)(
  `a Prometheus scrapes the server, answers probe_success, and has nothing to say about either page${skipReason === null ? '' : ` (${skipReason})`}`,
  async () => {
    const server = await startMonitored()
    const prometheus = await startPrometheus(server.adminUrl ?? '')

    const [success] = await samplesOf(prometheus, 'probe_success')
    const answered = []
    for (const query of QUERIES) if ((await samplesOf(prometheus, query)).length > 0) answered.push(query)
    const [labels] = await samplesOf(prometheus, 'pharos_region_mode{region="eu-west-1"}')
    const checks = ['/metrics', '/metrics/probes'].map(async (path) => {
      const page = await (await fetch(`${server.adminUrl}${path}`)).text()
      const checking = promisify(execFile)(PROMTOOL, ['check', 'metrics'])
      checking.child.stdin?.end(page)
      return checking
    })

    expect(success?.value[1]).toBe('1')
    expect(success?.metric).toMatchObject({ org: server.orgId, region: 'eu-west-1', job: 'blackbox' })
    expect(success?.metric.instance).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(answered).toEqual(QUERIES)
    expect(labels?.metric.mode).toBe('embedded')
    expect(await Promise.all(checks)).toEqual(checks.map(() => ({ stdout: '', stderr: '' })))
  },
)
