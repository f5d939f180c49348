import type { Database } from 'better-sqlite3'
import { type AuditedAction, auditRow } from '../../shared/auditedAction.ts'

/** Adds an action to the audit log, in the transaction of the change. */
export type RecordAction = (audited: AuditedAction) => void

/** Prepares the writing of the audit log. */
export function prepareAudit(writer: Database): RecordAction {
  const insert = writer.prepare(
    `INSERT INTO audit (org_id, at, actor_kind, actor, action, target_kind, target_id, detail)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (audited) => {
    const { orgId, at, actorKind, actor, action, targetKind, targetId, detail } = auditRow(audited)
    insert.run(orgId, at, actorKind, actor, action, targetKind, targetId, detail)
  }
}
