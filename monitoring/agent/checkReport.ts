import type { Phases } from '../check/outcome/attemptClock.ts'
import type { CertificateSeen, EndpointTask, ResultDetail, SyncResponse } from '../protocol/messages.ts'
import type { Outcome, Reason } from '../protocol/outcomes.ts'

/** The result of a check, including its repeated attempt. A phase that was not reached has 0 microseconds. */
export interface CheckReport {
  readonly outcome: Outcome
  readonly reason: Reason
  /** Status of the last response; 0 without one. */
  readonly status: number
  readonly attempts: number
  readonly flags: number
  readonly phases: Phases
  /** Details for people; `null` for a check that is simply up. */
  readonly detail: Omit<ResultDetail, 'series' | 'due_s'> | null
  readonly certificates: readonly Omit<CertificateSeen, 'series'>[]
}

/** A definition that is prepared for repeated checks. */
export interface PreparedCheck {
  /**
   * Runs one check. `slot` counts the checks of the endpoint. A repeated attempt ends within `nextDueMs` from now.
   * Never rejects.
   */
  run(options: { readonly slot: number; readonly nextDueMs: number }): Promise<CheckReport>
}

/** Prepares an endpoint of the organisation `org` for checks. Never throws. */
export type PrepareCheck = (task: EndpointTask, org: string) => PreparedCheck

/** The address rules of a server. */
export type ServerRules = Pick<SyncResponse, 'ranges_allowed' | 'server_addresses'>

/** The functions with which an agent checks. */
export interface CheckLibrary {
  readonly prepare: PrepareCheck
  /** From now on checks only addresses that `rules` also allow. Throws when a range is invalid. */
  readonly restrict: (rules: ServerRules) => void
}

/** The report of a check that did not run, for a reason on the agent's side. */
export function skippedCheck(reason: Reason, text: string): CheckReport {
  const phases = { total: 0, dns: 0, connect: 0, tls: 0, wait: 0, body: 0 }
  const detail = { text, failed: 0, expected: null, seen: null, first: null }
  return { outcome: 'unknown', reason, status: 0, attempts: 0, flags: 0, phases, detail, certificates: [] }
}
