import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { ApiError } from '../../api/contract/apiError.ts'
import { AGENT_METRICS, type AgentLoad } from '../../monitoring/protocol/agentStats.ts'
import type { RegionMode } from '../store/monitoringStore.ts'
import type { NotificationStats } from '../store/notificationStore.ts'
import type { StoreStats } from '../store/store.ts'

/** Status of the monitoring. */
export interface MonitoringStats {
  readonly modes: ReadonlyMap<string, RegionMode>
  /** Number of agents on other machines, by remote region. */
  readonly agents: ReadonlyMap<string, number>
  /** Counters of the checks of this machine; `undefined` until their thread has reported them. */
  readonly load: AgentLoad | undefined
  /** The last report of each agent, including the one of this machine. */
  readonly loads: readonly {
    readonly name: Readonly<Record<'region' | 'agent' | 'instance', string>>
    readonly load: AgentLoad
  }[]
  /** Stored results by region and outcome, since the results thread started. */
  readonly checks: readonly { readonly region: string; readonly outcome: string; readonly count: number }[]
  /** Size of results.db (bytes); `null` on PostgreSQL, which is measured elsewhere. */
  readonly resultsBytes: number | null
  readonly isStoring: boolean
  /** Messages in the queue of the results thread. */
  readonly waiting: number
  readonly restarts: { readonly checks: number; readonly results: number }
  /** Stored transitions that are not applied yet; `undefined` while the results thread is down. */
  readonly transitionsBehind: number | undefined
}

type Label = 'region' | 'outcome' | 'mode' | 'thread' | 'agent' | 'instance'
/** The value of a metric, or its values with their labels; nothing for one that is absent. */
type Values =
  | number
  | null
  | undefined
  | readonly (readonly [value: number, labels: Partial<Record<Label, string>>])[]

/**
 * Adds the metrics of the store to `registry`, read at each scrape. Instants are seconds since the epoch, so that a
 * query can subtract them from time().
 */
export function addStoreMetrics(
  registry: Registry,
  read: () => Promise<StoreStats>,
  nowMs: () => number,
): void {
  const { add, addUp } = metricsOf(registry, read)
  const ageS = (atMs: number) => Math.max(0, nowMs() - atMs) / 1_000
  addUp('pharos_database_up', 'Whether the database responds; what is read from it is absent meanwhile')
  add('pharos_outbox_unpublished_commands', 'Commands that are not published yet', 'unpublishedCommands')
  add(
    'pharos_outbox_oldest_unpublished_age_seconds',
    'Age of the oldest command that is not published; 0 when there is none',
    ({ oldestUnpublishedAtMs: at }) => (at === null ? 0 : ageS(at)),
  )
  add('pharos_database_bytes', 'Size of the database', 'databaseBytes')
  add(
    'pharos_database_wal_bytes',
    'Size of the write-ahead log of control.db; absent on PostgreSQL',
    'logBytes',
  )
  add(
    'pharos_disk_free_bytes',
    'Free space on the disk of the data folder; absent on PostgreSQL',
    'diskFreeBytes',
  )
  add(
    'pharos_last_backup_timestamp_seconds',
    'Time of the last backup of the database; absent before the first',
    ({ lastBackupAtMs: at }) => at && at / 1_000,
  )
  add(
    'pharos_backup_age_seconds',
    'Age of the last backup of the database; absent before the first',
    ({ lastBackupAtMs: at }) => at && ageS(at),
  )
}

/** Adds the metrics of monitoring to `registry`, read at each scrape. Most are absent while another server monitors. */
export function addMonitoringMetrics(
  registry: Registry,
  read: () => Promise<MonitoringStats | undefined>,
): void {
  const { add, addUp } = metricsOf(registry, read)
  addUp('pharos_monitoring', '1 while this server monitors, 0 while another one does')
  add(
    'pharos_region_mode',
    '1 for the mode of the region',
    ({ modes }) => [...modes].map(([region, mode]) => [1, { region, mode }]),
    ['region', 'mode'],
  )
  add(
    'pharos_region_agents',
    'Agents of a remote region; 0 when nothing checks it',
    ({ agents }) => [...agents].map(([region, count]) => [count, { region }]),
    ['region'],
  )
  const ofAgent: Label[] = ['region', 'agent', 'instance']
  for (const { name, help, value } of AGENT_METRICS) {
    add(name, help, ({ loads }) => loads.map(({ name: labels, load }) => [value(load), labels]), ofAgent)
  }
  add(
    'pharos_scheduler_lag_seconds',
    'Delay of checks after the start of their slot, 99th percentile',
    ({ load }) => load && load.lag_p99_ms / 1_000,
  )
  add('pharos_checks_in_flight', 'Checks in progress on this machine', ({ load }) => load?.in_flight)
  add(
    'pharos_slots_skipped_total',
    'Slots skipped since the checks thread started',
    ({ load }) => load?.skipped,
  )
  add(
    'pharos_checks_total',
    'Stored results of checks',
    ({ checks }) => checks.map(({ count, ...labels }) => [count, labels]),
    ['region', 'outcome'],
  )
  add('pharos_results_bytes', 'Size of results.db', 'resultsBytes')
  add('pharos_results_up', 'Whether the results thread stores results', ({ isStoring }) =>
    isStoring ? 1 : 0,
  )
  add('pharos_results_waiting', 'Requests that wait for the results thread', 'waiting')
  add(
    'pharos_thread_restarts_total',
    'Restarts of a thread since the server started',
    ({ restarts }) => Object.entries(restarts).map(([thread, count]) => [count, { thread }]),
    ['thread'],
  )
  add('pharos_transitions_behind', 'Transitions that are stored but not applied yet', 'transitionsBehind')
}

