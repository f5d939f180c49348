import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Limiter } from '../../api/client/limiter.ts'
import type { AttemptReport } from '../../api/client/request.ts'
import type { HookResult } from './http/hookRoute.ts'
import type { CycleReport } from './set/cycleReport.ts'
import type { ControllerStatus } from './status/status.ts'
import { statusGauges } from './statusGauges.ts'

/** The metrics of a controller. None has a label for services, so the number of series does not grow with them. */
export type Metrics = ReturnType<typeof metricsOf>

/** Metrics in a new registry; gauges are read from `status`. `nowMs` is the wall clock. */
export function metricsOf(status: () => ControllerStatus, nowMs: () => number) {
  const registry = new Registry()
  const { runs, durations, ops, requests, fetches, hooks, lastSuccess } = instrumentsOf(registry)
  const limiters = limiterMetrics(registry)
  statusGauges(registry, status)
  return {
    onReport: (set: string, report: CycleReport): void => {
      runs.inc({ set, trigger: report.trigger, outcome: report.outcome })
      durations.observe({ set }, Math.max(0, report.finishedAtMs - report.startedAtMs) / 1_000)
      for (const { change, result } of report.applied?.outcomes ?? [])
        ops.inc({ set, kind: change.kind, outcome: result })
      if (report.outcome === 'converged') lastSuccess.set({ set }, report.finishedAtMs / 1_000)
    },
    onAttempt: (set: string, { method, path, status: code }: AttemptReport): void => {
      requests.inc({ set, route: `${method} ${routeOf(path)}`, code: String(code) })
    },
    /** A fetch that took `ms` milliseconds. */
    onFetch: (set: string, ms: number, result: 'ok' | 'failed'): void =>
      fetches.observe({ set, result }, ms / 1_000),
    /** Adds the series of a set; its limiter is read at each scrape. */
    onSet: (set: string, limiter: Pick<Limiter, 'tokens' | 'heldMsTotal'>): void => {
      limiters.set(set, limiter)
      // A set without a success would otherwise have no series to alert on.
      lastSuccess.set({ set }, nowMs() / 1_000)
    },
    onHook: (source: string, result: HookResult): void => hooks.inc({ source, result }),
    contentType: registry.contentType,
    registry,
  }
}

/** Counters and histograms. */
function instrumentsOf(registry: Registry) {
  const registers = [registry]
  const counter = (name: string, help: string, ...labelNames: readonly string[]) =>
    new Counter({ name: `pharos_${name}_total`, help, labelNames, registers })
  const seconds = (name: string, help: string, buckets: number[], ...labelNames: readonly string[]) =>
    new Histogram({ name: `pharos_${name}_seconds`, help, labelNames, buckets, registers })
  return {
    runs: counter('runs', 'Runs by outcome', 'set', 'trigger', 'outcome'),
    durations: seconds('run_duration', 'Duration of runs', [0.1, 0.5, 1, 5, 30, 120, 600, 3600], 'set'),
    ops: counter('ops', 'Changes to services by kind and outcome', 'set', 'kind', 'outcome'),
    requests: counter('api_requests', 'Requests to the API', 'set', 'route', 'code'),
    fetches: seconds(
      'git_fetch',
      'Duration of git fetches',
      [0.05, 0.2, 0.5, 1, 2, 5, 15, 60],
      ...['set', 'result'],
    ),
    hooks: counter('webhook', 'Webhooks by source and result', 'source', 'result'),
    lastSuccess: new Gauge({
      name: 'pharos_last_success_timestamp_seconds',
      help: 'When a run last ended with everything matching git; before the first, when the controller started',
      labelNames: ['set'],
      registers,
    }),
  }
}

/** Replaces ids, so that `/v1/services/…/pause` is one route. */
function routeOf(path: string): string {
  return path.replace(/^(\/v1\/\w+\/)[^/]+/, '$1{id}')
}

/** The metrics of limiters by set; sets with one key share a limiter. */
function limiterMetrics(registry: Registry): Map<string, Pick<Limiter, 'tokens' | 'heldMsTotal'>> {
  const registers = [registry]
  const limiters = new Map<string, Pick<Limiter, 'tokens' | 'heldMsTotal'>>()
  const counted = new Map<string, number>()
  new Gauge({
    name: 'pharos_api_tokens',
    help: 'Requests that the key of the set could send at once',
    labelNames: ['set'],
    registers,
    collect() {
      this.reset()
      for (const [set, { tokens }] of limiters) this.set({ set }, tokens)
    },
  })
  new Counter({
    name: 'pharos_api_throttled_seconds_total',
    help: 'Time that all requests of the key of the set have waited because of 429 responses',
    labelNames: ['set'],
    registers,
    collect() {
      for (const [set, { heldMsTotal }] of limiters) {
        this.inc({ set }, (heldMsTotal - (counted.get(set) ?? 0)) / 1_000)
        counted.set(set, heldMsTotal)
      }
    },
  })
  return limiters
}
