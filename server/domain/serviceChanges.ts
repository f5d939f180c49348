import { ApiError } from '../../api/contract/apiError.ts'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { type AutoIncidentSettings, fieldsOf, settingsOf, settingsRefusal } from './autoIncidentSettings.ts'
import type { ChangeOrigin } from './changeOrigin.ts'
import { type Announcement, type Command, endIn, startIn } from './commands.ts'
import { type EndpointDeps, makeEndpoints } from './endpoints.ts'
import { timestamp } from './environment.ts'
import { activationRefusal, creationRefusal, type OrgQuota, replacementRefusal } from './planLimits.ts'
import type { SealedValue } from './seal.ts'

/** A stored service: its response in the API, and its change numbers. */
export interface Service {
  readonly response: ServiceResponse
  /** Counts all changes; the value of ETags. */
  readonly generation: number
  /** The generation of the last published change, which regions compare. */
  readonly definitionGeneration: number
}

/** A change of a service, by its name in the audit log. Gap G53. */
export type ServiceAction = 'create' | 'replace' | 'pause' | 'resume' | 'set_auto_incidents' | 'delete'

/** The effects of a change, written in one transaction: the service, its secrets, and the commands for the regions. */
export interface ServiceChange {
  readonly action: ServiceAction
  /** The service after the change; `null` when it is deleted. */
  readonly service: Service | null
  /** The service in the response: ServiceResponse as JSON, which is the last one of a deleted service. */
  readonly text: string
  /** All secrets of the service after the change; `null` leaves them unchanged. */
  readonly sealed: readonly SealedValue[] | null
  readonly commands: readonly Command[]
  /** The origin of the change; absent when unknown. */
  readonly origin?: ChangeOrigin
}

/** Dependencies of a decision about a service. */
export interface ServiceDeps extends EndpointDeps {
  readonly nowMs: number
  readonly quota: OrgQuota
}

/**
 * A new service, which is active immediately. Throws `forbidden` when the plan does not allow it. Contract: Service.
 */
export function createService(request: ServiceRequest, deps: ServiceDeps): ServiceChange {
  const { quota } = deps
  refuse(creationRefusal(quota, request))
  const id = deps.uuid()
  const made = makeEndpoints(request.endpoints, [], { orgId: quota.orgId, serviceId: id }, deps)
  const response: ServiceResponse = {
    id,
    org_id: quota.orgId,
    name: request.name,
    interval_secs: request.interval_secs,
    regions: request.regions,
    endpoints: [...made.endpoints],
    created_at: timestamp(deps.nowMs),
    paused_at: null,
    // The key belongs to the organisation, so the person is unknown. Contract: Authentication, rule 3.
    created_by_email: null,
    ...fieldsOf(quota.autoIncidents),
  }
  return announce('create', null, { response, sealed: made.sealed }, (announcement) =>
    startIn(response.regions, announcement),
  )
}

/**
 * `current` with its whole definition replaced. Removed regions get an end command before the new definition is
 * published. A paused service stays paused, and nothing is published (Gap G41). Throws `forbidden` when the plan does
 * not allow it. Contract: Service, replace.
 */
export function replaceService(current: Service, request: ServiceRequest, deps: ServiceDeps): ServiceChange {
  const before = current.response
  refuse(replacementRefusal(deps.quota, before, request))
  const owner = { orgId: before.org_id, serviceId: before.id }
  const made = makeEndpoints(request.endpoints, before.endpoints, owner, deps)
  const response: ServiceResponse = {
    ...before,
    name: request.name,
    interval_secs: request.interval_secs,
    regions: request.regions,
    endpoints: [...made.endpoints],
  }
  const removed = before.regions.filter((region) => !request.regions.includes(region))
  return announce('replace', current, { response, sealed: made.sealed }, (announcement) =>
    before.paused_at != null
      ? []
      : [...endIn(removed, announcement), ...startIn(response.regions, announcement)],
  )
}

/**
 * `current` paused; `null` when it already is, because a second pause changes nothing. Contract: Service, pause. Pure.
 */
export function pauseService(current: Service, nowMs: number): ServiceChange | null {
  if (current.response.paused_at != null) return null
  // `paused_at` is never before `created_at`, even if the clock was set back.
  const pausedMs = Math.max(nowMs, Date.parse(current.response.created_at))
  const response = { ...current.response, paused_at: timestamp(pausedMs) }
  return announce('pause', current, { response, sealed: null }, (announcement) =>
    endIn(response.regions, announcement),
  )
}

/**
 * `current` active again; `null` when it already is. Throws `forbidden` when the current plan does not allow it.
 * Contract: Service, resume. Pure.
 */
export function resumeService(current: Service, quota: OrgQuota): ServiceChange | null {
  if (current.response.paused_at == null) return null
  refuse(activationRefusal(quota, current.response))
  const response = { ...current.response, paused_at: null }
  return announce('resume', current, { response, sealed: null }, (announcement) =>
    startIn(response.regions, announcement),
  )
}

/**
 * `current` with the automatic incidents of `settings`, or none for `null`. Returns `null` when nothing changes. No
 * command is published, because nothing changes for the regions. Throws `invalid` when the threshold is out of reach.
 * Pure.
 */
export function setAutoIncidents(
  current: Service,
  settings: AutoIncidentSettings | null,
): ServiceChange | null {
  const refusal = settings === null ? undefined : settingsRefusal(settings, current.response)
  if (refusal !== undefined) throw new ApiError('invalid', `${current.response.name}: ${refusal}`)
  const known = settingsOf(current.response)
  if (known?.threshold === settings?.threshold && known?.windowMinutes === settings?.windowMinutes)
    return null
  const response = { ...current.response, ...fieldsOf(settings) }
  return announce('set_auto_incidents', current, { response, sealed: null }, () => [])
}

/**
 * `current` deleted. Its regions get an end command even when it is paused: an end is harmless where nothing runs (Gap
 * G24). Contract: Service, delete. Pure.
 */
export function deleteService({ response, generation }: Service): ServiceChange {
  const commands = endIn(response.regions, { serviceId: response.id, generation: generation + 1 })
  return { action: 'delete', service: null, text: JSON.stringify(response), sealed: [], commands }
}

/** The change of `before`, which is `null` for a new service, with the commands from `commandsFor`. */
function announce(
  action: ServiceAction,
  before: Service | null,
  { response, sealed }: { readonly response: ServiceResponse; readonly sealed: ServiceChange['sealed'] },
  commandsFor: (announcement: Announcement) => readonly Command[],
): ServiceChange {
  const generation = (before?.generation ?? 0) + 1
  const commands = commandsFor({ serviceId: response.id, generation })
  const definitionGeneration = commands.length > 0 ? generation : (before?.definitionGeneration ?? 0)
  const service = { response, generation, definitionGeneration }
  return { action, service, text: JSON.stringify(response), sealed, commands }
}

function refuse(refusal: string | undefined): void {
  if (refusal !== undefined) throw new ApiError('forbidden', refusal)
}
