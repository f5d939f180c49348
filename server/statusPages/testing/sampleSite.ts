import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IncidentStatus, Severity } from '../../../api/contract/incidentTerms.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { openIncident, updateIncident } from '../../domain/incidentChanges.ts'
import { createService, deleteService, pauseService } from '../../domain/serviceChanges.ts'
import type { State } from '../../domain/serviceState.ts'
import type { StatusPageChange } from '../../domain/statusPages/definition.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import type { Measurements, ServiceDay } from '../../results/measurements/measurements.ts'
import type { Store } from '../../store/store.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { postgresForTest, sqliteForTest, testEngineName } from '../../testing/testEngine.ts'
import { buildStatusListener } from '../statusListener.ts'

const DAY_S = 86_400
/** 22 November 2026, 05:00:30 UTC. */
export const SAMPLE_NOW_MS = Date.UTC(2026, 10, 22, 5, 0, 30)

const deps = {
  ...systemEnvironment,
  isBlocked: () => false,
  seal: () => {
    throw new Error('the body has no secret')
  },
}

/** Results of a service: its state, and problems by days before today. */
export interface SampleResults {
  readonly state: State
  /** Seconds down, degraded, paused and so on; the rest of a day is up. No results before `days` days ago. */
  readonly problems?: Readonly<Record<number, Partial<Omit<ServiceDay, 'serviceId' | 'day' | 'up'>>>>
  readonly days?: number
}

/** Status pages on a real store and a real listener, with measurements from the test. */
export interface SampleSite {
  readonly url: string
  readonly store: Store
  readonly orgId: string
  /** The clock of the store and the pages, which the test moves. */
  readonly clock: { nowMs: number; monotonicMs: number }
  /** Adds a service; its id. */
  readonly addService: (name: string, results?: SampleResults) => Promise<string>
  readonly setResults: (serviceId: string, results: SampleResults) => void
  readonly pause: (serviceId: string) => Promise<void>
  readonly remove: (serviceId: string) => Promise<void>
  /** Adds a page; its id. */
  readonly addPage: (settings: StatusPageChange & { slug: string; title: string }) => Promise<string>
  /** Opens an incident with one update after another; its display id. */
  readonly addIncident: (incident: SampleIncident) => Promise<string>
  /** Makes every page stale. */
  readonly renew: () => void
  /** Error of further reads of results. */
  breakResults: Error | undefined
  readonly close: () => Promise<void>
}

export interface SampleIncident {
  readonly title: string
  readonly serviceIds: readonly string[]
  readonly severity: Severity
  /** Whether automation opened it; no when absent. */
  readonly isAutomatic?: boolean
  /** Minutes before now, status and text. */
  readonly updates: readonly (readonly [number, IncidentStatus, string])[]
}

