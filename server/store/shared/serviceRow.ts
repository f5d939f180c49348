import type { OrgUsage } from '../../domain/planLimits.ts'
import type { Service } from '../../domain/serviceChanges.ts'

/** Columns of a service that follow from it. `runningIn` lists its active regions: none while it is paused. Pure. */
export function columnsOf({ response, generation, definitionGeneration }: Service) {
  const runningIn = response.paused_at == null ? response.regions.join(',') : ''
  return { generation, definitionGeneration, runningIn }
}

/** What a service uses of the limits of its organisation; `null` uses nothing. Pure. */
export function usageOf(service: Service | null): OrgUsage {
  if (service === null) return { activeServices: 0, activeEndpoints: 0, storedServices: 0 }
  const isActive = service.response.paused_at == null
  return {
    activeServices: isActive ? 1 : 0,
    activeEndpoints: isActive ? service.response.endpoints.length : 0,
    storedServices: 1,
  }
}

/** `usage` after a service that was `was` has become `is`. Pure. */
export function usageAfter(usage: OrgUsage, was: OrgUsage, is: OrgUsage): OrgUsage {
  return {
    activeServices: usage.activeServices + is.activeServices - was.activeServices,
    activeEndpoints: usage.activeEndpoints + is.activeEndpoints - was.activeEndpoints,
    storedServices: usage.storedServices + is.storedServices - was.storedServices,
  }
}
