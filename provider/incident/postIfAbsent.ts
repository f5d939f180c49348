/** Incidents are public, so after a lost response a post is searched for before it is repeated. */
import { randomUUID } from 'node:crypto'
import type { Incident, IncidentRequest, IncidentUpdateRequest } from '../../api/contract/incident.ts'
import { type DiagnosticError, failure } from '../protocol/authoring/diagnostics.ts'
import { resendIfAbsent } from '../service/apply/resendIfAbsent.ts'
import type { Session } from '../service/session.ts'
import { sameIds } from './schema.ts'

/** Opens the incident of `request`, once. Throws a DiagnosticError when several incidents could be the one. */
export function openIfAbsent(
  session: Session,
  request: IncidentRequest,
  signal: AbortSignal,
): Promise<Incident> {
  // Concurrent incidents with the same text could not be distinguished.
  return session.inTurn(`incident ${JSON.stringify(request)}`, () => opened(session, request, signal))
}

async function opened(session: Session, request: IncidentRequest, signal: AbortSignal): Promise<Incident> {
  const { incidents } = session.client
  const idempotencyKey = randomUUID()
  const incident = await resendIfAbsent({
    send: () => incidents.create(request, idempotencyKey, { signal }),
    find: async (isOurs) => {
      const query = { section: 'active', serviceIds: request.service_ids, limit: 100 } as const
      const { items } = await incidents.list(query, { signal })
      const found = items.filter(
        (item) =>
          isOurs(item.created_at) && !session.openedIncidents.has(item.id) && isOpenedBy(request, item),
      )
      if (found.length > 1) throw ambiguous(request.title, found)
      return found[0]
    },
    signal,
  })
  session.openedIncidents.add(incident.id)
  return incident
}

/** Posts `update` to incident `id`, once. */
export function updateIfAbsent(
  session: Session,
  id: string,
  { update, signal }: { readonly update: IncidentUpdateRequest; readonly signal: AbortSignal },
): Promise<Incident> {
  const { incidents } = session.client
  return resendIfAbsent({
    send: () => incidents.update(id, update, { signal }),
    find: async (isOurs) => {
      const incident = await incidents.get(id, { signal })
      const last = incident.updates.at(-1)
      const isPosted =
        last !== undefined &&
        isOurs(last.created_at) &&
        last.body === update.body &&
        last.status_at_update === update.status &&
        (update.severity ?? incident.severity) === incident.severity
      return isPosted ? incident : undefined
    },
    signal,
  })
}

function isOpenedBy(request: IncidentRequest, { title, severity, service_ids, updates }: Incident): boolean {
  return (
    title === request.title &&
    severity === request.severity &&
    updates[0]?.body === request.message &&
    sameIds(request.service_ids, service_ids)
  )
}

function ambiguous(title: string, found: readonly Incident[]): DiagnosticError {
  const ids = found.map(({ display_id, id }) => `${display_id} (${id})`).join(', ')
  const detail =
    `The API did not respond to the request that opens "${title}", and ${found.length} new incidents match it: ${ids}. ` +
    'Import one of them, resolve the others, and apply again.'
  return failure('Cannot tell which incident was opened', detail)
}
