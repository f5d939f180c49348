import { timestamp } from '../../domain/environment.ts'
import type { AuditStore } from '../notificationStore.ts'
import { rows, type Scripts } from '../scripts/script.ts'
import { type AuditRow, withDetail } from '../shared/auditedAction.ts'
import { uuidOrNull } from '../shared/uuid.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

const COLUMNS = `seq, at, actor_kind AS "actorKind", actor, action, target_kind AS "targetKind",
  target_id AS "targetId", detail`

/** The audit log. */
export function auditLog({ read }: Scripts): AuditStore {
  return {
    listAudit: (orgId, countMax) =>
      read(function* () {
        const text = `SELECT ${COLUMNS} FROM audit WHERE org_id = $1 ORDER BY seq DESC LIMIT $2`
        return (yield* rows<AuditRow>(text, [uuidOrNull(orgId), countMax])).map(withDetail)
      }),
    findAudit: async (orgId, filter, { beforeSeq = Number.MAX_SAFE_INTEGER, countMax }) => {
      const { actorKind = null, action = null, targetId = null, from = null, to } = filter
      // PostgreSQL neither stores nor accepts a null character.
      if (`${action}${targetId}`.includes('\0')) return []
      const until = to === undefined ? null : timestamp(Date.parse(to) + DAY_MS)
      const found = await read(() =>
        rows<AuditRow & { readonly actorName: string | null }>(
          `SELECT ${COLUMNS}, CASE actor_kind
             WHEN 'person' THEN (SELECT email FROM people WHERE people.id::text = actor)
             WHEN 'key' THEN (SELECT last4 FROM api_keys WHERE api_keys.id::text = actor) END AS "actorName"
           FROM audit WHERE org_id = $1 AND seq < $2 AND ($3::text IS NULL OR actor_kind = $3)
             AND ($4::text IS NULL OR action = $4 OR target_kind = $4) AND ($5::text IS NULL OR target_id = $5)
             AND ($6::text IS NULL OR at >= $6) AND ($7::text IS NULL OR at < $7)
           ORDER BY seq DESC LIMIT $8`,
          [uuidOrNull(orgId), beforeSeq, actorKind, action, targetId, from, until, countMax],
        ),
      )
      return found.map(withDetail)
    },
  }
}
