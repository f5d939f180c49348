import {
  ASSERTION_LAYOUTS,
  type Assertion,
  type AssertionKind,
  type AssertionOperator,
  assertionParts,
  type LATENCY_TYPES,
} from '../../api/contract/assertion.ts'
import { expectedDuration } from './durationComparison.ts'
import { type Expectation, expectedNumber } from './numberComparison.ts'
import { type TextMatcher, textMatcher } from './textMatcher.ts'

type LatencyType = (typeof LATENCY_TYPES)[number]

/** An assertion prepared for repeated evaluation. The matcher is absent when the API refuses its pattern. */
export type CompiledAssertion = {
  [Kind in AssertionKind]: { readonly kind: Kind } & Subject<
    (typeof ASSERTION_LAYOUTS)[Kind]['subjectField']
  > &
    Operator<(typeof ASSERTION_LAYOUTS)[Kind]['operators']>
}[AssertionKind]

type Subject<Field> = Field extends 'l_type'
  ? { readonly type: LatencyType }
  : Field extends 'name'
    ? { readonly name: string }
    : object

type Operator<Family> = Family extends 'text'
  ? { readonly matcher: TextMatcher | undefined }
  : { readonly expected: Expectation }

/** The work that assertions require of a check. */
export interface AssertionNeeds {
  /** A Body, BodyLatency or TotalLatency assertion needs the whole body. */
  readonly wholeBody: boolean
  /** A Body assertion needs the text of the body, which is then decoded. */
  readonly bodyText: boolean
  /** A DnsResoltion assertion needs a resolution without the cache. */
  readonly freshDns: boolean
  /** Without a StatusCode assertion a status below 400 is implied. Gap G43. */
  readonly impliedStatus: boolean
}

/** `assertions`, in order, prepared for evaluation. Pure. */
export function compileAssertions(assertions: readonly Assertion[]): readonly CompiledAssertion[] {
  return assertions.map(compileAssertion)
}

function compileAssertion(assertion: Assertion): CompiledAssertion {
  const parts = assertionParts(assertion)
  const { kind, subject = '' } = parts
  // True because the table of layouts has the fields of each kind.
  return { kind, ...compiledSubject(kind, subject), ...compiledOperator(parts) } as CompiledAssertion
}

function compiledSubject(kind: AssertionKind, subject: string): object {
  const { subjectField } = ASSERTION_LAYOUTS[kind]
  switch (subjectField) {
    case 'l_type':
      return { type: subject }
    case 'name':
      return { name: subject.toLowerCase() }
    case undefined:
      return {}
  }
}

function compiledOperator({ operators, operator }: AssertionOperator): object {
  switch (operators) {
    case 'integer':
      return { expected: expectedNumber(operator, String) }
    case 'duration':
      return { expected: expectedDuration(operator) }
    case 'text':
      return { matcher: textMatcher(operator) }
  }
}

/** The work that `assertions` require of a check. Pure. */
export function assertionNeeds(assertions: readonly CompiledAssertion[]): AssertionNeeds {
  const bodyText = assertions.some(({ kind }) => kind === 'Body')
  return {
    wholeBody: bodyText || assertions.some((one) => one.kind === 'Latency' && one.type !== 'HeadersLatency'),
    bodyText,
    freshDns: assertions.some(({ kind }) => kind === 'DnsResoltion'),
    impliedStatus: !assertions.some(({ kind }) => kind === 'StatusCode'),
  }
}