/** Starts an empty site at SAMPLE_NOW_MS. */
export async function startSampleSite(options: { readonly statusUrl?: string } = {}): Promise<SampleSite> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-pages-'))
  const clock = { nowMs: SAMPLE_NOW_MS, monotonicMs: 0 }
  const parts = { nowMs: () => clock.nowMs }
  const used =
    testEngineName() === 'postgres'
      ? await postgresForTest(folder, parts)
      : sqliteForTest(folder, false, parts)
  const store = await used.engine.open('serve')
  const orgId = systemEnvironment.uuid()
  await store.activateMasterKey('first', 0)
  await store.createOrg({ id: orgId, name: 'Example', plan: 'enterprise', nowMs: clock.nowMs })
  const results = new Map<string, SampleResults>()
  const listeners = new Set<(ids: ReadonlySet<string>) => void>()
  const listener = buildStatusListener({
    store,
    measurements: sampleMeasurements(results, listeners, () => ({
      nowMs: clock.nowMs,
      error: site.breakResults,
    })),
    nowMs: () => clock.nowMs,
    monotonicMs: () => clock.monotonicMs,
    statusUrl: options.statusUrl,
    connectionsMax: 1_000,
    onError: () => {},
  })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  // True because it listens on TCP.
  const { port } = listener.server.address() as AddressInfo
  const change = async (id: string, decide: Parameters<Store['changeService']>[2]) => {
    await store.changeService(orgId, id, decide)
  }
  const site: SampleSite = {
    url: `http://127.0.0.1:${port}`,
    store,
    orgId,
    clock,
    breakResults: undefined,
    addService: async (name, given = { state: 'up' }) => {
      const body = serviceBody({ name, endpoints: [endpointBody()] })
      const nowMs = clock.nowMs
      const { text } = await store.createService(orgId, undefined, ({ quota }) =>
        createService(body, { ...deps, nowMs, quota }),
      )
      const { id } = JSON.parse(text)
      results.set(id, given)
      return id
    },
    setResults: (id, given) => {
      results.set(id, given)
      for (const tell of listeners) tell(new Set([id]))
    },
    pause: (id) => change(id, (service) => pauseService(service, clock.nowMs)),
    remove: (id) => change(id, (service) => deleteService(service)),
    addPage: async (settings) => {
      const id = systemEnvironment.uuid()
      await store.createStatusPage({ id, orgId, nowMs: clock.nowMs, settings })
      return id
    },
    addIncident: async ({ title, serviceIds, severity, updates, isAutomatic = false }) => {
      const environment = { uuid: systemEnvironment.uuid, nowMs: () => clock.nowMs }
      const { nowMs } = clock
      const at = (minutes: number) => {
        clock.nowMs = nowMs - minutes * 60_000
      }
      const [first, ...others] = updates
      at(first?.[0] ?? 0)
      const request = { title, service_ids: [...serviceIds], severity, message: first?.[2] ?? '' }
      const incident = await store.createIncident(
        orgId,
        { by: OPERATOR, wantedServiceIds: serviceIds },
        (facts) => ({ ...openIncident(request, facts, environment), auto_managed: isAutomatic }),
      )
      for (const [minutes, status, body] of others) {
        at(minutes)
        await store.changeIncident(orgId, incident.id, OPERATOR, (current, quota) =>
          updateIncident(current, { body, status }, { environment, quota }),
        )
      }
      clock.nowMs = nowMs
      return incident.display_id
    },
    renew: () => {
      clock.monotonicMs += 60_000
    },
    close: async () => {
      await listener.close()
      await store.close()
      await used.remove()
      await rm(folder, { recursive: true })
    },
  }
  return site
}

function sampleMeasurements(
  results: ReadonlyMap<string, SampleResults>,
  listeners: Set<(ids: ReadonlySet<string>) => void>,
  now: () => { readonly nowMs: number; readonly error: Error | undefined },
): Measurements {
  const none = async () => []
  return {
    states: async () => {
      const { nowMs, error } = now()
      if (error !== undefined) throw error
      return [...results].map(([id, { state }]) => ({
        ...{ id, state, sinceS: 0, reasons: [], p95Ms: null, hours: '', certificates: [] },
        lastResultS: Math.floor(nowMs / 1_000),
      }))
    },
    days: async (serviceIds, from, to) => {
      const todayMs = Date.parse(new Date(now().nowMs).toISOString().slice(0, 10))
      return serviceIds.flatMap((serviceId) => {
        const { problems = {}, days = 90 } = results.get(serviceId) ?? { state: 'up' }
        return Array.from({ length: days }, (_, ago): ServiceDay => {
          const day = new Date(todayMs - ago * DAY_S * 1_000).toISOString().slice(0, 10)
          const given = { degraded: 0, down: 0, unknown: 0, paused: 0, maintenance: 0, ...problems[ago] }
          const others = Object.values(given).reduce((sum, seconds) => sum + seconds, 0)
          return { serviceId, day, up: Math.max(0, DAY_S - others), ...given }
        }).filter(({ day }) => day >= from && day <= to)
      })
    },
    overview: none,
    latency: none,
    results: none,
    timeline: none,
    certificates: none,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
