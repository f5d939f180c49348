import type { EndpointInput, SensitiveInput } from '../../api/contract/service.ts'
import {
  type AssertionNeeds,
  assertionNeeds,
  type CompiledAssertion,
  compileAssertions,
} from '../assertions/compileAssertions.ts'
import type { RequestHop, RequestValue } from './http/requestHop.ts'
import { type CheckQuoting, quotingFor } from './privateTexts.ts'

/** The timeout for null, and the maximum number of redirects regardless of the setting. Gap G14, G18. */
const TIMEOUT_MS = 10_000
const REDIRECTS = 10
const REDIRECTS_MAX = 20
const MS_PER_SECOND = 1_000
const NANOS_PER_MS = 1_000_000

/** The owner of a check. */
export interface CheckOwner {
  /** The organisation, for taking turns with others. */
  readonly org: string
  /** Identifies the endpoint and region for state that is kept between checks. */
  readonly series: string
}

/**
 * An endpoint prepared for repeated checks. It contains sealed values in plain text and must never leave the process.
 */
export interface PreparedCheck extends CheckOwner {
  readonly request: RequestHop
  readonly timeoutMs: number
  readonly redirectsMax: number
  /** Whether names are resolved again for each check, and whether that time counts in latencies. */
  readonly isDnsFresh: boolean
  readonly isDnsCounted: boolean
  readonly assertions: readonly CompiledAssertion[]
  readonly needs: AssertionNeeds
  readonly quoting: CheckQuoting
}

/** Prepares `endpoint`, whose sealed values are in plain text, for checks. Pure. */
export function prepareCheck(endpoint: EndpointInput, { org, series }: CheckOwner): PreparedCheck {
  const { method, body, headers, timeout, max_redirects_to_follow, with_dns } = endpoint.call.Http
  const url = new URL(endpoint.url)
  url.hash = ''
  const request: RequestHop = {
    url,
    method,
    headers: Object.entries(headers ?? {}).map(([name, input]) => ({ name, ...requestValue(input) })),
    body: body == null ? null : requestValue(body),
  }
  const assertions = compileAssertions(endpoint.assertions)
  const needs = assertionNeeds(assertions)
  return {
    org,
    series,
    request,
    // A timer counts whole milliseconds, and 0 would be no time at all.
    timeoutMs:
      timeout === null ? TIMEOUT_MS : Math.ceil(timeout.secs * MS_PER_SECOND + timeout.nanos / NANOS_PER_MS),
    redirectsMax: Math.min(max_redirects_to_follow ?? REDIRECTS, REDIRECTS_MAX),
    isDnsFresh: with_dns === true || needs.freshDns,
    isDnsCounted: with_dns === true,
    assertions,
    needs,
    quoting: quotingFor(request),
  }
}

function requestValue({ value, sensitive }: SensitiveInput): RequestValue {
  return { value, isSealed: sensitive === true }
}
