import type { Database } from 'better-sqlite3'
import { ApiError } from '../../../api/contract/apiError.ts'
import { timestamp } from '../../domain/environment.ts'
import type { Mutations } from './commits/groupCommit.ts'
import { noOrg } from '../shared/noOrg.ts'
import type { Connections } from './files/openDatabase.ts'
import { ALL_REGIONS, LIMIT_COLUMNS, type LimitRow, limitsOfRow } from './serviceFacts.ts'
import { sqliteMaintenance } from './maintenance.ts'
import type { AdministrationStore, LimitOverrides, StoredKey } from '../store.ts'

/** Organisations, plans, keys and maintenance windows in SQLite. */
export function sqliteAdministration(connections: Connections, commits: Mutations): AdministrationStore {
  return {
    ...sqliteOrgs(connections, commits),
    ...sqliteKeyring(connections, commits),
    ...sqliteMaintenance(connections, commits),
  }
}

type OrgMethods =
  | 'createOrg'
  | 'listOrgs'
  | 'setPlan'
  | 'overrideLimits'
  | 'setDefaultAutoIncidents'
  | 'listPlans'

function sqliteOrgs(
  { reader, writer }: Connections,
  commits: Mutations,
): Pick<AdministrationStore, OrgMethods> {
  const plan = writer.prepare<[string], string>('SELECT name FROM plans WHERE name = ?').pluck()
  const insert = writer.prepare('INSERT INTO orgs (id, name, plan, created_at) VALUES (?, ?, ?, ?)')
  const setPlan = writer.prepare('UPDATE orgs SET plan = ? WHERE id = ?')
  const setAutoIncidents = writer.prepare(
    'UPDATE orgs SET auto_incident_threshold = ?, auto_incident_window_minutes = ? WHERE id = ?',
  )
  const list = reader.prepare<
    [],
    LimitRow & { id: string; name: string; plan: string; createdAt: string }
  >(`SELECT o.id, o.name, o.plan, o.created_at AS createdAt, ${LIMIT_COLUMNS}
     FROM orgs o JOIN plans p ON p.name = o.plan ORDER BY o.created_at, o.id`)
  const plans = reader.prepare<[], LimitRow & { name: string; hasApiAccess: number }>(`
    SELECT name, has_api_access AS hasApiAccess, services_max AS servicesMax,
      endpoints_max AS endpointsMax, service_endpoints_max AS serviceEndpointsMax,
      interval_secs_min AS intervalSecsMin, incidents_mib_max AS incidentsMibMax,
      results_days AS resultsDays, regions_allowed AS regionsAllowed
    FROM plans ORDER BY services_max`)
  const assertPlan = (name: string): void => {
    if (plan.get(name) === undefined) throw new ApiError('not_found', `there is no plan ${name}`)
  }
  return {
    createOrg: (org) =>
      commits.run(() => {
        assertPlan(org.plan)
        insert.run(org.id, org.name, org.plan, timestamp(org.nowMs))
      }),
    listOrgs: async () =>
      list.all().map((row) => ({
        id: row.id,
        name: row.name,
        plan: row.plan,
        createdAt: row.createdAt,
        limits: limitsOfRow(row),
      })),
    setPlan: (orgId, name) =>
      commits.run(() => {
        assertPlan(name)
        mustChange(setPlan.run(name, orgId), `there is no organisation ${orgId}`)
      }),
    overrideLimits: (orgId, overrides) => commits.run(() => override(writer, orgId, overrides)),
    setDefaultAutoIncidents: (orgId, settings) =>
      commits.run(() => {
        const { threshold = null, windowMinutes = null } = settings ?? {}
        mustChange(setAutoIncidents.run(threshold, windowMinutes, orgId), `there is no organisation ${orgId}`)
      }),
    listPlans: async () =>
      plans.all().map((row) => ({
        name: row.name,
        hasApiAccess: row.hasApiAccess === 1,
        ...limitsOfRow(row),
      })),
  }
}

const OVERRIDE_COLUMNS = {
  servicesMax: 'services_max',
  endpointsMax: 'endpoints_max',
  serviceEndpointsMax: 'service_endpoints_max',
  intervalSecsMin: 'interval_secs_min',
  incidentsMibMax: 'incidents_mib_max',
  resultsDays: 'results_days',
  regionsAllowed: 'regions_allowed',
} as const satisfies Record<keyof LimitOverrides, string>

function override(writer: Database, orgId: string, overrides: LimitOverrides): void {
  const values: Record<string, number | string | null | undefined> = {
    ...overrides,
    regionsAllowed: regionsText(overrides.regionsAllowed),
  }
  const changes = Object.entries(OVERRIDE_COLUMNS).flatMap(([field, column]) => {
    const value = values[field]
    return value === undefined ? [] : [{ column, value }]
  })
  if (changes.length === 0) return
  const assignments = changes.map(({ column }) => `${column} = ?`).join(', ')
  const update = writer.prepare(`UPDATE orgs SET ${assignments} WHERE id = ?`)
  const result = update.run(...changes.map(({ value }) => value), orgId)
  mustChange(result, `there is no organisation ${orgId}`)
}

function regionsText(regions: LimitOverrides['regionsAllowed']): string | null | undefined {
  if (regions === undefined || regions === null) return regions
  return regions === 'all' ? ALL_REGIONS : regions.join(',')
}

function sqliteKeyring(
  { reader, writer }: Connections,
  commits: Mutations,
): Pick<AdministrationStore, 'createKey' | 'listKeys' | 'revokeKey'> {
  const org = writer.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const insert = writer.prepare(`
    INSERT INTO api_keys (id, org_id, key_hash, last4, scope, created_by, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const known = reader.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const list = reader.prepare<[string], StoredKey>(`
    SELECT id, org_id AS orgId, last4, scope, created_at AS createdAt, revoked_at AS revokedAt,
      created_by AS createdBy
    FROM api_keys WHERE org_id = ? ORDER BY created_at, id`)
  const revoke = writer.prepare('UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?')
  return {
    createKey: (key) =>
      commits.run(() => {
        if (org.get(key.orgId) === undefined) throw noOrg(key.orgId)
        const createdAt = timestamp(key.nowMs)
        insert.run(key.id, key.orgId, key.hash, key.last4, key.scope, key.createdBy, createdAt)
      }),
    listKeys: async (orgId) => {
      if (known.get(orgId) === undefined) throw noOrg(orgId)
      return list.all(orgId)
    },
    revokeKey: (keyId, nowMs) =>
      commits.run(() => mustChange(revoke.run(timestamp(nowMs), keyId), `there is no key ${keyId}`)),
  }
}

function mustChange(result: { readonly changes: number }, problem: string): void {
  if (result.changes === 0) throw new ApiError('not_found', problem)
}
