import { Gauge, type Registry } from 'prom-client'
import type { ControllerStatus, SetStatus } from './status/status.ts'

/** Gauges that are read from the status at each scrape. */
export function statusGauges(registry: Registry, status: () => ControllerStatus): void {
  const registers = [registry]
  const gauge = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Gauge<'set' | Label> =>
    new Gauge({ name: `pharos_${name}`, help, labelNames: ['set', ...labelNames], registers })
  // Registered first: a scrape collects it before the others, which it sets.
  new Gauge({
    name: 'pharos_sets',
    help: 'Sets in the configuration',
    registers,
    collect() {
      const { sets, at } = status()
      const nowMs = Date.parse(at)
      for (const one of all) one.reset()
      this.set(sets.length)
      for (const one of sets) fill(one, nowMs)
    },
  })
  const services = gauge('services', 'Services by state', ['state'])
  const drift = gauge('drift_services', 'Services changed outside git', [])
  const pending = gauge('pending_ops', 'Changes that wait for an approval, a window or a resumption', [])
  const blocked = gauge('blocked', 'Services that do not match git and are not changed, by reason', [
    'reason',
  ])
  const conditions = gauge('condition', '1 for every condition that holds for the set', ['condition'])
  const problems = gauge('manifest_errors', 'Problems in manifests', [])
  const leader = gauge('lease_is_leader', '1 if this replica leads', [])
  const suspended = gauge('suspended_seconds', 'Age of the oldest suspension', [])
  const commit = gauge('commit_info', 'The commit in force', ['sha'])
  const lag = gauge('commit_lag_seconds', 'Age of the newest commit while it is not applied completely', [])
  const unverifiable = gauge('unverifiable_secrets', 'Secrets whose manual change cannot be detected', [])
  const all = [
    ...[services, drift, pending, blocked, conditions, problems],
    ...[leader, suspended, commit, lag, unverifiable],
  ]
  const fill = ({ name: set, ...one }: SetStatus, nowMs: number): void => {
    for (const [state, count] of Object.entries(one.counts)) services.set({ set, state }, count)
    for (const [reason, count] of reasonsIn(one.services)) blocked.set({ set, reason }, count)
    for (const { type } of one.conditions) conditions.set({ set, condition: type }, 1)
    drift.set({ set }, one.counts.Drifted)
    pending.set({ set }, one.counts.Pending + one.counts.Suspended)
    problems.set({ set }, one.problems.length)
    leader.set({ set }, one.role === 'leader' ? 1 : 0)
    unverifiable.set({ set }, one.unverifiableSecrets)
    const since = one.suspensions.map((suspension) => Date.parse(suspension.since))
    suspended.set({ set }, since.length === 0 ? 0 : Math.max(0, nowMs - Math.min(...since)) / 1_000)
    if (one.commit === null) return
    commit.set({ set, sha: one.commit.sha }, 1)
    const isDone = one.appliedCommit === one.commit.sha
    lag.set({ set }, isDone ? 0 : Math.max(0, nowMs - Date.parse(one.commit.at)) / 1_000)
  }
}

function reasonsIn(services: SetStatus['services']): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { reason, state } of services)
    if (reason !== null && state !== 'Removing') counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return counts
}
