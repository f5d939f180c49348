import type { Severity } from '../../../api/contract/incidentTerms.ts'
import { rows, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import { type IncidentAuthor, type IncidentStore, OPEN_ENTRIES_MAX } from '../store.ts'
import type { IncidentSql } from './incidentSql.ts'

interface OpenRow {
  readonly serviceId: string
  readonly id: string
  readonly displayId: string
  readonly severity: Severity
}

/** Reads of incidents that the API does not have. */
export function incidentReads({ read }: Scripts, sql: IncidentSql) {
  return {
    openIncidents: (orgId) =>
      read(function* () {
        const newestFirst = yield* rows<OpenRow>(
          `SELECT s.service_id AS "serviceId", i.id, 'INC-' || i.number AS "displayId", i.severity
           FROM ${sql.incidents('incidents_by_section')} ${sql.joinServices}
           WHERE i.org_id = $1 AND i.kind = 'incident' AND (i.status = 'resolved') = false
           ORDER BY i.position DESC LIMIT $2`,
          [uuidOrNull(orgId), OPEN_ENTRIES_MAX],
        )
        const open = new Map<
          string,
          { newest: { id: string; display_id: string }; severities: Set<Severity> }
        >()
        for (const { serviceId, id, displayId, severity } of newestFirst) {
          const known = open.get(serviceId) ?? {
            newest: { id, display_id: displayId },
            severities: new Set(),
          }
          open.set(serviceId, known)
          known.severities.add(severity)
        }
        return new Map(
          [...open].map(([id, { newest, severities }]) => [id, { newest, severities: [...severities] }]),
        )
      }),
    incidentAuthors: (incidentId) =>
      read(function* () {
        const found = yield* rows<IncidentAuthor & { readonly updateId: string }>(
          `SELECT u.id AS "updateId", actor_kind AS kind, CASE actor_kind
             WHEN 'person' THEN (SELECT email FROM people WHERE people.id::text = actor)
             WHEN 'key' THEN (SELECT last4 FROM api_keys WHERE api_keys.id::text = actor) END AS name
           FROM ${sql.authoredUpdates} WHERE u.incident_id = $1 AND actor_kind IS NOT NULL`,
          [uuidOrNull(incidentId)],
        )
        return new Map(found.map(({ updateId, ...author }) => [updateId, author]))
      }),
  } satisfies Partial<IncidentStore>
}
