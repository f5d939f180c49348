import type { Database } from 'better-sqlite3'
import { timestamp } from '../../../domain/environment.ts'
import { AUDIT_ENTRIES_MAX, AUDIT_KEPT_MS, type AuditedAction, auditRow } from '../../shared/auditedAction.ts'

/** Adds an action to the audit log, in the transaction of the change. */
export type RecordAction = (audited: AuditedAction) => void

/** Prepares the writing of the audit log. */
export function prepareAudit(writer: Database): RecordAction {
  const insert = writer.prepare(
    `INSERT INTO audit (org_id, at, actor_kind, actor, action, target_kind, target_id, detail)
     VALUES (@orgId, @at, @actorKind, @actor, @action, @targetKind, @targetId, @detail)`,
  )
  return (audited) => {
    insert.run(auditRow(audited))
  }
}

/** Prepares the removal of old entries, at most `countMax` of each kind at a time; returns their number. */
export function prepareAuditCleanup(writer: Database, countMax: number): (nowMs: number) => number {
  const old = writer.prepare(
    'DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE at < ? ORDER BY at LIMIT ?)',
  )
  const crowded = writer.prepare<[number, number], { orgId: string; surplus: number }>(
    'SELECT org_id AS orgId, count(*) - ? AS surplus FROM audit GROUP BY org_id HAVING count(*) > ?',
  )
  const trim = writer.prepare(
    'DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE org_id = ? ORDER BY seq LIMIT ?)',
  )
  return (nowMs) => {
    let removed = old.run(timestamp(nowMs - AUDIT_KEPT_MS), countMax).changes
    for (const { orgId, surplus } of crowded.all(AUDIT_ENTRIES_MAX, AUDIT_ENTRIES_MAX)) {
      removed += trim.run(orgId, Math.min(surplus, countMax)).changes
    }
    return removed
  }
}
