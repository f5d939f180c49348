import type { Duration } from './duration.ts'

/** One of the entries of `Shapes`, and none of the others. */
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

/** Exactly one operator on a length of time. Bounds are included. */
export type DurationOperator = OneOf<{ lt: Duration; lte: Duration; between: [Duration, Duration] }>

/** Exactly one operator on a text. `regex` is in RE2 syntax. */
export type TextOperator = OneOf<{
  eq: string
  contains: string
  startsWith: string
  endsWith: string
  regex: string
}>

/** Until when a latency is measured. */
export type Phase = 'headers' | 'body' | 'total'

/**
 * What has to hold of an answer: exactly one kind, and in it exactly one operator. Two of either do not compile,
 * and none does not either. Each is a value of the bindings as it stands.
 */
export type Assertion = OneOf<{
  statusCode: IntegerOperator
  latency: DurationOperator & { readonly phase: Phase }
  dnsResolution: DurationOperator
  header: TextOperator & { readonly name: string }
  body: TextOperator
}>

/** What the status code has to be. */
export const status = {
  is: (code: number): Assertion => ({ statusCode: { eq: code } }),
  isNot: (code: number): Assertion => ({ statusCode: { ne: code } }),
  above: (code: number): Assertion => ({ statusCode: { gt: code } }),
  atLeast: (code: number): Assertion => ({ statusCode: { gte: code } }),
  below: (code: number): Assertion => ({ statusCode: { lt: code } }),
  atMost: (code: number): Assertion => ({ statusCode: { lte: code } }),
  /** Both included, the lower one first. */
  between: (lowest: number, highest: number): Assertion => ({ statusCode: { between: [lowest, highest] } }),
  oneOf: (first: number, ...others: readonly number[]): Assertion => ({
    statusCode: { oneOf: [first, ...others] },
  }),
}

/** Says how long something may take. */
export interface DurationMatcher {
  readonly below: (limit: Duration) => Assertion
  readonly atMost: (limit: Duration) => Assertion
  /** Both included, the shorter one first. */
  readonly between: (shortest: Duration, longest: Duration) => Assertion
}

function durations(assert: (operator: DurationOperator) => Assertion): DurationMatcher {
  return {
    below: (limit) => assert({ lt: limit }),
    atMost: (limit) => assert({ lte: limit }),
    between: (shortest, longest) => assert({ between: [shortest, longest] }),
  }
}

const latencyOf = (phase: Phase): DurationMatcher =>
  durations((operator) => ({ latency: { phase, ...operator } }))

/** How long the answer may take: until its headers are there, until its body is, or in total. */
export const latency: Readonly<Record<Phase, DurationMatcher>> = {
  headers: latencyOf('headers'),
  body: latencyOf('body'),
  total: latencyOf('total'),
}

/** How long resolving the name may take. */
export const dns: DurationMatcher = durations((operator) => ({ dnsResolution: operator }))

/** Says what a text has to be. */
export interface TextMatcher {
  readonly equals: (text: string) => Assertion
  readonly contains: (text: string) => Assertion
  readonly startsWith: (text: string) => Assertion
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

/** What the answer's header `name`, in any case, has to be. */
export function header(name: string): TextMatcher {
  return texts((operator) => ({ header: { name, ...operator } }))
}

/** What the answer's body has to be. */
export const body: TextMatcher = texts((operator) => ({ body: operator }))
