import { ApiError } from '../../../api/contract/apiError.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { timestamp } from '../../domain/environment.ts'
import type { OrgUsage } from '../../domain/planLimits.ts'
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
import { rowOf } from './connections/sql.ts'
import { AUDIT_COLUMNS, auditParameters, auditValues } from './writes/auditWrites.ts'
import { ORG_COLUMNS } from './writes/orgColumns.ts'
import type { StoreParts } from './writes/storeParts.ts'

type Methods =
  | 'createOrg'
  | 'listOrgs'
  | 'setPlan'
  | 'renameOrg'
  | 'orgUse'
  | 'overrideLimits'
  | 'setDefaultAutoIncidents'
  | 'listPlans'

/** Organisations and plans in PostgreSQL. Their changes share the queues of services, whose limits they change. */
export function postgresOrganisations({
  pools: { write, read },
  queues,
  nowMs,
}: StoreParts): Pick<AdministrationStore, Methods> {
  return {
    createOrg: async ({ id, name, plan, nowMs: at }) => {
      const detail = { name, plan }
      const audited = { by: OPERATOR, action: 'organisation.create', targetId: id, nowMs: nowMs(), detail }
      const made = await write.rows(
        `WITH made AS (INSERT INTO orgs (id, name, plan, created_at)
           SELECT $1, $2, p.name, $4 FROM plans p WHERE p.name = $3 RETURNING id)
         , noted AS (INSERT INTO audit (org_id, ${AUDIT_COLUMNS}) SELECT id, ${auditParameters(5)} FROM made)
         SELECT id FROM made`,
        [id, name, plan, timestamp(at), ...auditValues(audited)],
      )
      if (made.length === 0) throw planNotFound(plan)
    },
    listOrgs: async () => {
      const rows = await read.rows<LimitRow & Omit<StoredOrg, 'limits'>>(
        `SELECT o.id, o.name, o.plan, o.created_at AS "createdAt", ${LIMIT_COLUMNS}
         FROM orgs o JOIN plans p ON p.name = o.plan ORDER BY o.created_at, o.id`,
      )
      return rows.map(({ id, name, plan, createdAt, ...row }) => ({
        ...{ id, name, plan, createdAt },
        limits: limitsOfRow(row),
      }))
    },
    setPlan: (orgId, plan) =>
      queues.run(orgId, {
        reads: { plans: [plan] },
        decide: (draft) => {
          if (!draft.state.plans.has(plan)) throw planNotFound(plan)
          draft.setColumns({ plan })
          draft.note({
            ...{ by: OPERATOR, action: 'organisation.set_plan', targetId: orgId, nowMs: nowMs() },
            detail: { plan },
          })
        },
      }),
    renameOrg: ({ orgId, name, by, nowMs: at }) =>
      queues.run(orgId, {
        reads: {},
        decide: (draft) => {
          draft.setColumns({ name })
          draft.note({ by, action: 'organisation.rename', targetId: orgId, nowMs: at, detail: { name } })
        },
      }),
    overrideLimits: (orgId, overrides) =>
      queues.run(orgId, {
        reads: {},
        decide: (draft) => {
          const changes = overrideColumns(overrides)
          if (changes.length === 0) return
          draft.setColumns(
            Object.fromEntries(
              changes.map(({ column, value }) => [
                ORG_COLUMNS.find((known) => known.column === column)?.field,
                value,
              ]),
            ),
          )
          draft.note({
            ...{ by: OPERATOR, action: 'organisation.set_limits', targetId: orgId, nowMs: nowMs() },
            detail: { ...overrides },
          })
        },
      }),
    setDefaultAutoIncidents: (orgId, settings) =>
      queues.run(orgId, {
        reads: {},
        decide: (draft) => {
          const { threshold = null, windowMinutes = null } = settings ?? {}
          draft.setColumns({ threshold, windowMinutes })
          draft.note({
            ...{ by: OPERATOR, action: 'organisation.set_auto_incidents', targetId: orgId, nowMs: nowMs() },
            detail: { threshold, windowMinutes },
          })
        },
      }),
    orgUse: async (orgId) => {
      const row = await rowOf<UseRow>(
        read,
        `SELECT ${LIMIT_COLUMNS}, o.active_services AS "activeServices", o.active_endpoints AS "activeEndpoints",
           o.stored_services AS "storedServices", o.incident_bytes AS "incidentBytes"
         FROM orgs o JOIN plans p ON p.name = o.plan WHERE o.id = $1`,
        [uuidOrNull(orgId)],
      )
      if (row === undefined) throw orgNotFound(orgId)
      const { activeServices, activeEndpoints, storedServices, incidentBytes } = row
      const usage = { activeServices, activeEndpoints, storedServices }
      return { limits: limitsOfRow(row), usage, incidentBytes }
    },
    listPlans: async () => {
      const rows = await read.rows<LimitRow & { name: string; hasApiAccess: boolean }>(
        `SELECT p.name, p.has_api_access AS "hasApiAccess", ${PLAN_LIMIT_COLUMNS} FROM plans p
         ORDER BY services_max`,
      )
      return rows.map(({ name, hasApiAccess, ...row }) => ({ name, hasApiAccess, ...limitsOfRow(row) }))
    },
  }
}

interface UseRow extends LimitRow, OrgUsage {
  readonly incidentBytes: number
}

function planNotFound(name: string): ApiError {
  return new ApiError('not_found', `there is no plan ${name}: "pharos-server plan list" shows them`)
}
