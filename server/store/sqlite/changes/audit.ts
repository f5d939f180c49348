import type { Database } from 'better-sqlite3'
import { OPERATOR } from '../../../domain/accounts/actor.ts'
import { timestamp } from '../../../domain/environment.ts'
import type { AuditStore, NamedAuditEntry } from '../../notificationStore.ts'
import {
  AUDIT_ENTRIES_MAX,
  AUDIT_KEPT_MS,
  type AuditedAction,
  type AuditRow,
  auditRow,
  withDetail,
} from '../../shared/auditedAction.ts'
import type { Mutations } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** Adds an action to the audit log, in the transaction of the change. */
export type RecordAction = (audited: AuditedAction) => void

/** What writes need that the audit log records. */
export interface AuditedWrites {
  readonly commits: Mutations
  readonly note: RecordAction
}

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

/** Adds an action by the operator that concerns every organisation. */
export type RecordForAllOrgs = (
  audited: Pick<AuditedAction, 'action' | 'targetId' | 'nowMs' | 'detail'>,
) => void

/** Prepares entries in the audit log of every organisation. */
export function prepareAuditForAll(writer: Database, note: RecordAction): RecordForAllOrgs {
  const orgs = writer.prepare<[], string>('SELECT id FROM orgs').pluck()
  return (audited) => {
    for (const orgId of orgs.all()) note({ ...audited, orgId, by: OPERATOR })
  }
}

/** Records a restore for every organisation of the copy, unless that is older than the audit log. */
export function noteRestore(copy: Database, nowMs: number): void {
  const hasLog = copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit'").get() !== undefined
  if (!hasLog) return
  const noteForAll = prepareAuditForAll(copy, prepareAudit(copy))
  noteForAll({ action: 'database.restore', targetId: '', nowMs })
}

/** The audit log in SQLite. */
export function sqliteAudit({ reader }: Connections): AuditStore {
  const list = reader.prepare<[string, number], AuditRow>(
    `SELECT seq, at, actor_kind AS actorKind, actor, action, target_kind AS targetKind, target_id AS targetId, detail
     FROM audit WHERE org_id = ? ORDER BY seq DESC LIMIT ?`,
  )
  const find = reader.prepare<[Record<string, unknown>], AuditRow & { readonly actorName: string | null }>(
    `SELECT seq, at, actor_kind AS actorKind, actor, action, target_kind AS targetKind, target_id AS targetId, detail,
       CASE actor_kind WHEN 'person' THEN (SELECT email FROM people WHERE id = actor)
         WHEN 'key' THEN (SELECT last4 FROM api_keys WHERE id = actor) END AS actorName
     FROM audit WHERE org_id = @orgId AND seq < @beforeSeq
       AND (@actorKind IS NULL OR actor_kind = @actorKind)
       AND (@action IS NULL OR action = @action OR target_kind = @action)
       AND (@targetId IS NULL OR target_id = @targetId)
       AND (@from IS NULL OR at >= @from) AND (@to IS NULL OR at < @to)
     ORDER BY seq DESC LIMIT @countMax`,
  )
  return {
    listAudit: async (orgId, countMax) => list.all(orgId, countMax).map(withDetail),
    findAudit: async (orgId, filter, { beforeSeq = Number.MAX_SAFE_INTEGER, countMax }) => {
      const { actorKind = null, action = null, targetId = null, from = null, to } = filter
      const day = { from, to: to === undefined ? null : timestamp(Date.parse(to) + DAY_MS) }
      const rows = find.all({ orgId, actorKind, action, targetId, ...day, beforeSeq, countMax })
      return rows.map((row): NamedAuditEntry => withDetail(row))
    },
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
