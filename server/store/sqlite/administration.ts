import type { Database } from 'better-sqlite3'
import { ApiError } from '../../../api/contract/apiError.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { timestamp } from '../../domain/environment.ts'
import type { OrgUsage } from '../../domain/planLimits.ts'
import type { AuditedAction } from '../shared/auditedAction.ts'
import {
  LIMIT_COLUMNS,
  type LimitRow,
  limitsOfRow,
  overrideColumns,
  PLAN_LIMIT_COLUMNS,
} from '../shared/limitRow.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import type { AdministrationStore, LimitOverrides } from '../store.ts'
import type { AuditedWrites } from './changes/audit.ts'
import { sqliteKeyring } from './credentials/keyring.ts'
import type { Connections } from './files/openDatabase.ts'
import { sqliteMaintenance } from './maintenance.ts'

/** Organisations, plans, keys and maintenance windows in SQLite. */
export function sqliteAdministration(
  connections: Connections,
  { commits, note, nowMs }: AuditedWrites & { readonly nowMs: () => number },
): AdministrationStore {
  return {
    ...sqliteOrgs(connections, { commits, note, nowMs }),
    ...sqliteKeyring(connections, { commits, note }),
    ...sqliteMaintenance(connections, { commits, note }),
  }
}

type OrgMethods =
  | 'createOrg'
  | 'listOrgs'
  | 'setPlan'
  | 'renameOrg'
  | 'orgUse'
  | 'overrideLimits'
  | 'setDefaultAutoIncidents'
  | 'listPlans'

function sqliteOrgs(
  { reader, writer }: Connections,
  { commits, note, nowMs }: AuditedWrites & { readonly nowMs: () => number },
): Pick<AdministrationStore, OrgMethods> {
  const plan = writer.prepare<[string], string>('SELECT name FROM plans WHERE name = ?').pluck()
  const insert = writer.prepare('INSERT INTO orgs (id, name, plan, created_at) VALUES (?, ?, ?, ?)')
  const setPlan = writer.prepare('UPDATE orgs SET plan = ? WHERE id = ?')
  const rename = writer.prepare('UPDATE orgs SET name = ? WHERE id = ?')
  const use = reader.prepare<[string], LimitRow & OrgUsage & { readonly incidentBytes: number }>(
    `SELECT ${LIMIT_COLUMNS}, o.active_services AS activeServices, o.active_endpoints AS activeEndpoints,
       o.stored_services AS storedServices, o.incident_bytes AS incidentBytes
     FROM orgs o JOIN plans p ON p.name = o.plan WHERE o.id = ?`,
  )
  const setAutoIncidents = writer.prepare(
    'UPDATE orgs SET auto_incident_threshold = ?, auto_incident_window_minutes = ? WHERE id = ?',
  )
  const list = reader.prepare<
    [],
    LimitRow & { id: string; name: string; plan: string; createdAt: string }
  >(`SELECT o.id, o.name, o.plan, o.created_at AS createdAt, ${LIMIT_COLUMNS}
     FROM orgs o JOIN plans p ON p.name = o.plan ORDER BY o.created_at, o.id`)
  const plans = reader.prepare<[], LimitRow & { name: string; hasApiAccess: number }>(`
    SELECT name, has_api_access AS hasApiAccess, ${PLAN_LIMIT_COLUMNS} FROM plans p ORDER BY services_max`)
  const noteOperator = (orgId: string, action: string, detail: AuditedAction['detail']): void =>
    note({ orgId, by: OPERATOR, action, targetId: orgId, nowMs: nowMs(), ...(detail && { detail }) })
  const assertPlan = (name: string): void => {
    if (plan.get(name) === undefined)
      throw new ApiError('not_found', `there is no plan ${name}: "pharos-server plan list" shows them`)
  }
  return {
    createOrg: (org) =>
      commits.run(() => {
        assertPlan(org.plan)
        insert.run(org.id, org.name, org.plan, timestamp(org.nowMs))
        noteOperator(org.id, 'organisation.create', { name: org.name, plan: org.plan })
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
        mustChange(setPlan.run(name, orgId), orgNotFound(orgId))
        noteOperator(orgId, 'organisation.set_plan', { plan: name })
      }),
    renameOrg: ({ orgId, name, by, nowMs }) =>
      commits.run(() => {
        mustChange(rename.run(name, orgId), orgNotFound(orgId))
        note({ orgId, by, action: 'organisation.rename', targetId: orgId, nowMs, detail: { name } })
      }),
    orgUse: async (orgId) => {
      const row = use.get(orgId)
      if (row === undefined) throw orgNotFound(orgId)
      const { activeServices, activeEndpoints, storedServices, incidentBytes } = row
      const usage = { activeServices, activeEndpoints, storedServices }
      return { limits: limitsOfRow(row), usage, incidentBytes }
    },
    overrideLimits: (orgId, overrides) =>
      commits.run(() => {
        if (override(writer, orgId, overrides))
          noteOperator(orgId, 'organisation.set_limits', { ...overrides })
      }),
    setDefaultAutoIncidents: (orgId, settings) =>
      commits.run(() => {
        const { threshold = null, windowMinutes = null } = settings ?? {}
        mustChange(setAutoIncidents.run(threshold, windowMinutes, orgId), orgNotFound(orgId))
        noteOperator(orgId, 'organisation.set_auto_incidents', { threshold, windowMinutes })
      }),
    listPlans: async () =>
      plans.all().map((row) => ({
        name: row.name,
        hasApiAccess: row.hasApiAccess === 1,
        ...limitsOfRow(row),
      })),
  }
}

/** Whether there was something to override. */
function override(writer: Database, orgId: string, overrides: LimitOverrides): boolean {
  const changes = overrideColumns(overrides)
  if (changes.length === 0) return false
  const assignments = changes.map(({ column }) => `${column} = ?`).join(', ')
  const update = writer.prepare(`UPDATE orgs SET ${assignments} WHERE id = ?`)
  const result = update.run(...changes.map(({ value }) => value), orgId)
  mustChange(result, orgNotFound(orgId))
  return true
}

function mustChange(result: { readonly changes: number }, refusal: ApiError): void {
  if (result.changes === 0) throw refusal
}
