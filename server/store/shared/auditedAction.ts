import type { Actor } from '../../domain/accounts/actor.ts'
import { timestamp } from '../../domain/environment.ts'
import type { AuditEntry } from '../notificationStore.ts'

/** Retention of audit entries (milliseconds). Gap G53. */
export const AUDIT_KEPT_MS = 400 * 24 * 60 * 60 * 1_000
/** Maximum number of entries of an organisation in the audit log. */
export const AUDIT_ENTRIES_MAX = 100_000

/** An action that the audit log records. */
export interface AuditedAction {
  readonly orgId: string
  readonly by: Actor
  /** Its first word is the kind of the target: `channel.create`. */
  readonly action: string
  readonly targetId: string
  readonly nowMs: number
  /** Never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** The row of `audited` in the audit log. Pure. */
export function auditRow({ orgId, by, action, targetId, nowMs, detail = {} }: AuditedAction) {
  const actor = 'id' in by ? by.id : null
  const targetKind = action.slice(0, action.indexOf('.'))
  const at = timestamp(nowMs)
  return {
    orgId,
    at,
    actorKind: by.kind,
    actor,
    action,
    targetKind,
    targetId,
    detail: JSON.stringify(detail),
  }
}

/** A row of the audit log. */
export type AuditRow = Omit<AuditEntry, 'detail'> & { readonly detail: string }

/** `row` with its detail parsed. Pure. */
export function withDetail<Row extends AuditRow>(row: Row) {
  // True because only details are stored.
  return { ...row, detail: JSON.parse(row.detail) as AuditEntry['detail'] }
}
