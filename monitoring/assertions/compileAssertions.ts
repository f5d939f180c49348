import type { Assertion, LATENCY_TYPES } from '../../api/contract/assertion.ts'
import { expectedDuration } from './durationComparison.ts'
import { type Expectation, expectedInteger } from './integerComparison.ts'
import { type TextMatcher, textMatcher } from './textMatcher.ts'

type LatencyType = (typeof LATENCY_TYPES)[number]

/** An assertion ready to be evaluated as often as wanted. A matcher is absent where the API refuses its pattern. */
export type CompiledAssertion =
  | { readonly kind: 'StatusCode'; readonly expected: Expectation }
  | { readonly kind: 'Latency'; readonly type: LatencyType; readonly expected: Expectation }
  | { readonly kind: 'DnsResoltion'; readonly expected: Expectation }
  | { readonly kind: 'Header'; readonly name: string; readonly matcher: TextMatcher | undefined }
  | { readonly kind: 'Body'; readonly matcher: TextMatcher | undefined }

/** What a check has to do for its assertions. */
export interface AssertionNeeds {
  /** A Body, BodyLatency or TotalLatency assertion needs the whole body. */
  readonly wholeBody: boolean
  /** A Body assertion needs its text, so that it has to be decoded. */
  readonly bodyText: boolean
  /** A DnsResoltion assertion needs a resolution that no cache answers. */
  readonly freshDns: boolean
  /** Without a StatusCode assertion a status below 400 is implied. Gap G43. */
  readonly impliedStatus: boolean
}

/** `assertions`, in their order, ready to be evaluated. Pure. */
export function compileAssertions(assertions: readonly Assertion[]): readonly CompiledAssertion[] {
  return assertions.map(compileAssertion)
}

function compileAssertion(assertion: Assertion): CompiledAssertion {
  if ('StatusCode' in assertion)
    return { kind: 'StatusCode', expected: expectedInteger(assertion.StatusCode.expected) }
  if ('Latency' in assertion) {
    const { l_type: type, expected } = assertion.Latency
    return { kind: 'Latency', type, expected: expectedDuration(expected) }
  }
  if ('DnsResoltion' in assertion)
    return { kind: 'DnsResoltion', expected: expectedDuration(assertion.DnsResoltion.expected) }
  if ('Header' in assertion) {
    const { name, matcher } = assertion.Header
    return { kind: 'Header', name: name.toLowerCase(), matcher: textMatcher(matcher) }
  }
  return { kind: 'Body', matcher: textMatcher(assertion.Body.matcher) }
}

/** What `assertions` need of a check. Pure. */
export function assertionNeeds(assertions: readonly CompiledAssertion[]): AssertionNeeds {
  const bodyText = assertions.some(({ kind }) => kind === 'Body')
  return {
    wholeBody: bodyText || assertions.some((one) => one.kind === 'Latency' && one.type !== 'HeadersLatency'),
    bodyText,
    freshDns: assertions.some(({ kind }) => kind === 'DnsResoltion'),
    impliedStatus: !assertions.some(({ kind }) => kind === 'StatusCode'),
  }
}
