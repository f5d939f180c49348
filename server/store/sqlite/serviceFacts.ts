import type { Database } from 'better-sqlite3'
import type { OrgUsage } from '../../domain/planLimits.ts'
import { LIMIT_COLUMNS, type LimitRow, limitsOfRow } from '../shared/limitRow.ts'
import { usageAfter } from '../shared/serviceRow.ts'
import type { ServiceFacts } from '../store.ts'
import type { GroupCommit } from './commits/groupCommit.ts'

interface FactsRow extends LimitRow, OrgUsage {
  readonly masterKeyId: string | null
  readonly threshold: number | null
  readonly windowMinutes: number | null
}

/** The data for decisions about services, in transactions of one GroupCommit. */
export interface ServiceFactsStore {
  /** Throws when there is no such organisation, and while no master key is active. */
  readonly read: (orgId: string) => ServiceFacts
  /**
   * Updates the usage of an organisation after the usage of a service changed from `was` to `is`; `facts` were just
   * read.
   */
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
      return isNext && left?.facts.quota.orgId === orgId ? left.facts : factsOf(orgId, select.get(orgId))
    },
    use: ({ quota, masterKeyId }, was, is) => {
      const usage = usageAfter(quota.usage, was, is)
      write.run(usage.activeServices, usage.activeEndpoints, usage.storedServices, quota.orgId)
      left = { ordinal: commits.ordinal, facts: { quota: { ...quota, usage }, masterKeyId } }
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
  return { quota: { orgId, limits: limitsOfRow(row), usage, autoIncidents }, masterKeyId }
}