/** Upper bounds of the buckets for the time until the first attempt (seconds). */
const LAG_BUCKETS_SECS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3_600]

/** Adds the metrics of notifications to `registry`; returns the function that counts an attempt. */
export function addNotificationMetrics(
  registry: Registry,
  read: () => Promise<NotificationStats>,
): (attempt: { kind: string; outcome: string; isFirst: boolean; lagMs: number }) => void {
  const { add } = metricsOf(registry, read)
  add('pharos_deliveries_waiting', 'Notifications that wait for their next attempt', 'waiting')
  add('pharos_channels_disabled', 'Notification channels that are disabled', 'disabledChannels')
  const registers = [registry]
  const attempts = new Counter({
    ...{ name: 'pharos_deliveries_total', help: 'Attempts to deliver a notification, by outcome' },
    ...{ labelNames: ['kind', 'outcome'], registers },
  })
  const lag = new Histogram({
    ...{ name: 'pharos_delivery_lag_seconds', help: 'Time from an event to the first attempt to deliver it' },
    ...{ buckets: LAG_BUCKETS_SECS, registers },
  })
  return ({ kind, outcome, isFirst, lagMs }) => {
    attempts.inc({ kind, outcome })
    if (isFirst) lag.observe(lagMs / 1_000)
  }
}

/**
 * Calls `read` once for all gauges of a scrape. Resolves to `undefined` while the database does not respond, so that all
 * other metrics are still shown.
 */
function shared<Stats>(read: () => Promise<Stats>): () => Promise<Stats | undefined> {
  let reading: Promise<Stats | undefined> | undefined
  return () => {
    reading ??= read()
      .catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        return undefined
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }
}

/** The members of `Stats` that are values of metrics. */
type ValueOf<Stats> = { [Key in keyof Stats]: Stats[Key] extends Values ? Key : never }[keyof Stats]

/**
 * Functions that add metrics, whose values come from what `read` reads at each scrape; a metric without one is absent.
 * Names that end in `_total` become counters.
 */
function metricsOf<Stats extends object>(registry: Registry, read: () => Promise<Stats | undefined>) {
  const stats = shared(read)
  const define = (
    options: { readonly name: string; readonly help: string; readonly labelNames: Label[] },
    valuesOf: (stats: Stats | undefined) => Values,
  ): void => {
    async function collect(this: Counter<Label> | Gauge<Label>): Promise<void> {
      const known = valuesOf(await stats()) ?? []
      const values = typeof known === 'number' ? [[known, {}] as const] : known
      this.reset()
      // After `reset` a metric without labels would be 0, which is a value; it must be absent.
      if (values.length === 0) this.remove({})
      for (const [value, labels] of values) this.inc(labels, value)
    }
    const Metric = options.name.endsWith('_total') ? Counter<Label> : Gauge<Label>
    new Metric({ ...options, registers: [registry], collect })
  }
  return {
    /** Adds a metric that is a member of what is read, or computed from it. */
    add: (
      name: string,
      help: string,
      value: ValueOf<Stats> | ((stats: Stats) => Values),
      labelNames: Label[] = [],
    ): void =>
      define({ name, help, labelNames }, (known) => {
        if (known === undefined) return null
        // True because ValueOf names only such members.
        return typeof value === 'function' ? value(known) : (known[value] as Values)
      }),
    /** Adds a metric that is 1 while there is something to read, and 0 otherwise. */
    addUp: (name: string, help: string): void =>
      define({ name, help, labelNames: [] }, (known) => (known === undefined ? 0 : 1)),
  }
}
