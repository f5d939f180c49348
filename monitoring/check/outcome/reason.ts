import { ASSERTION_REASONS } from '../../protocol/outcomes.ts'

/** The result of a check for an endpoint. */
export type Outcome = 'up' | 'degraded' | 'down' | 'unknown'

/** Reasons for which an endpoint is down, in the order in which a check can find them. */
const DOWN_REASONS = [
  'dns_name_unknown',
  'dns_failed',
  'dns_timeout',
  'connect_refused',
  'connect_unreachable',
  'connect_timeout',
  'tls_failed',
  'tls_timeout',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_name',
  'certificate_untrusted',
  'alpn',
  'response_timeout',
  'closed_early',
  'not_http',
  'headers_too_large',
  'body_timeout',
  'body_too_large',
  'body_encoding',
  'too_many_redirects',
  'redirect_invalid',
  ...Object.values(ASSERTION_REASONS),
] as const
/** Reasons that say nothing about the endpoint: the check did not run, or its machine was at fault. */
const UNKNOWN_REASONS = ['regex_too_slow', 'address_forbidden', 'agent_local'] as const

/**
 * The reason why an endpoint is not up. `none` when it is up, `one_address` when only another of its addresses
 * responded.
 */
export type Reason = 'none' | 'one_address' | DownReason | UnknownReason
export type DownReason = (typeof DOWN_REASONS)[number]
type UnknownReason = (typeof UNKNOWN_REASONS)[number]

/** Whether `reason` leaves the state of the endpoint unknown. Pure. */
function isUnknownReason(reason: Reason): reason is UnknownReason {
  return UNKNOWN_REASONS.some((one) => one === reason)
}

/**
 * The outcome of a check that ended for `reason`, where `failed` has the kinds of false assertions. A response that is
 * only slow is degraded. Pure.
 */
export function outcomeOf(reason: Reason, failed: readonly string[] = []): Outcome {
  if (reason === 'none') return 'up'
  if (reason === 'one_address') return 'degraded'
  if (isUnknownReason(reason)) return 'unknown'
  const isSlowOnly = reason === 'assertion_latency' || reason === 'assertion_dns'
  return isSlowOnly && failed.every((kind) => kind === 'Latency' || kind === 'DnsResoltion')
    ? 'degraded'
    : 'down'
}

/** The error that ends an attempt, with the reason and a message for people without secrets. */
export class CheckFault extends Error {
  override readonly name = 'CheckFault'
  readonly reason: Reason

  constructor(reason: Reason, text: string) {
    super(text)
    this.reason = reason
  }
}
