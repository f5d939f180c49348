import { collectDefaultMetrics, Registry } from 'prom-client'

/**
 * Gauges of prom-client that end in `_total`. That suffix is for counters, so `promtool check metrics` rejects them.
 * Each is the sum over `type` of the gauge without the suffix.
 */
const MISNAMED_GAUGES = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
]

let ofProcess: Registry | undefined

/** A new registry with the metrics of this process, which exist once: nothing ends their timer and observer. */
export function createRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
    for (const name of MISNAMED_GAUGES) ofProcess.removeSingleMetric(name)
  }
  return Registry.merge([ofProcess])
}
