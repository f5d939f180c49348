import {
  type Incident,
  type IncidentPage,
  incidentRequestSchema,
  incidentUpdateRequestSchema,
} from '../../api/contract/incident.ts'
import { distinctServiceIds, openIncident, updateIncident } from '../domain/incidentChanges.ts'
import { creationMark } from './idempotencyKey.ts'
import { readIncidentQuery } from './incidentQuery.ts'
import type { Answer, ApiParts, Exchange, Operation } from './operation.ts'
import { readBody } from './requestBody.ts'
import { notFound, readId } from './resourceId.ts'

/** Contract: Endpoints, the four of incidents. */
export const incidentOperations: readonly Operation[] = [
  { method: 'GET', path: '/v1/incidents', takesBody: false, handle: list },
  { method: 'POST', path: '/v1/incidents', takesBody: true, handle: create },
  { method: 'GET', path: '/v1/incidents/:id', takesBody: false, handle: read },
  { method: 'POST', path: '/v1/incidents/:id/updates', takesBody: true, handle: update },
]

async function list({ caller, query }: Exchange, { store }: ApiParts): Promise<Answer> {
  const filter = readIncidentQuery(query)
  const { items, total } = await store.listIncidents(caller.orgId, filter)
  const page: IncidentPage = {
    items: [...items],
    page: filter.page,
    limit: filter.limit,
    total,
    total_pages: Math.ceil(total / filter.limit),
  }
  return { status: 200, text: JSON.stringify(page) }
}

async function create(exchange: Exchange, { store, environment }: ApiParts): Promise<Answer> {
  const request = readBody(incidentRequestSchema, exchange)
  const mark = creationMark(exchange, 'POST /v1/incidents', request)
  const wanted = distinctServiceIds(request.service_ids)
  const incident = await store.createIncident(exchange.caller.orgId, wanted, mark, (facts) =>
    openIncident(request, facts, environment),
  )
  return { status: 201, text: JSON.stringify(incident) }
}

async function read({ caller, id }: Exchange, { store }: ApiParts): Promise<Answer> {
  return found(await store.getIncident(caller.orgId, readId(id)))
}

async function update(exchange: Exchange, { store, environment }: ApiParts): Promise<Answer> {
  const request = readBody(incidentUpdateRequestSchema, exchange)
  const { caller, id } = exchange
  return found(
    await store.changeIncident(caller.orgId, readId(id), (incident) =>
      updateIncident(incident, request, environment),
    ),
  )
}

function found(incident: Incident | undefined): Answer {
  if (incident === undefined) throw notFound()
  return { status: 200, text: JSON.stringify(incident) }
}
