import { ApiError } from '../../../api/contract/apiError.ts'
import type { Incident, IncidentUpdateRequest } from '../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { type Actor, SYSTEM } from '../../domain/accounts/actor.ts'
import { intervalOf, settingsOf } from '../../domain/autoIncidentSettings.ts'
import {
  type AutoIncidentState,
  type AutoIncidentStep,
  afterFailingRound,
  afterRecovery,
  afterSteadyTime,
  closingUpdate,
  isCounted,
  type OpenAutoIncident,
} from '../../domain/autoIncidents.ts'
import type { FailingRound, Recovery } from '../../domain/autoIncidentTexts.ts'
import type { Environment } from '../../domain/environment.ts'
import { openIncident, updateIncident } from '../../domain/incidentChanges.ts'
import type { IncidentQuota } from '../../domain/incidentQuota.ts'
import type { AppliedEffect, Transition } from '../monitoringStore.ts'

/** Automatic incidents, each call in the caller's transaction. */
export interface AutoIncidents {
  /** A round of `serviceId` failed at `atS` (seconds since the epoch). */
  readonly fail: (serviceId: string, round: FailingRound, atS: number) => AppliedEffect
  /** All endpoints of `serviceId` are up. */
  readonly recover: (serviceId: string, recovery: Recovery) => AppliedEffect
  /** They have been up long enough. */
  readonly settle: (serviceId: string, recovery: Recovery) => AppliedEffect
  /**
   * Follows a change of a service from `before` to `after`, `null` when deleted: resolves its incident if the change
   * requires that.
   */
  readonly follow: (before: ServiceResponse, after: ServiceResponse | null) => void
  /** A person added an update to the automatic incident `incident`, which shows it. */
  readonly takeOver: (incident: Incident) => void
}

/** Applies a transition that changes incidents, in the caller's transaction; transitions of other kinds do nothing. */
export function incidentEffect(
  autoIncidents: AutoIncidents,
  { kind, serviceId, atS, body }: Transition,
): AppliedEffect {
  switch (kind) {
    // True because the results thread wrote the bodies of these kinds.
    case 'service.round':
      return autoIncidents.fail(serviceId, JSON.parse(body) as FailingRound, atS)
    case 'service.recovered':
      return autoIncidents.recover(serviceId, JSON.parse(body) as Recovery)
    case 'service.steady':
      return autoIncidents.settle(serviceId, JSON.parse(body) as Recovery)
    default:
      return NOTHING
  }
}

/** Facts for a decision about a new incident. */
export interface NewIncidentFacts {
  /** Next number of the organisation, from 1, never used twice. */
  readonly number: number
  readonly quota: IncidentQuota
}

/** Writing of incidents, each in the caller's transaction. */
export interface IncidentWrites {
  /** Stores the incident that `decide` returns. When `decide` throws, nothing is written. */
  readonly open: (orgId: string, by: Actor, decide: (facts: NewIncidentFacts) => Incident) => Incident
  /** Stores the incident that `decide` returns; `undefined` when the organisation has no such incident. */
  readonly change: (
    orgId: string,
    incidentId: string,
    by: Actor,
    decide: (incident: Incident, quota: IncidentQuota) => Incident,
  ) => Incident | undefined
}

/** State of an automatic incident to store. */
export type StoredAutoIncident = AutoIncidentState & { readonly incidentId: string }

/** The rows behind automatic incidents, read and written in the caller's transaction. */
export interface AutoIncidentRows {
  /** `undefined` when the service was deleted. */
  readonly service: (serviceId: string) => ServiceResponse | undefined
  readonly open: (serviceId: string) => OpenAutoIncident | undefined
  /** The automatic incident `incidentId`, with its service; `undefined` when it is resolved. */
  readonly openOf: (incidentId: string) => (OpenAutoIncident & { readonly serviceId: string }) | undefined
  readonly put: (serviceId: string, marks: StoredAutoIncident) => void
  readonly close: (serviceId: string) => void
  /** Whether an unresolved incident names the service. */
  readonly hasIncident: (serviceId: string) => boolean
  readonly isMuted: (serviceId: string) => boolean
  readonly mute: (serviceId: string) => void
  readonly unmute: (serviceId: string) => void
  /** Adds a round; the newest `countMax` of its endpoint, newest first. Older ones are removed. */
  readonly addRound: (serviceId: string, round: FailingRound, countMax: number) => readonly number[]
  readonly forgetRounds: (serviceId: string) => void
  /** Whether a maintenance window of the service is open at `atS`, and when the last one ended; 0 for never. */
  readonly maintenance: (
    serviceId: string,
    atS: number,
  ) => { readonly isNow: boolean; readonly endedS: number }
}

/** Dependencies for writing automatic incidents. */
interface AutoIncidentParts {
  readonly rows: AutoIncidentRows
  readonly writes: IncidentWrites
  readonly environment: Pick<Environment, 'nowMs' | 'uuid'>
  /** Throws on a full disk. */
  readonly assertGrowth: () => void
}

