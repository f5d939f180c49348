import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { sampleService, sampleSet, sampleStatus } from '../dashboard/testing/sampleStatus.ts'
import { notificationMetrics } from '../notifications/notificationMetrics.ts'
import { openStore } from '../state/openStore.ts'
import { controllerScene, manifestFiles } from '../testing/controllerScene.ts'
import { startFaultProxy } from '../testing/faultProxy.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import type { TestController } from '../testing/testController.ts'
import { metricsOf } from './metrics.ts'
import { unverifiableSecrets } from './view/unverifiableSecrets.ts'

const { controllerOf, server } = controllerScene(startServer)

const MANY = 200

async function scraped(one: TestController): Promise<string> {
  return (await fetch(`${one.controller.url}/metrics`)).text()
}

function seriesIn(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.split(' ')[0] ?? '']))
}

test('the page on operating names every metric with its labels, and no other', () => {
  const registry = new Registry()
  notificationMetrics(registry, () => new Map())
  const { registry: ours } = metricsOf(() => sampleStatus([]), Date.now)
  const known = [...ours.getMetricsAsArray(), ...registry.getMetricsAsArray()].map((metric) => {
    const labels = 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : []
    return labels.length === 0 ? metric.name : `${metric.name}{${labels.join(',')}}`
  })
  const page = readFileSync('docs/operations.md', 'utf8')
  const documented = [...page.matchAll(/^\| `(pharos_[a-z_]+(?:\{[a-z,]+\})?)` \|/gm)].map(([, name]) => name)

  expect([...documented].sort()).toEqual([...known].sort())
})

test('Scenario 53: two hundred services of a real repository have no more metric series than ten', async () => {
  const waiting = async (count: number): Promise<string> => {
    const one = await controllerOf()
    const keys = Array.from({ length: count }, (_, index) => `s${index}`)
    const files = Array.from({ length: 10 }, (_, part) => [
      `monitoring/part-${part}.yaml`,
      keys
        .filter((_key, index) => index % 10 === part)
        .map((key) => manifestOf(key))
        .join('---\n'),
    ])
    one.repository.commit(Object.fromEntries(files))
    // Held back: what is looked at is how many there are, and not how they are made.
    const state = await openStore(join(one.folder, 'shop.db'), {})
    await state.suspend({ scope: '*', reason: 'not yet', actor: 'ada', since: '', until: null })
    await state.close()
    one.start()
    await one.nextCycle()
    await one.nextCycle()
    expect(one.shop().counts.Suspended).toBe(count)
    return scraped(one)
  }
  const [few, many] = [await waiting(10), await waiting(MANY)]

  // The commits differ.
  const named = (text: string) => seriesIn(text).map((name) => name.replace(/sha="\w+"/, 'sha'))
  expect(named(many)).toEqual(named(few))
  expect(many).toContain(`pharos_blocked{set="shop",reason="suspended"} ${MANY}`)
})

test('Scenario 53: services in every state and routes with service ids add no metric series', async () => {
  const series = async (count: number): Promise<readonly string[]> => {
    const states = ['Synced', 'Drifted', 'Pending', 'Blocked', 'Failed', 'Removing', 'Suspended'] as const
    const services = Array.from({ length: count }, (_, index) =>
      sampleService(`s${index}`, { state: states[index % states.length] ?? 'Synced', reason: 'failed' }),
    )
    const metrics = metricsOf(
      () => sampleStatus([sampleSet('shop', { services })]),
      () => 0,
    )
    for (const { serviceId } of services) {
      const path = `/v1/services/${serviceId}/pause`
      metrics.onAttempt('shop', { method: 'POST', path, status: 200, durationMs: 1 })
    }
    return seriesIn(await metrics.registry.metrics())
  }

  expect(await series(MANY)).toEqual(await series(14))
})

test('metrics show the duration of fetches, the remaining allowance of the key, and the delay by 429', async () => {
  const proxy = await startFaultProxy(server().url)
  const one = await controllerOf({ url: proxy.url, env: { PROBE_TOKEN: 'a-token' } })
  const secret = '      headers: {Authorization: {env: PROBE_TOKEN}}\n'
  one.repository.commit({
    'monitoring/a.yaml': `${manifestOf('a').trimEnd()}\n${secret}`,
    ...manifestFiles('b'),
  })
  let refusals = 1
  proxy.refusesWith = () => {
    refusals -= 1
    return refusals < 0 ? undefined : { status: 429, error: 'rate_limited', retryAfterSecs: 3 }
  }
  one.start()
  await one.nextCycle()
  const text = await scraped(one)
  const figure = (series: string): number => Number(text.split(`${series} `)[1]?.split('\n')[0])

  expect(one.shop().headline).toBe('Ready')
  expect(figure('pharos_api_throttled_seconds_total{set="shop"}')).toBe(3)
  expect(figure('pharos_git_fetch_seconds_count{set="shop",result="ok"}')).toBe(1)
  expect(figure('pharos_unverifiable_secrets{set="shop"}')).toBe(0)
  const tokens = figure('pharos_api_tokens{set="shop"}')
  expect([tokens >= 0, tokens < 20]).toEqual([true, true])
  await proxy.close()
})

test('a set that never succeeded still has a last-success metric for alerts', async () => {
  const one = await controllerOf({ more: '    environment: nowhere\n' })
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const startedAt = Date.parse(one.controller.status().startedAt) / 1_000

  expect(one.shop().headline).not.toBe('Ready')
  expect(await scraped(one)).toContain(`pharos_last_success_timestamp_seconds{set="shop"} ${startedAt}\n`)
})

test('secrets whose value the API cannot verify are counted as unverifiable', () => {
  const withMarks = (...marks: readonly string[]): ServiceResponse[] => marks.map(serviceMarked)

  expect(unverifiableSecrets(withMarks('one', 'two', 'three'))).toBe(0)
  expect(unverifiableSecrets(withMarks('one', 'same', 'same', 'same'))).toBe(3)
})

function serviceMarked(mark: string): ServiceResponse {
  return {
    id: '018f4c1e-7b2a-7cc0-9c3e-000000000000',
    org_id: '018f4c1e-7b2a-7cc0-9c3e-000000000001',
    name: 'a',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        id: '018f4c1e-7b2a-7cc0-9c3e-000000000002',
        url: 'https://a.example.com/',
        name: null,
        call: {
          Http: {
            method: 'GET',
            timeout: null,
            headers: { Authorization: { Sealed: { key_id: mark } }, Accept: { Plain: 'text/html' } },
          },
        },
        assertions: [],
        blocked: false,
      },
    ],
    created_at: '2026-01-14T10:00:00Z',
    auto_incident_enabled: false,
  }
}
