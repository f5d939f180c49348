import { ApiError } from '../../../api/contract/apiError.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { timestamp } from '../../domain/environment.ts'
import type { OrgUsage } from '../../domain/planLimits.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import { row, rows, run, type Script, type Scripts } from '../scripts/script.ts'
import type { AuditedAction } from '../shared/auditedAction.ts'
import {
  LIMIT_COLUMNS,
  type LimitRow,
  limitsOfRow,
  overrideColumns,
  PLAN_LIMIT_COLUMNS,
} from '../shared/limitRow.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { AdministrationStore, StoredOrg } from '../store.ts'

/** Organisations and plans. */
export function organisations({ read, inTransaction, withOrgLocked }: Scripts, nowMs: () => number) {
  const change = (orgId: string, script: () => Script<void>): Promise<void> =>
    withOrgLocked(orgId, orgNotFound(orgId), script)
  const note = (orgId: string, verb: string, detail: NonNullable<AuditedAction['detail']>): Script<void> => {
    const action = `organisation.${verb}`
    return recordAction({ orgId, by: OPERATOR, action, targetId: orgId, nowMs: nowMs(), detail })
  }
  return {
    createOrg: ({ id, name, plan, nowMs: createdMs }) =>
      inTransaction(function* () {
        yield* assertPlan(plan)
        const text = 'INSERT INTO orgs (id, name, plan, created_at) VALUES ($1, $2, $3, $4)'
        yield* run(text, [id, name, plan, timestamp(createdMs)])
        yield* note(id, 'create', { name, plan })
      }),
    listOrgs: () =>
      read(function* () {
        const found = yield* rows<LimitRow & Omit<StoredOrg, 'limits'>>(
          `SELECT o.id, o.name, o.plan, o.created_at AS "createdAt", ${LIMIT_COLUMNS}
           FROM orgs o JOIN plans p ON p.name = o.plan ORDER BY o.created_at, o.id`,
          [],
        )
        return found.map(({ id, name, plan, createdAt, ...limits }) => ({
          ...{ id, name, plan, createdAt },
          limits: limitsOfRow(limits),
        }))
      }),
    setPlan: (orgId, plan) =>
      change(orgId, function* () {
        yield* assertPlan(plan)
        yield* run('UPDATE orgs SET plan = $2 WHERE id = $1', [orgId, plan])
        yield* note(orgId, 'set_plan', { plan })
      }),
    renameOrg: ({ orgId, name, by, nowMs: renamedMs }) =>
      change(orgId, function* () {
        yield* run('UPDATE orgs SET name = $2 WHERE id = $1', [orgId, name])
        const detail = { name }
        const action = 'organisation.rename'
        yield* recordAction({ orgId, by, action, targetId: orgId, nowMs: renamedMs, detail })
      }),
    overrideLimits: (orgId, overrides) =>
      change(orgId, function* () {
        const changes = overrideColumns(overrides)
        if (changes.length === 0) return
        const assignments = changes.map(({ column }, index) => `${column} = $${index + 2}`).join(', ')
        const values = changes.map(({ value }) => value)
        yield* run(`UPDATE orgs SET ${assignments} WHERE id = $1`, [orgId, ...values])
        yield* note(orgId, 'set_limits', { ...overrides })
      }),
    setDefaultAutoIncidents: (orgId, settings) =>
      change(orgId, function* () {
        const { threshold = null, windowMinutes = null } = settings ?? {}
        yield* run(
          'UPDATE orgs SET auto_incident_threshold = $2, auto_incident_window_minutes = $3 WHERE id = $1',
          [orgId, threshold, windowMinutes],
        )
        yield* note(orgId, 'set_auto_incidents', { threshold, windowMinutes })
      }),
    orgUse: (orgId) =>
      read(function* () {
        const found = yield* row<LimitRow & OrgUsage & { readonly incidentBytes: number }>(
          `SELECT ${LIMIT_COLUMNS}, o.active_services AS "activeServices", o.active_endpoints AS "activeEndpoints",
             o.stored_services AS "storedServices", o.incident_bytes AS "incidentBytes"
           FROM orgs o JOIN plans p ON p.name = o.plan WHERE o.id = $1`,
          [uuidOrNull(orgId)],
        )
        if (found === undefined) throw orgNotFound(orgId)
        const { activeServices, activeEndpoints, storedServices, incidentBytes } = found
        const usage = { activeServices, activeEndpoints, storedServices }
        return { limits: limitsOfRow(found), usage, incidentBytes }
      }),
    listPlans: () =>
      read(function* () {
        const found = yield* rows<LimitRow & { name: string; hasApiAccess: boolean | number }>(
          `SELECT p.name, p.has_api_access AS "hasApiAccess", ${PLAN_LIMIT_COLUMNS} FROM plans p
           ORDER BY services_max`,
          [],
        )
        return found.map(({ name, hasApiAccess, ...limits }) => ({
          ...{ name, hasApiAccess: Boolean(hasApiAccess) },
          ...limitsOfRow(limits),
        }))
      }),
  } satisfies Partial<AdministrationStore>
}

function* assertPlan(name: string): Script<void> {
  if ((yield* row('SELECT name FROM plans WHERE name = $1', [name])) !== undefined) return
  throw new ApiError('not_found', `there is no plan ${name}: "pharos-server plan list" shows them`)
}
