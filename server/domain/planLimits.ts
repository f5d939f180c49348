import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import type { AutoIncidentSettings } from './autoIncidentSettings.ts'

/** Number of stored services, including paused ones, that are allowed for each active one. Gap G12. */
export const STORED_PER_ACTIVE_SERVICE = 10

/** Maximum retention of single results that an override may set (days). */
export const RESULTS_DAYS_MAX = 400

/** The limits of a plan, with the organisation's overrides applied. Gap G12. */
export interface PlanLimits {
  /** Maximum number of active services. */
  readonly servicesMax: number
  /** Maximum number of endpoints in all active services. */
  readonly endpointsMax: number
  readonly serviceEndpointsMax: number
  /** Minimum check interval (seconds). */
  readonly intervalSecsMin: number
  /** Maximum total size of incidents (MiB). Gap G38. */
  readonly incidentsMibMax: number
  /** Retention of single results (days). Gap G12. */
  readonly resultsDays: number
  /** Codes of the permitted regions; `null` means every region. */
  readonly regionsAllowed: readonly string[] | null
}

/** The usage of an organisation at the instant of the decision. */
export interface OrgUsage {
  readonly activeServices: number
  readonly activeEndpoints: number
  /** Active and paused. */
  readonly storedServices: number
}

/**
 * An organisation's limits and usage, read in the transaction that writes, so that two writers cannot both take the
 * last free slot.
 */
export interface OrgQuota {
  readonly orgId: string
  readonly limits: PlanLimits
  readonly usage: OrgUsage
  /** Automatic incidents of a new service; `null` for none. */
  readonly autoIncidents: AutoIncidentSettings | null
}

type Definition = Pick<ServiceRequest | ServiceResponse, 'interval_secs' | 'regions' | 'endpoints'>

/** The limit that a new service of `definition` would exceed; `undefined` when none. Contract: Rules, 3. Pure. */
export function creationRefusal(quota: OrgQuota, definition: Definition): string | undefined {
  const storedMax = quota.limits.servicesMax * STORED_PER_ACTIVE_SERVICE
  if (quota.usage.storedServices >= storedMax) {
    return `plan limit: at most ${storedMax} services may be stored, paused ones included`
  }
  return activationRefusal(quota, definition)
}

/** The limit that resuming `service` would exceed; `undefined` when none. Contract: Rules, 3. Pure. */
export function activationRefusal({ limits, usage }: OrgQuota, definition: Definition): string | undefined {
  return (
    scheduleRefusal(limits, definition) ??
    serviceEndpointsRefusal(limits, definition) ??
    (usage.activeServices >= limits.servicesMax
      ? `plan limit: at most ${limits.servicesMax} active services`
      : undefined) ??
    totalEndpointsRefusal(limits, usage.activeEndpoints + definition.endpoints.length)
  )
}

/**
 * The limit that replacing `current` with `definition` would exceed; `undefined` when none. Endpoints are counted only
 * when their number grows, so that an organisation can make a service smaller after a downgrade of its plan. A paused
 * service does not count until it is resumed. Contract: Limits, rule 3; Gap G26. Pure.
 */
export function replacementRefusal(
  { limits, usage }: OrgQuota,
  current: ServiceResponse,
  definition: Definition,
): string | undefined {
  const schedule = scheduleRefusal(limits, definition)
  const grownBy = definition.endpoints.length - current.endpoints.length
  if (schedule !== undefined || grownBy <= 0) return schedule
  const isPaused = current.paused_at != null
  return (
    serviceEndpointsRefusal(limits, definition) ??
    (isPaused ? undefined : totalEndpointsRefusal(limits, usage.activeEndpoints + grownBy))
  )
}

function scheduleRefusal(limits: PlanLimits, definition: Definition): string | undefined {
  if (definition.interval_secs < limits.intervalSecsMin) {
    return `plan limit: interval_secs must be at least ${limits.intervalSecsMin}`
  }
  const allowed = limits.regionsAllowed
  if (allowed !== null && definition.regions.some((code) => !allowed.includes(code))) {
    return `plan limit: regions must be among ${allowed.join(', ')}`
  }
  return undefined
}

function serviceEndpointsRefusal(limits: PlanLimits, definition: Definition): string | undefined {
  return definition.endpoints.length > limits.serviceEndpointsMax
    ? `plan limit: at most ${limits.serviceEndpointsMax} endpoints in one service`
    : undefined
}

function totalEndpointsRefusal(limits: PlanLimits, endpoints: number): string | undefined {
  return endpoints > limits.endpointsMax
    ? `plan limit: at most ${limits.endpointsMax} endpoints in active services`
    : undefined
}
