import type { IncidentRequest, IncidentUpdateRequest } from '../../api/contract/incident.ts'
import type { IncidentStatus } from '../../api/contract/incidentTerms.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { intervalOf, settingsOf, windowS } from './autoIncidentSettings.ts'
import {
  closingText,
  type FailingRound,
  failingText,
  failingTitle,
  passingText,
  type Recovery,
  severityOf,
  steadyText,
} from './autoIncidentTexts.ts'

/** Minimum time between two updates of an automatic incident with the same status (seconds). Gap G49. */
const UPDATE_PAUSE_S = 5 * 60
/** Maximum number of automatic updates of one incident, besides the first one and the one that resolves it. Gap G49. */
const UPDATES_MAX = 20
const NEVER_S = 0

/** An automatic incident that is not resolved. Instants are seconds since the epoch; 0 for never. */
export interface OpenAutoIncident {
  readonly incidentId: string
  readonly status: IncidentStatus
  /** Whether a person took the incident over by posting an update. */
  readonly isTakenOver: boolean
  /** Whether any endpoint was down in the newest known round. */
  readonly isFailing: boolean
  readonly updatesMade: number
  /** Time of the last automatic update about a failure. */
  readonly investigatingAtS: number
  /** Time of the last automatic update about passing checks. */
  readonly monitoringAtS: number
  /** The endpoints that were down in the newest update: `FailingRound.mark`. */
  readonly reportedDown: string
}

/** The change of a service's automatic incident; `open` is its state afterwards. */
export type AutoIncidentStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'open'; readonly request: IncidentRequest; readonly open: AutoIncidentState }
  | { readonly kind: 'update'; readonly request: IncidentUpdateRequest; readonly open: OpenAutoIncident }
  | { readonly kind: 'remember'; readonly open: OpenAutoIncident }
  | { readonly kind: 'resolve'; readonly request: IncidentUpdateRequest }

/** Stored data of an automatic incident besides the incident itself. */
export type AutoIncidentState = Omit<OpenAutoIncident, 'incidentId' | 'status'>

/** The data for a decision about a failing round, read in the transaction that writes it. */
export interface FailingFacts {
  readonly service: ServiceResponse
  readonly open: OpenAutoIncident | undefined
  /**
   * The newest failing rounds of the endpoint, newest first and including this one; at most as many as the threshold.
   */
  readonly rounds: readonly number[]
  /** Whether any unresolved incident names the service. */
  readonly hasIncident: boolean
  readonly isMuted: boolean
  /** End of the service's last maintenance, before which rounds do not count (seconds since the epoch). */
  readonly maintenanceEndedS: number
}

/** Whether `round` counts for `service`: the service is checked at that interval and has automatic incidents. Pure. */
export function isCounted(service: ServiceResponse, round: FailingRound): boolean {
  return (
    service.paused_at == null &&
    settingsOf(service) !== null &&
    intervalOf(service) === round.interval_s &&
    service.endpoints.some(({ id }) => id === round.endpoint_id)
  )
}

/**
 * The effect of a failing round found at `atS`. Opens an incident when the window contains as many rounds as the
 * threshold. An open incident gets an update about changes, at most every five minutes. Gap G49. Pure.
 */
export function afterFailingRound(
  round: FailingRound,
  facts: FailingFacts,
  { atS, nowS }: { readonly atS: number; readonly nowS: number },
): AutoIncidentStep {
  const { open, service } = facts
  if (open !== undefined) return continueFailing(open, round, service, nowS)
  if (facts.hasIncident || facts.isMuted || !isOverThreshold(facts, atS)) return { kind: 'nothing' }
  return {
    kind: 'open',
    request: {
      title: failingTitle(service, round),
      message: failingText(service, round),
      severity: severityOf(round),
      service_ids: [service.id],
    },
    open: {
      ...{ isTakenOver: false, isFailing: true, updatesMade: 0 },
      ...{ investigatingAtS: nowS, monitoringAtS: NEVER_S, reportedDown: round.mark },
    },
  }
}

function isOverThreshold({ service, rounds, maintenanceEndedS }: FailingFacts, atS: number): boolean {
  const settings = settingsOf(service)
  if (settings === null) return false
  const fromS = Math.max(maintenanceEndedS, atS - windowS(settings, service) + 1)
  const intervalS = intervalOf(service)
  return rounds.filter((round) => round * intervalS >= fromS).length >= settings.threshold
}

function continueFailing(
  open: OpenAutoIncident,
  round: FailingRound,
  service: ServiceResponse,
  nowS: number,
): AutoIncidentStep {
  const failing = { ...open, isFailing: true }
  const hasChanged = open.status === 'monitoring' || open.reportedDown !== round.mark
  if (!hasChanged || !mayUpdate(open, open.investigatingAtS, nowS)) return { kind: 'remember', open: failing }
  const marks = { updatesMade: open.updatesMade + 1, investigatingAtS: nowS }
  return {
    kind: 'update',
    request: { body: failingText(service, round), status: 'investigating', severity: severityOf(round) },
    open: { ...failing, ...marks, reportedDown: round.mark },
  }
}

/** The effect when all endpoints are up: an update of the incident. Pure. */
export function afterRecovery(open: OpenAutoIncident, recovery: Recovery, nowS: number): AutoIncidentStep {
  return afterPassing(open, passingText(recovery), nowS, mayUpdate(open, open.monitoringAtS, nowS))
}

/**
 * The effect when all endpoints have been up long enough: the incident is resolved. An incident that a person took over
 * gets only an update that checks pass; the person resolves it. Pure.
 */
export function afterSteadyTime(open: OpenAutoIncident, recovery: Recovery, nowS: number): AutoIncidentStep {
  const body = steadyText(recovery)
  if (!open.isTakenOver) return { kind: 'resolve', request: { body, status: 'resolved' } }
  return afterPassing(open, body, nowS, open.updatesMade < UPDATES_MAX)
}

/** Remembers that checks pass, and says so in `body` if an update is due. */
function afterPassing(open: OpenAutoIncident, body: string, nowS: number, isDue: boolean): AutoIncidentStep {
  const passing = { ...open, isFailing: false }
  if (!isDue) return { kind: 'remember', open: passing }
  return {
    kind: 'update',
    request: { body, status: 'monitoring' },
    open: { ...passing, updatesMade: open.updatesMade + 1, monitoringAtS: nowS },
  }
}

/**
 * The update that resolves an automatic incident because its service changed from `before` to `after`, which is `null`
 * for a deleted service. `undefined` when the change does not end the incident. Pure.
 */
export function closingUpdate(
  before: ServiceResponse,
  after: ServiceResponse | null,
): IncidentUpdateRequest | undefined {
  const text = closingText(before, after)
  return text === undefined ? undefined : { body: text, status: 'resolved' }
}

function mayUpdate({ isTakenOver, updatesMade }: OpenAutoIncident, lastS: number, nowS: number): boolean {
  return !isTakenOver && updatesMade < UPDATES_MAX && nowS - lastS >= UPDATE_PAUSE_S
}
