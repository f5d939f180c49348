import type { CertificateSeen, EndpointTask, ResultDetail, SyncAnswer } from '../protocol/messages.ts'
import type { Outcome, Reason } from '../protocol/outcomes.ts'

/** What came of one check, its repetition included. Phases are microseconds; 0 for one that never came. */
export interface CheckReport {
  readonly outcome: Outcome
  readonly reason: Reason
  /** Of the last response; 0 without one. */
  readonly status: number
  readonly attempts: number
  readonly flags: number
  readonly totalUs: number
  readonly dnsUs: number
  readonly connectUs: number
  readonly tlsUs: number
  readonly waitUs: number
  readonly bodyUs: number
  /** For people; `null` for one that is simply up. */
  readonly detail: Omit<ResultDetail, 'series' | 'due_s'> | null
  readonly certificates: readonly Omit<CertificateSeen, 'series'>[]
}

/** A definition that is ready to be checked, again and again. */
export interface PreparedCheck {
  /** Checks once. `slot` counts the checks of the endpoint; a repetition is over before `nextDueMs` from now on. Never rejects. */
  run(options: { readonly slot: number; readonly nextDueMs: number }): Promise<CheckReport>
}

/** Makes an endpoint ready to be checked. Never throws. */
export type PrepareCheck = (task: EndpointTask) => PreparedCheck

/** What a server says of addresses. */
export type ServerRules = Pick<SyncAnswer, 'ranges_allowed' | 'server_addresses'>

/** What an agent checks with. */
export interface CheckLibrary {
  readonly prepare: PrepareCheck
  /** Checks from now on only addresses that `rules` allow too. Throws when a range is none. */
  readonly restrict: (rules: ServerRules) => void
}

/** A check that was not made, for a reason of the agent's. */
export function skippedCheck(reason: Reason, text: string): CheckReport {
  const never = {
    status: 0,
    attempts: 0,
    flags: 0,
    totalUs: 0,
    dnsUs: 0,
    connectUs: 0,
    tlsUs: 0,
    waitUs: 0,
    bodyUs: 0,
  }
  const detail = { text, failed: 0, expected: null, seen: null, first: null }
  return { outcome: 'unknown', reason, ...never, detail, certificates: [] }
}
