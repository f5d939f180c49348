import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testAuthority } from '../monitoring/check/testing/certificates.ts'
import { manifestFiles } from '../reconciler/testing/controllerScene.ts'
import { type TestController, testController } from '../reconciler/testing/testController.ts'
import { type AgentPrograms, agentPrograms, REGION } from '../server/agents/testing/agentPrograms.ts'
import { type PrometheusProcess, skipReason, startPrometheus } from '../server/testing/prometheusProcess.ts'
import { endpointBody } from '../server/testing/serviceBodies.ts'
import { DEPLOY, readDeployFile, valuesOf } from './testing/deployFiles.ts'
import { documentedLabels, labelsOnPage, readExpression } from './testing/expressions.ts'

/** Files of `folder` that end in `ending`, relative to DEPLOY. */
const filesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(DEPLOY, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))

/** All expressions in the file: of panels and variables, or of rules. */
function expressionsOf(file: string): readonly string[] {
  const text = readDeployFile(file)
  const content: unknown = file.endsWith('.json') ? JSON.parse(text) : load(text)
  const expressions = valuesOf(content, 'expr').map(String)
  // `label_values(metric, label)` of a variable reads the metric, and groups by the label.
  const variables = [...text.matchAll(/label_values\((.*?), (\w+)\)"/g)].map(
    ([, metric = '', label = '']) => `group by (${label}) (${metric.replaceAll('\\"', '"')})`,
  )
  return [...expressions, ...variables]
}

const FILES = [...filesIn('grafana', '.json'), ...filesIn('prometheus', '.yaml')]

/** Labels that Prometheus adds to scraped metrics. */
const ADDED_LABELS = ['job', 'instance']

let programs: AgentPrograms
let controller: TestController
let target: Server
let folder: string | undefined
let prometheus: PrometheusProcess
let pages: readonly string[]

beforeAll(async () => {
  if (skipReason !== null) return
  const { authorities, valid } = testAuthority()
  const made = mkdtempSync(join(tmpdir(), 'pharos-expressions-'))
  folder = made
  writeFileSync(join(made, 'authorities.pem'), authorities)
  target = createServer(valid, (_request, response) => void response.end('ok')).listen(0, '127.0.0.1')
  await once(target, 'listening')
  // True because the target listens on TCP.
  const { port } = target.address() as AddressInfo
  const under = ['/usr/bin/env', `NODE_EXTRA_CA_CERTS=${join(made, 'authorities.pem')}`]
  programs = await agentPrograms('127.0.0.0/8', { under })
  const server = await programs.startServer('--backup-to', made)
  const agent = programs.startAgent(['--metrics-port', '0'])
  await agent.wrote('metrics on')
  await programs.create({
    endpoints: [endpointBody({ url: `https://127.0.0.1:${port}/` })],
    regions: [REGION, 'us-east-1'],
  })
  const { key } = await programs.admin('key', 'create', '--org', programs.orgId)
  controller = await testController({ url: server.url, apiKey: key })
  controller.repository.commit(manifestFiles('checkout'))
  controller.start()
  await controller.nextCycle()
  const adminUrl = server.adminUrl() ?? ''
  const agentUrl = /^metrics on (\S+)$/m.exec(agent.output())?.[1] ?? ''
  const hosts = [adminUrl, controller.controller.url ?? ''].map((url) => new URL(url).host)
  prometheus = await startPrometheus(`global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${filesIn('prometheus', '.yaml')
    .map((file) => join(DEPLOY, file))
    .join(', ')}]
scrape_configs:
  - { job_name: pharos, static_configs: [{ targets: ["${hosts[0]}"] }] }
  - { job_name: blackbox, metrics_path: /metrics/probes, honor_labels: true, static_configs: [{ targets: ["${hosts[0]}"] }] }
  - { job_name: pharos-controller, static_configs: [{ targets: ["${hosts[1]}"] }] }
`)
  const { samplesOf } = prometheus
  await Promise.all([
    samplesOf('probe_success{region="us-east-1"}'),
    samplesOf(`pharos_agent_scheduler_lag_seconds{region="${REGION}"}`),
    samplesOf('pharos_results_ingest_seconds_count > 0'),
    samplesOf('pharos_runs_total'),
    samplesOf('probe_ssl_earliest_cert_expiry'),
    samplesOf('pharos_backup_age_seconds'),
  ])
  pages = await Promise.all(
    [
      `${adminUrl}/metrics`,
      `${adminUrl}/metrics/probes`,
      agentUrl,
      `${controller.controller.url}/metrics`,
    ].map(async (url) => (await fetch(url)).text()),
  )
})
afterAll(async () => {
  await prometheus?.stop()
  await controller?.close()
  await programs?.close()
  target?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true })
})

/** The faults of `expression`: metrics that no page has, and labels that its metrics do not have. */
function faultsOf(expression: string, shown: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const { selectors, groupedBy } = readExpression(expression)
  if (selectors.length === 0) return [`no metric: ${expression}`]
  const grouped = selectors.flatMap(({ metric }) => [...(shown.get(metric) ?? [])])
  return [
    ...selectors.flatMap(({ metric, labels }) => {
      if (metric === 'up') return []
      const known = shown.get(metric)
      if (known === undefined) return [`no page has ${metric}: ${expression}`]
      return labels
        .filter((label) => !known.has(label) && !ADDED_LABELS.includes(label))
        .map((label) => `${metric} has no label ${label}: ${expression}`)
    }),
    ...groupedBy
      .filter((label) => !grouped.includes(label) && !ADDED_LABELS.includes(label))
      .map((label) => `no metric has the label ${label}: ${expression}`),
  ]
}

/** Expression with the variables of Grafana filled in. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*')

const suffix = skipReason === null ? '' : ` (${skipReason})`

test.skipIf(skipReason !== null).each(FILES)(
  `every metric and label of %s is exported by a running server, agent or controller${suffix}`,
  (file) => {
    const documents = ['monitoring', 'agents', 'operations', 'notifications'].map((page) =>
      readFileSync(`docs/${page}.md`, 'utf8'),
    )
    const shown = new Map<string, Set<string>>()
    for (const page of pages)
      for (const [metric, labels] of labelsOnPage(page))
        shown.set(metric, new Set([...(shown.get(metric) ?? []), ...labels]))
    // A counter without samples shows no labels: those that the documents give it count.
    for (const [metric, labels] of documentedLabels(documents.join('\n')))
      if (shown.get(metric)?.size === 0) shown.set(metric, new Set(labels))

    const expressions = expressionsOf(file)

    expect(expressions.length).toBeGreaterThan(2)
    expect(expressions.flatMap((expression) => faultsOf(expression, shown))).toEqual([])
  },
)

/** Panels that are empty while all is well, or because a run of this test has nothing that they could show. */
const EMPTY = /deliveries_total|notifications_total|notifications_waiting|webhook_total|state!="up"/

test.skipIf(skipReason !== null).each(FILES)(
  `a real Prometheus evaluates every expression of %s, and panels have data${suffix}`,
  async (file) => {
    const results = []
    for (const expression of expressionsOf(file)) {
      const { status, error } = await prometheus.query(filledIn(expression))
      results.push([expression, status, error])
      if (file.endsWith('.json') && !EMPTY.test(expression)) await prometheus.samplesOf(filledIn(expression))
    }

    expect(results).toEqual(expressionsOf(file).map((expression) => [expression, 'success', undefined]))
  },
)
