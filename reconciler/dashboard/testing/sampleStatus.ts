import { headlineOf } from '../../controller/status/conditions.ts'
import type {
  Condition,
  ControllerStatus,
  ServiceState,
  ServiceStatus,
  SetStatus,
} from '../../controller/status/status.ts'
import type { PlannedField } from '../../plan/planValue.ts'

/** When the sample is looked at. */
export const SAMPLE_AT = '2026-01-14T10:00:00.000Z'

/** A service as the status has it; Synced unless said otherwise. */
export function sampleService(key: string, over: Partial<ServiceStatus> = {}): ServiceStatus {
  const synced = { state: 'Synced', reason: null, message: '', todo: null, fields: [] } as const
  return { key, serviceId: `id-of-${key}`, manifest: `services/${key}.yaml`, ...synced, ...over }
}

/** A field that was changed by hand. */
export const SAMPLE_DRIFT: PlannedField = {
  pointer: '/interval_secs',
  from: 300,
  to: 30,
  reason: 'drift',
}

/** A condition that has been true for five minutes. */
export function sampleCondition(
  type: Condition['type'],
  message: string,
  todo: string | null = null,
): Condition {
  return { type, message, todo, since: '2026-01-14T09:55:00.000Z' }
}

/** A set where all is well, but for what `over` says; counts and headline follow from it. */
export function sampleSet(name: string, over: Partial<SetStatus> = {}): SetStatus {
  const services = over.services ?? [sampleService('checkout'), sampleService('search')]
  const conditions = over.conditions ?? [sampleCondition('Ready', 'every service is as its manifest says')]
  return {
    name,
    source: {
      repository: 'https://git.example.com/shop/monitoring.git',
      branch: 'main',
      path: 'services',
      environment: 'production',
    },
    apiUrl: 'https://api.example.com',
    role: 'leader',
    leaseHolder: 'pharos-0 (process 7)',
    headline: headlineOf(conditions),
    conditions,
    commit: {
      sha: '4f2c9d0e8b7a65433221100ffeeddccbbaa99887',
      subject: 'checkout: look every 30 seconds',
      author: 'Ada',
      at: '2026-01-14T09:40:00.000Z',
    },
    refusedCommit: null,
    appliedCommit: '4f2c9d0e8b7a65433221100ffeeddccbbaa99887',
    running: null,
    lastRun: {
      runId: 'r-1',
      trigger: 'interval',
      commit: '4f2c9d0e8b7a65433221100ffeeddccbbaa99887',
      startedAt: '2026-01-14T09:59:10.000Z',
      finishedAt: '2026-01-14T09:59:11.000Z',
      outcome: 'converged',
      counts: { created: 0, updated: 1, unchanged: services.length },
      requests: 2,
    },
    nextRunAt: '2026-01-14T10:00:12.000Z',
    services,
    counts: countsOf(services),
    unverifiableSecrets: 0,
    approvals: [],
    problems: [],
    suspensions: [],
    window: { isOpen: true, reason: 'there is no window', changesAt: null },
    ...over,
  }
}

/** A status with these sets. */
export function sampleStatus(sets: readonly SetStatus[]): ControllerStatus {
  return { version: '0.1.0', startedAt: '2026-01-12T08:00:00.000Z', at: SAMPLE_AT, replica: 'pharos-0', sets }
}

function countsOf(services: readonly ServiceStatus[]): SetStatus['counts'] {
  const count = (state: ServiceState): number => services.filter((one) => one.state === state).length
  return {
    Synced: count('Synced'),
    Drifted: count('Drifted'),
    Pending: count('Pending'),
    Blocked: count('Blocked'),
    Failed: count('Failed'),
    Removing: count('Removing'),
    Suspended: count('Suspended'),
  }
}
