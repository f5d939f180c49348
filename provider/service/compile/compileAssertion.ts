import type { Assertion } from '../../../api/contract/assertion.ts'
import { type Duration, NOT_A_DURATION, parseDuration } from '../../../api/contract/duration.ts'
import { type Diagnostic, errorAt } from '../../protocol/authoring/diagnostics.ts'
import type { NumberValue } from '../../protocol/values/number.ts'
import { formatPath, type Path } from '../../protocol/values/path.ts'
import { UNKNOWN, type Unknown } from '../../protocol/values/value.ts'
import type { AssertionConfig } from '../schema/config.ts'
import {
  ASSERTION_KINDS,
  DURATION_OPERATORS,
  INTEGER_OPERATORS,
  PHASES,
  TEXT_OPERATORS,
} from '../schema/operators.ts'

/** Where problems are collected while something is compiled. */
export interface Findings {
  readonly problems: Diagnostic[]
}

/** A problem of the attribute at `path`, which is the subject of the sentence that `predicate` ends. Pure. */
export function problemAt(path: Path, predicate: string): Diagnostic {
  return errorAt(path, 'Invalid service', `${formatPath(path)} ${predicate}.`)
}

// What stands in for the unknown passes every rule, so that what is known is checked without it.
const SOME_DURATION: Duration = { secs: 1, nanos: 0 }
export const SOME_ASSERTION: Assertion = { StatusCode: { expected: { Eq: 200 } } }

/** `value`, or `standIn` where it is unknown. Pure. */
export function orElse<T>(value: T | Unknown, standIn: T): T {
  return value === UNKNOWN ? standIn : value
}

/** Our numbers are decimals of any size; what is no int32 is for the contract's rules to refuse. Pure. */
export function toNumber(value: NumberValue | Unknown): number {
  return value === UNKNOWN ? 1 : Number(String(value))
}

/** The duration that `text` names; what names none is a problem at `path`. */
export function compileDuration(text: string | Unknown | null, path: Path, { problems }: Findings): Duration {
  if (text === UNKNOWN || text === null) return SOME_DURATION
  const duration = parseDuration(text)
  if (duration === undefined) problems.push(problemAt(path, NOT_A_DURATION))
  return duration ?? SOME_DURATION
}

type Given = Readonly<Record<string, unknown>>

/**
 * Which of `names` is set in `given`, when that is certain. None or several is a problem; while some are
 * unknown they may still turn out to be null, and nothing is said.
 */
function theOne<Name extends string>(
  names: readonly Name[],
  given: Given,
  path: Path,
  { problems }: Findings,
): Name | undefined {
  const set = names.filter((name) => given[name] !== null && given[name] !== UNKNOWN)
  const isCertain = names.every((name) => given[name] !== UNKNOWN)
  if (set.length > 1) {
    problems.push(problemAt(path, `must have exactly one of ${names.join(', ')}, not ${set.join(' and ')}`))
    return undefined
  }
  if (set.length === 0 && isCertain) {
    problems.push(problemAt(path, `must have exactly one of ${names.join(', ')}`))
  }
  return isCertain ? set[0] : undefined
}

function keysOf<T extends object>(table: T): readonly (keyof T & string)[] {
  // True for a table that is a literal, as all of ours are.
  return Object.keys(table) as (keyof T & string)[]
}

/**
 * The assertion that is configured at `path`: exactly one kind, with exactly one operator. What is wrong with
 * it goes to `findings`, and something valid stands in for it.
 */
