import type { Incident } from '../../../api/contract/incident.ts'
import type { Environment } from '../../domain/environment.ts'
import { subscribedChannels } from '../notifications/channelRows.ts'
import { insertEvent } from '../notifications/insertEvent.ts'
import { namedOrg } from '../scripts/orgScripts.ts'
import { rows, type Script } from '../scripts/script.ts'
import { incidentEvents } from '../shared/events.ts'

/**
 * Writes the events of the updates of `incident` from index `from` on, in the transaction that stores them. Without a
 * channel that wants one, none is written.
 */
export function* announceIncident(
  orgId: string,
  { incident, from }: { readonly incident: Incident; readonly from: number },
  tools: Pick<Environment, 'nowMs' | 'uuid'>,
): Script<void> {
  const channels = yield* subscribedChannels(orgId)
  if (channels.length === 0) return
  const services = yield* rows<{ id: string; name: string }>(
    `SELECT id, response ->> 'name' AS name FROM services WHERE id IN (SELECT value FROM json_each($1))`,
    [incident.service_ids],
  )
  const names = new Map(services.map(({ id, name }) => [id, name]))
  const nameOf = (id: string) => names.get(id) ?? null
  const about = { org: yield* namedOrg(orgId), incident, from }
  for (const event of incidentEvents(about, channels, nameOf, tools)) yield* insertEvent(event)
}
