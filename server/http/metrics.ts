import { Counter, Gauge, Histogram } from 'prom-client'
import { createRegistry } from '../../api/runtime/processMetrics.ts'
import type { RequestRecord } from './app.ts'
import type { ResponseBudget } from './transport/responseBudget.ts'

/** Upper bounds of the duration buckets (seconds). */
const DURATION_BUCKETS_SECS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** Bucket bounds for the upkeep of results, which runs every ten minutes (seconds). */
const UPKEEP_BUCKETS_SECS = [0.01, 0.1, 1, 10, 60, 300]

/** Maximum number of keys with their own series, because the number of keys is unlimited. */
const KEYS_COUNTED_MAX = 1_000
/** The label for all others. */
const OTHER_KEYS = 'other'

/** Metrics for Prometheus. */
export type Metrics = ReturnType<typeof createMetrics>

interface RequestLabels {
  readonly route: string
  readonly method: string
  readonly status: number
  readonly key: string
}

interface Counted {
  readonly labels: RequestLabels
  count: number
  /** Records a duration (seconds). */
  readonly observe: (secs: number) => void
}

/** The metrics of one server, including its `budget`. Two servers in one process share none. */
export function createMetrics(budget: Pick<ResponseBudget, 'heldBytes' | 'mostHeldBytes'>) {
  const registry = createRegistry()
  const counts = new Map<string, Counted>()
  new Counter({
    name: 'pharos_http_requests_total',
    help: `Requests with a response; key is the id of the API key, empty without one, ${OTHER_KEYS} after the first ${KEYS_COUNTED_MAX}`,
    labelNames: ['route', 'method', 'status', 'key'] as const,
    registers: [registry],
    // Counted in a map that is copied when metrics are read, because a labelled increment costs more than a lookup.
    collect() {
      this.reset()
      for (const { labels, count } of counts.values()) this.inc(labels, count)
    },
  })
  const ended = new Counter({
    name: 'pharos_http_connections_ended_total',
    help: 'Connections ended to make room for others',
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'pharos_http_request_duration_seconds',
    help: 'Time from the head of a request until its response is passed to the socket',
    labelNames: ['route', 'method'] as const,
    buckets: DURATION_BUCKETS_SECS,
    registers: [registry],
  })
  new Gauge({
    name: 'pharos_answers_held_bytes',
    help: 'Bytes of the responses in progress',
    registers: [registry],
    collect() {
      this.set(budget.heldBytes)
    },
  })
  new Gauge({
    name: 'pharos_answers_held_bytes_peak',
    help: 'Maximum bytes of responses in progress since the start',
    registers: [registry],
    collect() {
      this.set(budget.mostHeldBytes)
    },
  })
  const ingest = new Histogram({
    name: 'pharos_results_ingest_seconds',
    help: 'Time from the arrival of results until they are stored',
    buckets: DURATION_BUCKETS_SECS,
    registers: [registry],
  })
  const compaction = new Histogram({
    name: 'pharos_compaction_seconds',
    help: 'Working time of each run that compacts results, rolls them up and removes expired ones',
    buckets: UPKEEP_BUCKETS_SECS,
    registers: [registry],
  })
  const keys = new Set<string>()
  const keyLabel = (keyId = ''): string => {
    if (keys.size < KEYS_COUNTED_MAX) keys.add(keyId)
    return keys.has(keyId) ? keyId : OTHER_KEYS
  }
  return {
    /** The registry to which further metrics are added. */
    registry,
    /** Records the time from the arrival of results until they were stored (seconds). */
    observeIngest: (secs: number): void => ingest.observe(secs),
    /** Records the working time of a run of the upkeep of results (seconds). */
    observeCompaction: (secs: number): void => compaction.observe(secs),
    /** Counts a connection closed to make room for another. */
    countEndedConnection: (): void => ended.inc(),
    count: ({ route, method, status, caller, durationMs }: RequestRecord): void => {
      const key = keyLabel(caller?.keyId)
      const name = `${route} ${method} ${status} ${key}`
      let counted = counts.get(name)
      if (counted === undefined) {
        const { observe } = duration.labels({ route, method })
        counted = { labels: { route, method, status, key }, count: 0, observe }
        counts.set(name, counted)
      }
      counted.count += 1
      counted.observe(durationMs / 1_000)
    },
    /** All metrics in the text format. */
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
