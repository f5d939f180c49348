import type { AssertionKind } from '../../api/contract/assertion.ts'

/** The outcomes of a check. The numbers are stored and sent, so they are never reused for another outcome. */
export const OUTCOMES = { up: 1, degraded: 2, down: 3, unknown: 4 } as const
export type Outcome = keyof typeof OUTCOMES

/**
 * Reasons why a check did not simply succeed. The numbers are stored and sent, so they are never reused for another
 * reason. Numbers from 1 to 64 are about the target, those from 65 about the machine that checked it. A new reason
 * takes a free number of its range.
 */
export const REASONS = {
  none: 0,
  dns_name_unknown: 1,
  dns_failed: 2,
  dns_timeout: 3,
  connect_refused: 10,
  connect_unreachable: 11,
  connect_timeout: 12,
  one_address: 13,
  tls_failed: 20,
  tls_timeout: 21,
  certificate_expired: 22,
  certificate_not_yet_valid: 23,
  certificate_name: 24,
  certificate_untrusted: 25,
  alpn: 26,
  response_timeout: 30,
  closed_early: 31,
  not_http: 32,
  headers_too_large: 33,
  body_timeout: 40,
  body_too_large: 41,
  body_encoding: 42,
  too_many_redirects: 50,
  redirect_invalid: 51,
  assertion_status: 60,
  assertion_latency: 61,
  assertion_dns: 62,
  assertion_header: 63,
  assertion_body: 64,
  regex_too_slow: 65,
  address_forbidden: 80,
  agent_local: 81,
  agent_busy: 82,
  agent_too_old: 83,
  agent_suspect: 84,
} as const
export type Reason = keyof typeof REASONS

/** The reason for a false assertion, by kind. */
export const ASSERTION_REASONS = {
  StatusCode: 'assertion_status',
  Latency: 'assertion_latency',
  DnsResoltion: 'assertion_dns',
  Header: 'assertion_header',
  Body: 'assertion_body',
} as const satisfies Readonly<Record<AssertionKind, Reason>>

const OUTCOME_NAMES: ReadonlyMap<number, Outcome> = namesOf(OUTCOMES)
const REASON_NAMES: ReadonlyMap<number, Reason> = namesOf(REASONS)

/** The outcome of a stored number; `unknown` for one from a newer release. Pure. */
export function outcomeName(code: number): Outcome {
  return OUTCOME_NAMES.get(code) ?? 'unknown'
}

/** The reason of a stored number; `none` for one from a newer release. Pure. */
export function reasonName(code: number): Reason {
  return REASON_NAMES.get(code) ?? 'none'
}

function namesOf<Name extends string>(codes: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> {
  // True because the keys of `codes` are its names.
  return new Map((Object.keys(codes) as Name[]).map((name) => [codes[name], name]))
}