const NOTHING: AppliedEffect = { kind: 'nothing' }

/** Automatic incidents, by the same rules in every database. */
export function autoIncidentsOf(parts: AutoIncidentParts): AutoIncidents {
  const { rows } = parts
  const nowS = (): number => Math.floor(parts.environment.nowMs() / 1_000)
  const take = stepTaker(parts)
  return {
    fail: (serviceId, round, atS) => {
      const service = rows.service(serviceId)
      if (service === undefined || !isCounted(service, round)) return NOTHING
      const { isNow, endedS } = rows.maintenance(serviceId, atS)
      // Rounds in or before a maintenance window do not count.
      if (isNow) return NOTHING
      const rounds = rows.addRound(serviceId, round, settingsOf(service)?.threshold ?? 0)
      const facts = {
        ...{ service, rounds, maintenanceEndedS: endedS, open: rows.open(serviceId) },
        ...{ hasIncident: rows.hasIncident(serviceId), isMuted: rows.isMuted(serviceId) },
      }
      return take(service, afterFailingRound(round, facts, { atS, nowS: nowS() }))
    },
    recover: (serviceId, recovery) => {
      if (rows.isMuted(serviceId)) {
        rows.unmute(serviceId)
        // A person resolved the incident of the earlier rounds.
        rows.forgetRounds(serviceId)
      }
      const open = rows.open(serviceId)
      const service = rows.service(serviceId)
      if (open === undefined || service === undefined) return NOTHING
      return take(service, afterRecovery(open, recovery, nowS()))
    },
    settle: (serviceId, recovery) => {
      const open = rows.open(serviceId)
      const service = rows.service(serviceId)
      if (open === undefined || service === undefined) return NOTHING
      return take(service, afterSteadyTime(open, recovery, nowS()))
    },
    follow: (before, after) => {
      const isRecounted = after !== null && intervalOf(after) !== intervalOf(before)
      const request = closingUpdate(before, after)
      if (request !== undefined || isRecounted) rows.forgetRounds(before.id)
      if (after === null) rows.unmute(before.id)
      if (request === undefined) return
      const open = rows.open(before.id)
      if (open === undefined) return
      if (!open.isTakenOver) take(before, { kind: 'resolve', request })
      // Not resolved here: a person does, which mutes a service that is down at that time.
      else if (after === null) rows.close(before.id)
    },
    takeOver: ({ id, status }) => {
      const open = rows.openOf(id)
      if (open === undefined) return
      if (status !== 'resolved') return rows.put(open.serviceId, { ...open, isTakenOver: true })
      rows.close(open.serviceId)
      rows.forgetRounds(open.serviceId)
      // Resolved during the failure: no new incident opens before the service has been up.
      if (open.isFailing) rows.mute(open.serviceId)
    },
  }
}

/** Writes steps. Updates beyond the size limit of the organisation or the incident are dropped. */
function stepTaker({ rows, writes, environment, assertGrowth }: AutoIncidentParts) {
  function update({ id, org_id }: ServiceResponse, request: IncidentUpdateRequest): Incident | undefined {
    const incidentId = rows.open(id)?.incidentId ?? ''
    return writes.change(org_id, incidentId, SYSTEM, (incident, quota) =>
      updateIncident(incident, request, { environment, quota }),
    )
  }

  function open(service: ServiceResponse, step: AutoIncidentStep & { readonly kind: 'open' }): Incident {
    assertGrowth()
    return writes.open(service.org_id, SYSTEM, ({ number, quota }) => ({
      ...openIncident(step.request, { number, quota, ownServiceIds: new Set([service.id]) }, environment),
      auto_managed: true,
    }))
  }

  function write(service: ServiceResponse, step: AutoIncidentStep): AppliedEffect {
    switch (step.kind) {
      case 'nothing':
        return NOTHING
      case 'remember':
        rows.put(service.id, step.open)
        return NOTHING
      case 'open': {
        const { id: incidentId, display_id } = open(service, step)
        rows.put(service.id, { ...step.open, incidentId })
        return { kind: 'opened', incident: display_id }
      }
      case 'update': {
        const incident = update(service, step.request)
        rows.put(service.id, step.open)
        return { kind: 'updated', incident: incident?.display_id ?? '' }
      }
      case 'resolve': {
        const incident = update(service, step.request)
        rows.close(service.id)
        rows.forgetRounds(service.id)
        return { kind: 'resolved', incident: incident?.display_id ?? '' }
      }
    }
  }

  return (service: ServiceResponse, step: AutoIncidentStep): AppliedEffect => {
    try {
      return write(service, step)
    } catch (error) {
      // A full disk, for one: the step is taken when there is space.
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      // Thrown before anything was written. A retry would be refused again.
      if (step.kind === 'update') rows.put(service.id, step.open)
      return { kind: 'refused', reason: error.message }
    }
  }
}
