import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AttemptReport } from '../../api/client/client.ts'
import type { CycleReport } from './cycle.ts'
import type { HookResult } from './http/hookRoute.ts'
import type { ControllerStatus } from './status.ts'

/** The metrics of a controller. None has a label of services: ten thousand of them make no more series than ten. */
export interface Metrics {
  readonly onReport: (set: string, report: CycleReport) => void
  readonly onAttempt: (set: string, attempt: AttemptReport) => void
  readonly onHook: (source: string, result: HookResult) => void
  /** All of it as Prometheus reads it. */
  readonly text: () => Promise<string>
  readonly contentType: string
  readonly registry: Registry
}

/** Metrics in a registry of their own; `status` gives what the gauges show. */
export function metricsOf(status: () => ControllerStatus): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const runs = new Counter({
    name: 'pharos_runs_total',
    help: 'Runs by how they ended',
    labelNames: ['set', 'trigger', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'pharos_run_duration_seconds',
    help: 'Length of runs',
    labelNames: ['set'],
    buckets: [0.1, 0.5, 1, 5, 30, 120, 600, 3600],
    registers,
  })
  const ops = new Counter({
    name: 'pharos_ops_total',
    help: 'Changes to services by kind and outcome',
    labelNames: ['set', 'kind', 'outcome'],
    registers,
  })
  const requests = new Counter({
    name: 'pharos_api_requests_total',
    help: 'Requests to the API',
    labelNames: ['set', 'route', 'code'],
    registers,
  })
  const throttled = new Counter({
    name: 'pharos_api_throttled_total',
    help: 'Requests that the API answered with 429',
    labelNames: ['set'],
    registers,
  })
  const hooks = new Counter({
    name: 'pharos_webhook_total',
    help: 'Webhooks by source and result',
    labelNames: ['source', 'result'],
    registers,
  })
  const lastSuccess = new Gauge({
    name: 'pharos_last_success_timestamp_seconds',
    help: 'When a run last ended with everything as git says',
    labelNames: ['set'],
    registers,
  })
  statusGauges(registry, status)
  return {
    onReport: (set, report) => {
      runs.inc({ set, trigger: report.trigger, outcome: report.outcome })
      durations.observe({ set }, Math.max(0, report.finishedAtMs - report.startedAtMs) / 1_000)
      for (const { change, result } of report.applied?.outcomes ?? [])
        ops.inc({ set, kind: change.kind, outcome: result })
      if (report.outcome === 'converged') lastSuccess.set({ set }, report.finishedAtMs / 1_000)
    },
    onAttempt: (set, { method, path, status: code }) => {
      requests.inc({ set, route: `${method} ${routeOf(path)}`, code: String(code) })
      if (code === 429) throttled.inc({ set })
    },
    onHook: (source, result) => hooks.inc({ source, result }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  }
}

/** `/v1/services/…/pause` is one route, however many services there are. */
function routeOf(path: string): string {
  return path.replace(/^(\/v1\/\w+\/)[^/]+/, '$1{id}')
}

/** Gauges that are read off the status whenever somebody asks. */
function statusGauges(registry: Registry, status: () => ControllerStatus): void {
  const registers = [registry]
  const gauge = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Gauge<'set' | Label> =>
    new Gauge({ name: `pharos_${name}`, help, labelNames: ['set', ...labelNames], registers })
  // The first: a scrape asks it before the others, which it fills.
  new Gauge({
    name: 'pharos_sets',
    help: 'Sets in the configuration',
    registers,
    collect() {
      const { sets, at } = status()
      const nowMs = Date.parse(at)
      for (const one of all) one.reset()
      this.set(sets.length)
      for (const { name: set, ...one } of sets) {
        for (const [state, count] of Object.entries(one.counts)) services.set({ set, state }, count)
        drift.set({ set }, one.counts.Drifted)
        pending.set({ set }, one.counts.Pending + one.counts.Suspended)
        for (const { type } of one.conditions) conditions.set({ set, condition: type }, 1)
        problems.set({ set }, one.problems.length)
        leader.set({ set }, one.role === 'leader' ? 1 : 0)
        const since = one.suspensions.map((suspension) => Date.parse(suspension.since))
        suspended.set({ set }, since.length === 0 ? 0 : Math.max(0, nowMs - Math.min(...since)) / 1_000)
        if (one.commit === null) continue
        commit.set({ set, sha: one.commit.sha }, 1)
        const isDone = one.appliedCommit === one.commit.sha
        lag.set({ set }, isDone ? 0 : Math.max(0, nowMs - Date.parse(one.commit.at)) / 1_000)
      }
    },
  })
  const services = gauge('services', 'Services by state', ['state'])
  const drift = gauge('drift_services', 'Services that were changed outside', [])
  const pending = gauge('pending_ops', 'Changes that wait for an approval, a window or a resumption', [])
  const conditions = gauge('condition', '1 for every condition that is true of the set', ['condition'])
  const problems = gauge('manifest_errors', 'Problems in manifests', [])
  const leader = gauge('lease_is_leader', '1 where this replica does the work', [])
  const suspended = gauge('suspended_seconds', 'How long the oldest suspension has lasted', [])
  const commit = gauge('commit_info', 'The commit in force', ['sha'])
  const lag = gauge('commit_lag_seconds', 'Age of the newest commit while not all of it is carried out', [])
  const all = [services, drift, pending, conditions, problems, leader, suspended, commit, lag]
}
