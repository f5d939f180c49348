import { ApiError } from '../../api/contract/apiError.ts'
import type {
  Incident,
  IncidentRequest,
  IncidentUpdate,
  IncidentUpdateRequest,
} from '../../api/contract/incident.ts'
import { type Environment, timestamp } from './environment.ts'
import { assertWithinIncidentQuota, type IncidentQuota } from './incidentQuota.ts'

/**
 * Maximum total size of an incident's updates (bytes of JSON). Every response with the incident contains all of them,
 * up to a hundred incidents in a page, and each new update reads them all. Gap G34.
 */
const UPDATES_BYTES_MAX = 256 * 1_024

/** The data for creating an incident, read in the transaction that writes it. */
export interface IncidentFacts {
  /** Next incident number of the organisation; starts at 1 and is never reused. */
  readonly number: number
  /** Ids of the requested services that belong to the organisation, in lower case. */
  readonly ownServiceIds: ReadonlySet<string>
  readonly quota: IncidentQuota
}

/** `ids` in lower case without duplicates, in their order (Gap G18). Pure. */
export function distinctServiceIds(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))]
}

/**
 * The incident that `request` opens. Throws `invalid` when a service is not in the organisation, with the same response
 * whether or not it exists elsewhere (Gap G25). Throws `forbidden` when the incident exceeds the quota (Gap G38).
 * Contract: POST /v1/incidents.
 */
export function openIncident(
  request: IncidentRequest,
  facts: IncidentFacts,
  environment: Pick<Environment, 'nowMs' | 'uuid'>,
): Incident {
  const serviceIds = distinctServiceIds(request.service_ids)
  const unknown = serviceIds.findIndex((id) => !facts.ownServiceIds.has(id))
  if (unknown !== -1) {
    throw new ApiError('invalid', 'service_ids: must name services of this organisation only')
  }
  const now = timestamp(environment.nowMs())
  const first: IncidentUpdate = {
    id: environment.uuid(),
    body: request.message,
    status_at_update: 'investigating',
    created_at: now,
  }
  const incident: Incident = {
    id: environment.uuid(),
    kind: 'incident',
    title: request.title,
    status: 'investigating',
    severity: request.severity,
    created_by: null,
    created_at: now,
    resolved_at: null,
    service_ids: [...serviceIds],
    display_id: `INC-${facts.number}`,
    updated_at: now,
    auto_managed: false,
    updates: [first],
  }
  assertWithinIncidentQuota(facts.quota, null, incident)
  return incident
}

/**
 * `incident` with the update appended. Any order of the open statuses is allowed (Gap G5); a resolved incident takes no
 * update (Gap G4), and a full one takes only the update that resolves it (Gap G34). Throws `invalid` for others, and
 * `forbidden` when the update exceeds the quota (Gap G38). Contract: Incident, transitions.
 */
export function updateIncident(
  incident: Incident,
  request: IncidentUpdateRequest,
  { environment, quota }: { environment: Pick<Environment, 'nowMs' | 'uuid'>; quota: IncidentQuota },
): Incident {
  if (incident.status === 'resolved') throw new ApiError('invalid', 'incident is already resolved')
  // The clock may have been set back. An earlier instant would put the log out of order.
  const nowMs = Math.max(environment.nowMs(), Date.parse(incident.updated_at))
  const now = timestamp(nowMs)
  const update: IncidentUpdate = {
    id: environment.uuid(),
    body: request.body,
    status_at_update: request.status,
    created_at: now,
  }
  const updates = [...incident.updates, update]
  if (request.status !== 'resolved' && Buffer.byteLength(JSON.stringify(updates)) > UPDATES_BYTES_MAX) {
    const full = `the updates of an incident are at most ${UPDATES_BYTES_MAX / 1_024} KiB together`
    throw new ApiError('invalid', `body: ${full}: resolve it, and continue in another incident`)
  }
  const updated: Incident = {
    ...incident,
    status: request.status,
    severity: request.severity ?? incident.severity,
    resolved_at: request.status === 'resolved' ? now : null,
    updated_at: now,
    updates,
  }
  assertWithinIncidentQuota(quota, incident, updated)
  return updated
}
