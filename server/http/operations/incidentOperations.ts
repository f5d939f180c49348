import {
  type Incident,
  type IncidentPage,
  incidentRequestSchema,
  incidentUpdateRequestSchema,
} from '../../../api/contract/incident.ts'
import { distinctServiceIds, openIncident, updateIncident } from '../../domain/incidentChanges.ts'
import type { IncidentFilter, LongList } from '../../store/store.ts'
import { creationFingerprint } from './idempotencyKey.ts'
import { readIncidentQuery } from './incidentQuery.ts'
import type { OperationResponse, ApiParts, Exchange, Operation } from './operation.ts'
import { readBody } from './requestBody.ts'
import { notFound, readId } from './resourceId.ts'

/** Bytes of an incident beyond its request. */
const OWN_FIELDS_BYTES = 1_024
/** Maximum size of an incident (bytes): its updates (Gap G34), one more that resolves it, and its own fields. */
const INCIDENT_BYTES_MAX = 512 * 1_024

/** The four operations on incidents. Contract: Endpoints. */
export const incidentOperations: readonly Operation[] = [
  { method: 'GET', path: '/v1/incidents', takesBody: false, handle: list },
  {
    method: 'POST',
    path: '/v1/incidents',
    takesBody: true,
    responseBytesMax: async ({ bodyBytes }) => OWN_FIELDS_BYTES + bodyBytes,
    handle: create,
  },
  { method: 'GET', path: '/v1/incidents/:id', takesBody: false, handle: read },
  {
    method: 'POST',
    path: '/v1/incidents/:id/updates',
    takesBody: true,
    responseBytesMax: async () => INCIDENT_BYTES_MAX,
    handle: update,
  },
]

async function list({ caller, query, yieldTurn }: Exchange, { store }: ApiParts): Promise<OperationResponse> {
  const filter = readIncidentQuery(query)
  const found = await store.listIncidents(caller.orgId, filter, yieldTurn)
  const place = placeOf(found.total, filter)
  if ('openItems' in found)
    return { status: 200, openLong: async () => pageOf(await found.openItems(), place) }
  const page: IncidentPage = { items: [...found.items], ...place }
  return { status: 200, text: JSON.stringify(page) }
}

/** The fields of a page besides its items. Gap G3. */
function placeOf(total: number, { page, limit }: IncidentFilter): Omit<IncidentPage, 'items'> {
  return { page, limit, total, total_pages: Math.ceil(total / limit) }
}

/** The same page as a stream of pieces. */
function pageOf({ pieces, close }: LongList, place: Omit<IncidentPage, 'items'>): LongList {
  const rest = JSON.stringify(place).slice('{'.length)
  async function* page(): AsyncGenerator<Uint8Array, void> {
    yield Buffer.from('{"items":')
    yield* pieces
    yield Buffer.from(`,${rest}`)
  }
  return { pieces: page(), close }
}

async function create(exchange: Exchange, { store, environment }: ApiParts): Promise<OperationResponse> {
  const request = await readBody(incidentRequestSchema, exchange)
  const fingerprint = creationFingerprint(exchange, 'POST /v1/incidents', request)
  const wanted = distinctServiceIds(request.service_ids)
  const { orgId, keyId } = exchange.caller
  const incident = await store.createIncident(
    orgId,
    { by: { kind: 'key', id: keyId }, wantedServiceIds: wanted, fingerprint },
    (facts) => openIncident(request, facts, environment),
  )
  return { status: 201, text: JSON.stringify(incident) }
}

async function read({ caller, id }: Exchange, { store }: ApiParts): Promise<OperationResponse> {
  return found(await store.getIncident(caller.orgId, readId(id)))
}

async function update(exchange: Exchange, { store, environment }: ApiParts): Promise<OperationResponse> {
  const request = await readBody(incidentUpdateRequestSchema, exchange)
  const { caller, id } = exchange
  return found(
    await store.changeIncident(
      caller.orgId,
      readId(id),
      { kind: 'key', id: caller.keyId },
      (incident, quota) => updateIncident(incident, request, { environment, quota }),
    ),
  )
}

function found(incident: Incident | undefined): OperationResponse {
  if (incident === undefined) throw notFound()
  return { status: 200, text: JSON.stringify(incident) }
}
