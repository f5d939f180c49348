import { SERVICE_STATES } from './labels.ts'
import type { ServiceStatus } from './status.ts'

/** At most `max` services that do not match git, the most urgent first. Pure. */
export function servicesOutOfSync(services: readonly ServiceStatus[], max: number): readonly ServiceStatus[] {
  const seen: ServiceStatus[] = []
  for (const state of SERVICE_STATES) {
    if (state === 'Synced') continue
    for (const service of services) {
      if (seen.length >= max) return seen
      if (service.state === state) seen.push(service)
    }
  }
  return seen
}
