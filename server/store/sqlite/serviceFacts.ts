import type { Database } from 'better-sqlite3'
import type { OrgUsage, PlanLimits } from '../../domain/planLimits.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { ServiceFacts } from '../store.ts'

/** The value for every region in a column that otherwise lists codes. */
export const ALL_REGIONS = 'all'

/**
 * Limit columns of an organisation, its overrides first. For a query with the aliases `o` for orgs and `p` for plans.
 */
export const LIMIT_COLUMNS = `
  coalesce(o.services_max, p.services_max) AS servicesMax,
  coalesce(o.endpoints_max, p.endpoints_max) AS endpointsMax,
  coalesce(o.service_endpoints_max, p.service_endpoints_max) AS serviceEndpointsMax,
  coalesce(o.interval_secs_min, p.interval_secs_min) AS intervalSecsMin,
  coalesce(o.incidents_mib_max, p.incidents_mib_max) AS incidentsMibMax,
  coalesce(o.results_days, p.results_days) AS resultsDays,
  coalesce(o.regions_allowed, p.regions_allowed) AS regionsAllowed`

/** A row of LIMIT_COLUMNS. */
export interface LimitRow {
  readonly servicesMax: number
  readonly endpointsMax: number
  readonly serviceEndpointsMax: number
  readonly intervalSecsMin: number
  readonly incidentsMibMax: number
  readonly resultsDays: number
  readonly regionsAllowed: string
}

/** The limits of a row, with its list of regions parsed. Pure. */
export function limitsOfRow(row: LimitRow): PlanLimits {
  return {
    servicesMax: row.servicesMax,
    endpointsMax: row.endpointsMax,
    serviceEndpointsMax: row.serviceEndpointsMax,
    intervalSecsMin: row.intervalSecsMin,
    incidentsMibMax: row.incidentsMibMax,
    resultsDays: row.resultsDays,
    regionsAllowed: row.regionsAllowed === ALL_REGIONS ? null : row.regionsAllowed.split(','),
  }
}

interface FactsRow extends LimitRow {
  readonly activeServices: number
  readonly activeEndpoints: number
  readonly storedServices: number
  readonly masterKeyId: string | null
  readonly threshold: number | null
  readonly windowMinutes: number | null
}

/** The data for decisions about services, in transactions of one GroupCommit. */
export interface ServiceFactsStore {
  /** Throws when there is no such organisation, and while no master key is active. */
  readonly read: (orgId: string) => ServiceFacts
  /** Updates the counts of an organisation by a service that was `was` and now `is`; `facts` were just read. */
  readonly use: (facts: ServiceFacts, was: OrgUsage, is: OrgUsage) => void
}

export function prepareFacts(database: Database, commits: Pick<GroupCommit, 'ordinal'>): ServiceFactsStore {
  // One statement: for most creations a second one would cost as much as the first.
  const select = database.prepare<[string], FactsRow>(`
    SELECT ${LIMIT_COLUMNS},
      o.active_services AS activeServices,
      o.active_endpoints AS activeEndpoints,
      o.stored_services AS storedServices,
      o.auto_incident_threshold AS threshold,
      o.auto_incident_window_minutes AS windowMinutes,
      (SELECT id FROM master_keys WHERE is_active = 1) AS masterKeyId
    FROM orgs o JOIN plans p ON p.name = o.plan WHERE o.id = ?`)
  const write = database.prepare(
    'UPDATE orgs SET active_services = ?, active_endpoints = ?, stored_services = ? WHERE id = ?',
  )
  /** The facts after the mutation `ordinal`: the next one of the same organisation need not read them again. */
  let left: { readonly ordinal: number; readonly facts: ServiceFacts } | undefined
  return {
    read: (orgId) => {
      const isNext = left !== undefined && left.ordinal === commits.ordinal - 1
      return isNext && left?.facts.standing.orgId === orgId ? left.facts : factsOf(orgId, select.get(orgId))
    },
    use: ({ standing, masterKeyId }, was, is) => {
      const usage: OrgUsage = {
        activeServices: standing.usage.activeServices + is.activeServices - was.activeServices,
        activeEndpoints: standing.usage.activeEndpoints + is.activeEndpoints - was.activeEndpoints,
        storedServices: standing.usage.storedServices + is.storedServices - was.storedServices,
      }
      write.run(usage.activeServices, usage.activeEndpoints, usage.storedServices, standing.orgId)
      left = { ordinal: commits.ordinal, facts: { standing: { ...standing, usage }, masterKeyId } }
    },
  }
}

function factsOf(orgId: string, row: FactsRow | undefined): ServiceFacts {
  if (row === undefined) throw new Error('the organisation of a key does not exist')
  const { activeServices, activeEndpoints, storedServices, masterKeyId } = row
  if (masterKeyId === null) throw new Error('no master key is active')
  const usage = { activeServices, activeEndpoints, storedServices }
  const { threshold, windowMinutes } = row
  const autoIncidents = threshold === null || windowMinutes === null ? null : { threshold, windowMinutes }
  return { standing: { orgId, limits: limitsOfRow(row), usage, autoIncidents }, masterKeyId }
}
