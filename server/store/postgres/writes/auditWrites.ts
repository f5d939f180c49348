import { OPERATOR } from '../../../domain/accounts/actor.ts'
import { type AuditedAction, auditRow } from '../../shared/auditedAction.ts'
import { uuidOrNull } from '../../shared/uuid.ts'
import type { Sql } from '../connections/sql.ts'

/** The columns of an entry, in the order of `auditValues`. */
export const AUDIT_COLUMNS = 'at, actor_kind, actor, action, target_kind, target_id, detail'

/** Values of an action for AUDIT_COLUMNS; the organisation is not among them. Pure. */
export function auditValues(audited: Omit<AuditedAction, 'orgId'>): readonly (string | null)[] {
  const { at, actorKind, actor, action, targetKind, targetId, detail } = auditRow({ ...audited, orgId: '' })
  return [at, actorKind, actor, action, targetKind, targetId, detail]
}

/** Parameters for AUDIT_COLUMNS from `$first` on. Pure. */
export function auditParameters(first: number): string {
  return Array.from({ length: 7 }, (_, index) => `$${first + index}::text`).join(', ')
}

/**
 * Runs `done`, a common table expression of that name that returns a row when it changed something, and then records
 * `audited` by the operator in every organisation. Whether something changed.
 */
export async function changeForAllOrgs(
  sql: Sql,
  { done, values }: { readonly done: string; readonly values: readonly (string | Buffer | null)[] },
  audited: Pick<AuditedAction, 'action' | 'targetId' | 'nowMs' | 'detail'>,
): Promise<boolean> {
  const rows = await sql.rows(
    `WITH ${done}, noted AS (INSERT INTO audit (org_id, ${AUDIT_COLUMNS})
       SELECT orgs.id, ${auditParameters(values.length + 1)} FROM orgs WHERE EXISTS (SELECT 1 FROM done))
     SELECT 1 AS done FROM done LIMIT 1`,
    [...values, ...auditValues({ ...audited, by: OPERATOR })],
  )
  return rows.length > 0
}

/** Adds `audited` to the audit log, in the transaction of the change. */
export async function recordAction(sql: Sql, { orgId, ...audited }: AuditedAction): Promise<void> {
  await sql.rows(`INSERT INTO audit (org_id, ${AUDIT_COLUMNS}) VALUES ($1, ${auditParameters(2)})`, [
    uuidOrNull(orgId),
    ...auditValues(audited),
  ])
}
