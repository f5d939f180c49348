import type { Incident, IncidentRequest, IncidentUpdateRequest } from '../contract/incident.ts'
import type { Section, Severity } from '../contract/incidentTerms.ts'
import { readResponse } from './contractResponse.ts'
import { type IncidentList, incidentListSchema, incidentResponseSchema } from './incidentResponse.ts'
import type { CallOptions } from './request.ts'
import type { Sender } from './sender.ts'

/** Which incidents to list. Contract: GET /v1/incidents query parameters. */
export interface IncidentQuery {
  readonly section: Section
  /** Part of the title or of an update, case-insensitive. */
  readonly q?: string | undefined
  readonly severity?: Severity | undefined
  /** Incidents that name any of these services; all when empty or absent. */
  readonly serviceIds?: readonly string[] | undefined
  /** From 1. */
  readonly page?: number
  /** At most 100. */
  readonly limit?: number
}

/** The four operations on incidents. Methods throw as those of Client do. */
export class IncidentClient {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** One page of incidents. */
  async list(query: IncidentQuery, options: CallOptions = {}): Promise<IncidentList> {
    const path = `/v1/incidents?${queryText(query)}`
    return readResponse(incidentListSchema, await this.#sender.repeat({ method: 'GET', path }, options))
  }

  /** All incidents that match `query`, in the order of the API: page by page, until one adds nothing. */
  async listAll(query: Omit<IncidentQuery, 'page'>, options: CallOptions = {}): Promise<readonly Incident[]> {
    const found = new Map<string, Incident>()
    for (let page = 1; ; page += 1) {
      const { items, totalPages } = await this.list({ ...query, page }, options)
      const before = found.size
      for (const item of items) found.set(item.id, item)
      if (page === totalPages || found.size === before) return [...found.values()]
    }
  }

  /** One incident; refused with `not_found` when the organisation has none of this id. */
  async get(id: string, options: CallOptions = {}): Promise<Incident> {
    const attempt = { method: 'GET', path: incidentPath(id) } as const
    return readResponse(incidentResponseSchema, await this.#sender.repeat(attempt, options))
  }

  /** Opens an incident. Like the creation of a service it is not sent again when it may have been executed. */
  async create(
    request: IncidentRequest,
    idempotencyKey: string,
    options: CallOptions = {},
  ): Promise<Incident> {
    const attempt = { method: 'POST', path: '/v1/incidents', json: request, idempotencyKey } as const
    return readResponse(incidentResponseSchema, await this.#sender.once(attempt, options))
  }

  /** Appends an update; `resolved` closes the incident finally. Not sent again: the log would contain it twice. */
  async update(id: string, request: IncidentUpdateRequest, options: CallOptions = {}): Promise<Incident> {
    const attempt = { method: 'POST', path: `${incidentPath(id)}/updates`, json: request } as const
    return readResponse(incidentResponseSchema, await this.#sender.once(attempt, options))
  }
}

function incidentPath(id: string): string {
  return `/v1/incidents/${encodeURIComponent(id)}`
}

function queryText({ section, q, severity, serviceIds = [], page, limit }: IncidentQuery): string {
  const parameters: [string, string][] = [['section', section]]
  if (q !== undefined) parameters.push(['q', q])
  if (severity !== undefined) parameters.push(['severity', severity])
  for (const id of serviceIds) parameters.push(['service_id', id])
  if (page !== undefined) parameters.push(['page', String(page)])
  if (limit !== undefined) parameters.push(['limit', String(limit)])
  return new URLSearchParams(parameters).toString()
}