export function compileAssertion(assertion: AssertionConfig, path: Path, findings: Findings): Assertion {
  const kind = theOne(keysOf(ASSERTION_KINDS), assertion, path, findings)
  if (kind === undefined) return SOME_ASSERTION
  const at = [...path, kind]
  const { status_code, latency, dns_resolution, header, body } = assertion
  if (status_code !== null && status_code !== UNKNOWN) {
    return { StatusCode: { expected: compileComparison(status_code, at, findings) } }
  }
  if (latency !== null && latency !== UNKNOWN) {
    const phase = keysOf(PHASES).find((name) => name === latency.phase)
    if (phase === undefined && latency.phase !== UNKNOWN) {
      findings.problems.push(problemAt([...at, 'phase'], `must be one of ${keysOf(PHASES).join(', ')}`))
    }
    const expected = compileDurationComparison(latency, at, findings)
    return { Latency: { l_type: PHASES[phase ?? 'total'], expected } }
  }
  if (dns_resolution !== null && dns_resolution !== UNKNOWN) {
    return { DnsResoltion: { expected: compileDurationComparison(dns_resolution, at, findings) } }
  }
  if (header !== null && header !== UNKNOWN) {
    return { Header: { name: orElse(header.name, 'unknown'), matcher: compileMatcher(header, at, findings) } }
  }
  if (body !== null && body !== UNKNOWN) return { Body: { matcher: compileMatcher(body, at, findings) } }
  return SOME_ASSERTION
}

type Comparison = Extract<Assertion, { StatusCode: unknown }>['StatusCode']['expected']
type DurationComparison = Extract<Assertion, { DnsResoltion: unknown }>['DnsResoltion']['expected']
type Matcher = Extract<Assertion, { Body: unknown }>['Body']['matcher']

function compileComparison(
  given: Exclude<AssertionConfig['status_code'], Unknown | null>,
  path: Path,
  findings: Findings,
): Comparison {
  const operator = theOne(keysOf(INTEGER_OPERATORS), given, path, findings)
  if (operator === undefined) return { Eq: 200 }
  if (operator === 'one_of' || operator === 'between') {
    const values = given[operator]
    if (values === UNKNOWN || values === null || values.includes(UNKNOWN)) return { Eq: 200 }
    const numbers = values.map((value) => toNumber(value))
    if (operator === 'one_of') return { OneOf: numbers }
    return { Between: twoOf(numbers, 200, [...path, operator], findings) }
  }
  const value = toNumber(given[operator] ?? 1)
  // True because the table's value for this operator is one of the contract's keys that take one integer.
  return { [INTEGER_OPERATORS[operator]]: value } as Comparison
}

function compileDurationComparison(
  given: Pick<Exclude<AssertionConfig['dns_resolution'], Unknown | null>, 'lt' | 'lte' | 'between'>,
  path: Path,
  findings: Findings,
): DurationComparison {
  const operator = theOne(keysOf(DURATION_OPERATORS), given, path, findings)
  if (operator === undefined) return { LessThan: SOME_DURATION }
  if (operator === 'between') {
    const { between } = given
    if (between === UNKNOWN || between === null || between.includes(UNKNOWN))
      return { LessThan: SOME_DURATION }
    const durations = between.map((text, index) =>
      compileDuration(text, [...path, 'between', index], findings),
    )
    return { Between: twoOf(durations, SOME_DURATION, [...path, 'between'], findings) }
  }
  const duration = compileDuration(given[operator], [...path, operator], findings)
  return operator === 'lt' ? { LessThan: duration } : { LessOrEqual: duration }
}

function twoOf<T>(values: readonly T[], standIn: T, path: Path, { problems }: Findings): [T, T] {
  const [low, high] = values
  if (values.length === 2 && low !== undefined && high !== undefined) return [low, high]
  problems.push(problemAt(path, `must have exactly two bounds, not ${values.length}`))
  return [standIn, standIn]
}

function compileMatcher(
  given: Exclude<AssertionConfig['body'], Unknown | null>,
  path: Path,
  findings: Findings,
): Matcher {
  const operator = theOne(keysOf(TEXT_OPERATORS), given, path, findings)
  if (operator === undefined) return { Contains: 'unknown' }
  const text = orElse(given[operator], 'unknown') ?? ''
  // True because the table's value for this operator is one of the contract's keys, and all of them take a text.
  return { [TEXT_OPERATORS[operator]]: text } as Matcher
}
