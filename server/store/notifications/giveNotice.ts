import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import type { Environment } from '../../domain/environment.ts'
import type { NamedEndpoint } from '../../domain/notifications/payload.ts'
import type { AppliedEffect, Transition } from '../monitoringStore.ts'
import { definitionJson } from '../scripts/definitionJson.ts'
import { namedOrg } from '../scripts/orgScripts.ts'
import { row, rows, type Script } from '../scripts/script.ts'
import { certificateEvents } from '../shared/events.ts'
import { uuidsIn } from '../shared/uuid.ts'
import { subscribedChannels } from './channelRows.ts'
import { insertEvent } from './insertEvent.ts'

/**
 * Applies a transition of an expiring certificate: stores a notice and its events, in the caller's transaction, unless
 * this notice, or one of a later threshold, was given before.
 */
export function* giveNotice(
  { body }: Transition,
  tools: Pick<Environment, 'nowMs' | 'uuid'>,
): Script<AppliedEffect> {
  // True because the results thread wrote the body.
  const notice = JSON.parse(body) as CertificateNotice
  const { org_id, host, port, fingerprint, threshold_s, not_after_s, endpoint_ids } = notice
  const stored = yield* row(
    `INSERT INTO certificate_notices (org_id, host, port, fingerprint, threshold_s, not_after_s)
     SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS
       (SELECT 1 FROM certificate_notices WHERE org_id = $1 AND host = $2 AND port = $3 AND fingerprint = $4
          AND threshold_s <= $5) RETURNING port`,
    [org_id, host, port, fingerprint, threshold_s, not_after_s],
  )
  if (stored === undefined) return { kind: 'nothing' }
  const channels = yield* subscribedChannels(org_id)
  if (channels.length === 0) return { kind: 'noticed' }
  const about = { org: yield* namedOrg(org_id), endpoints: yield* namedEndpoints(endpoint_ids) }
  for (const event of certificateEvents(notice, about, channels, tools)) yield* insertEvent(event)
  return { kind: 'noticed' }
}

/** Endpoints whose services exist, in the order of `ids`. */
function* namedEndpoints(ids: readonly string[]): Script<readonly NamedEndpoint[]> {
  const definition = definitionJson('s.response')
  const found = yield* rows<{ id: string; serviceId: string; serviceName: string; name: string | null }>(
    `SELECT n.endpoint_id AS id, s.id AS "serviceId", ${definition} ->> 'name' AS "serviceName",
       (SELECT e.value ->> 'name' FROM json_array_elements(${definition} -> 'endpoints') e
        WHERE e.value ->> 'id' = n.endpoint_id::text) AS name
     FROM numbered_endpoints n JOIN services s ON s.id = n.service_id
     WHERE n.endpoint_id IN (SELECT value::uuid FROM json_array_elements_text($1::json))`,
    [JSON.stringify(uuidsIn(ids))],
  )
  const byId = new Map(found.map((endpoint) => [endpoint.id, endpoint]))
  return ids.flatMap((id) => {
    const known = byId.get(id)
    if (known === undefined) return []
    return [{ id, name: known.name, service: { id: known.serviceId, name: known.serviceName } }]
  })
}
