import { Token } from 'cdktf'
import { checkedDuration, type Duration } from './duration.ts'

/** Exactly one of the entries of `Shapes`. */
type OneOf<Shapes> = {
  [Name in keyof Shapes]: Readonly<Pick<Shapes, Name>> & {
    readonly [Other in Exclude<keyof Shapes, Name>]?: never
  }
}[keyof Shapes]

/** Exactly one operator on a whole number. Bounds are included. */
export type IntegerOperator = OneOf<{
  eq: number
  ne: number
  gt: number
  gte: number
  lt: number
  lte: number
  between: [number, number]
  oneOf: number[]
}>

/** Exactly one operator on a duration. Bounds are included. */
export type DurationOperator = OneOf<{ lt: Duration; lte: Duration; between: [Duration, Duration] }>

/** Exactly one operator on a text. `regex` is in RE2 syntax. */
export type TextOperator = OneOf<{
  eq: string
  contains: string
  startsWith: string
  endsWith: string
  regex: string
}>

/** The phases of a latency. */
export type Phase = 'headers' | 'body' | 'total'

/**
 * An assertion about a response: exactly one kind with exactly one operator; anything else does not compile. Each is a value of
 * the bindings.
 */
export type Assertion = OneOf<{
  statusCode: IntegerOperator
  latency: DurationOperator & { readonly phase: Phase }
  dnsResolution: DurationOperator
  header: TextOperator & { readonly name: string }
  body: TextOperator
}>

/** Status codes have three digits. RFC 9110, section 15. */
const STATUS_CODE_MIN = 100
const STATUS_CODE_MAX = 999

/** `code`. Throws for an impossible status code; tokens are accepted. */
function checkedCode(code: number): number {
  if (Token.isUnresolved(code)) return code
  if (Number.isInteger(code) && code >= STATUS_CODE_MIN && code <= STATUS_CODE_MAX) return code
  throw new Error(
    `${code} is not a status code: give a whole number from ${STATUS_CODE_MIN} to ${STATUS_CODE_MAX}`,
  )
}

/** Assertions on the status code. Each throws for a number that is not a status code. */
export const status = {
  /** Exactly `code`. */
  is: (code: number): Assertion => ({ statusCode: { eq: checkedCode(code) } }),
  /** Any but `code`. */
  isNot: (code: number): Assertion => ({ statusCode: { ne: checkedCode(code) } }),
  /** Greater than `code`, which is not included. */
  above: (code: number): Assertion => ({ statusCode: { gt: checkedCode(code) } }),
  /** `code` or greater. */
  atLeast: (code: number): Assertion => ({ statusCode: { gte: checkedCode(code) } }),
  /** Less than `code`, which is not included. */
  below: (code: number): Assertion => ({ statusCode: { lt: checkedCode(code) } }),
  /** `code` or less. */
  atMost: (code: number): Assertion => ({ statusCode: { lte: checkedCode(code) } }),
  /** From `lowest` to `highest`, both included. */
  between: (lowest: number, highest: number): Assertion => ({
    statusCode: { between: [checkedCode(lowest), checkedCode(highest)] },
  }),
  /** One of the codes given. */
  oneOf: (first: number, ...others: readonly number[]): Assertion => ({
    statusCode: { oneOf: [first, ...others].map(checkedCode) },
  }),
}

/** Assertions on a duration. Each throws for a string that is not a duration. */
export interface DurationMatcher {
  /** Shorter than `limit`, which is not included. */
  readonly below: (limit: Duration) => Assertion
  /** `limit` or shorter. */
  readonly atMost: (limit: Duration) => Assertion
  /** Both included, the shorter one first. */
  readonly between: (shortest: Duration, longest: Duration) => Assertion
}

function durations(assert: (operator: DurationOperator) => Assertion): DurationMatcher {
  return {
    below: (limit) => assert({ lt: checkedDuration(limit) }),
    atMost: (limit) => assert({ lte: checkedDuration(limit) }),
    between: (shortest, longest) =>
      assert({ between: [checkedDuration(shortest), checkedDuration(longest)] }),
  }
}

const latencyOf = (phase: Phase): DurationMatcher =>
  durations((operator) => ({ latency: { phase, ...operator } }))

/** Assertions on the latency: until the headers, for the body, or in total. */
export const latency: Readonly<Record<Phase, DurationMatcher>> = {
  headers: latencyOf('headers'),
  body: latencyOf('body'),
  total: latencyOf('total'),
}

/** Assertions on the time of name resolution. */
export const dns: DurationMatcher = durations((operator) => ({ dnsResolution: operator }))

/** Assertions on a text. */
export interface TextMatcher {
  /** The whole text, case-sensitive like all below. */
  readonly equals: (text: string) => Assertion
  /** A part of the text. */
  readonly contains: (text: string) => Assertion
  /** The beginning of the text. */
  readonly startsWith: (text: string) => Assertion
  /** The end of the text. */
  readonly endsWith: (text: string) => Assertion
  /** In RE2 syntax: no look-around, no back-references. */
  readonly matches: (regex: string) => Assertion
}

function texts(assert: (operator: TextOperator) => Assertion): TextMatcher {
  return {
    equals: (text) => assert({ eq: text }),
    contains: (text) => assert({ contains: text }),
    startsWith: (text) => assert({ startsWith: text }),
    endsWith: (text) => assert({ endsWith: text }),
    matches: (regex) => assert({ regex }),
  }
}

/** Assertions on the response header `name`, which is case-insensitive. */
export function header(name: string): TextMatcher {
  return texts((operator) => ({ header: { name, ...operator } }))
}

/** Assertions on the response body. */
export const body: TextMatcher = texts((operator) => ({ body: operator }))
