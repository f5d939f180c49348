import type { Measurements } from './measurements.ts'
import type { RunQuery } from './queries.ts'

/** Measurements that call `run` for each query. */
export function measurementsOf(run: RunQuery, onChange: Measurements['onChange']): Measurements {
  return {
    states: (orgId, serviceIds) => run('states', { orgId, serviceIds }),
    overview: (orgId) => run('overview', { orgId }),
    days: (serviceIds, from, to) => run('days', { serviceIds, from, to }),
    latency: (query) => run('latency', query),
    results: (query) => run('results', query),
    timeline: (serviceId, fromS, untilS) => run('timeline', { serviceId, fromS, untilS }),
    certificates: (serviceId) => run('certificates', { serviceId }),
    onChange,
  }
}
