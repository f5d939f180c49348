import type { OrgUsage } from '../../domain/planLimits.ts'
import type { Service } from '../../domain/serviceChanges.ts'

/** Columns derived from a service. `runningIn` lists its active regions: none while it is paused. Pure. */
export function columnsOf({ response, generation, definitionGeneration }: Service) {
  const runningIn = response.paused_at == null ? response.regions.join(',') : ''
  return { generation, definitionGeneration, runningIn }
}

/** Usage of a service, counted against the limits of its organisation; none for `null`. Pure. */
export function usageOf(service: Service | null): OrgUsage {
  if (service === null) return { activeServices: 0, activeEndpoints: 0, storedServices: 0 }
  const isActive = service.response.paused_at == null
  return {
    activeServices: isActive ? 1 : 0,
    activeEndpoints: isActive ? service.response.endpoints.length : 0,
    storedServices: 1,
  }
}

/** `usage` after the usage of a service changed from `was` to `is`. Pure. */
export function usageAfter(usage: OrgUsage, was: OrgUsage, is: OrgUsage): OrgUsage {
  return {
    activeServices: usage.activeServices + is.activeServices - was.activeServices,
    activeEndpoints: usage.activeEndpoints + is.activeEndpoints - was.activeEndpoints,
    storedServices: usage.storedServices + is.storedServices - was.storedServices,
  }
}
