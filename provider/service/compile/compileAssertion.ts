import {
  ASSERTION_LAYOUTS,
  type Assertion,
  type AssertionOperator,
  assertionOf,
  type Comparison,
  type DurationComparison,
  type StringMatcher,
} from '../../../api/contract/assertion.ts'
import { type Duration, NOT_A_DURATION, parseDuration } from '../../../api/contract/duration.ts'
import { type Diagnostic, errorAt } from '../../protocol/authoring/diagnostics.ts'
import type { NumberValue } from '../../protocol/values/number.ts'
import { formatPath, type Path } from '../../protocol/values/path.ts'
import { UNKNOWN, type Unknown } from '../../protocol/values/value.ts'
import { KINDS } from '../schema/assertionKinds.ts'
import type { AssertionConfig } from '../schema/config.ts'
import {
  contractNameOf,
  DURATION_OPERATORS,
  INTEGER_OPERATORS,
  PHASES,
  SUBJECTS,
  TEXT_OPERATORS,
} from '../schema/operators.ts'

/** Collects problems during compilation. */
export interface Findings {
  readonly problems: Diagnostic[]
}

/** A problem of the attribute at `path`; `predicate` is the rest of the sentence about it. Pure. */
export function problemAt(path: Path, predicate: string): Diagnostic {
  return errorAt(path, 'Invalid service', `${formatPath(path)} ${predicate}.`)
}

// The placeholder for an unknown value passes every rule, so that the known values are still checked.
const SOME_DURATION: Duration = { secs: 1, nanos: 0 }
export const SOME_ASSERTION: Assertion = { StatusCode: { expected: { Eq: 200 } } }

/** `value`, or `standIn` when it is unknown. Pure. */
export function orElse<T>(value: T | Unknown, standIn: T): T {
  return value === UNKNOWN ? standIn : value
}

/**
 * `value` as a number. Decimals may have any size; the rules of the contract reject those that are not an int32. Pure.
 */
export function toNumber(value: NumberValue | Unknown): number {
  return value === UNKNOWN ? 1 : Number(String(value))
}

/** The duration in `text`. An invalid one is a problem at `path`. */
export function compileDuration(text: string | Unknown | null, path: Path, { problems }: Findings): Duration {
  if (text === UNKNOWN || text === null) return SOME_DURATION
  const duration = parseDuration(text)
  if (duration === undefined) problems.push(problemAt(path, NOT_A_DURATION))
  return duration ?? SOME_DURATION
}

type Given = Readonly<Record<string, unknown>>

/**
 * The only one of `names` that is set in `given`, if that is certain. None or several are a problem. An unknown value
 * may still become null, so it is no problem.
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

/**
 * Compiles the assertion at `path`: exactly one kind, with exactly one operator. Adds problems to `findings`; the
 * result is then a valid placeholder.
 */
export function compileAssertion(assertion: AssertionConfig, path: Path, findings: Findings): Assertion {
  const name = theOne(Object.values(KINDS), assertion, path, findings)
  const given = name === undefined ? null : assertion[name]
  if (name === undefined || given === null || given === UNKNOWN) return SOME_ASSERTION
  const kind = contractNameOf(KINDS, name)
  const { operators, subjectField } = ASSERTION_LAYOUTS[kind]
  const at = [...path, name]
  const subject = subjectField === undefined ? undefined : compileSubject(subjectField, given, at, findings)
  return assertionOf({ kind, subject, operator: compileOperator(operators, given, at, findings) })
}

/** The subject of an assertion: the phase in the contract, or the name of a header. */
function compileSubject(
  field: keyof typeof SUBJECTS,
  given: Given,
  path: Path,
  { problems }: Findings,
): string {
  const name = SUBJECTS[field]
  const value = given[name]
  switch (field) {
    case 'l_type': {
      const phases = Object.values(PHASES)
      const phase = phases.find((candidate) => candidate === value)
      if (phase === undefined && value !== UNKNOWN) {
        problems.push(problemAt([...path, name], `must be one of ${phases.join(', ')}`))
      }
      return contractNameOf(PHASES, phase ?? 'total')
    }
    case 'name':
      return value === UNKNOWN ? 'unknown' : String(value)
  }
}

type Operator = AssertionOperator['operator']
type IntegerConfig = Exclude<AssertionConfig['status_code'], Unknown | null>
type DurationConfig = Exclude<AssertionConfig['dns_resolution'], Unknown | null>
type TextConfig = Exclude<AssertionConfig['body'], Unknown | null>

/** Compiles the only operator in `given`, whose schema has the operators of the family `operators`. */
function compileOperator(
  operators: AssertionOperator['operators'],
  given: IntegerConfig | DurationConfig | TextConfig,
  path: Path,
  findings: Findings,
): Operator {
  // True because a kind's attributes are those of its family.
  switch (operators) {
    case 'integer':
      return compileComparison(given as IntegerConfig, path, findings)
    case 'duration':
      return compileDurationComparison(given as DurationConfig, path, findings)
    case 'text':
      return compileMatcher(given as TextConfig, path, findings)
  }
}

function compileComparison(given: IntegerConfig, path: Path, findings: Findings): Comparison {
  const operator = theOne(Object.values(INTEGER_OPERATORS), given, path, findings)
  if (operator === undefined) return { Eq: 200 }
  if (operator === 'one_of' || operator === 'between') {
    const values = given[operator]
    if (values === UNKNOWN || values === null || values.includes(UNKNOWN)) return { Eq: 200 }
    const numbers = values.map((value) => toNumber(value))
    if (operator === 'one_of') return { OneOf: numbers }
    return { Between: twoOf(numbers, 200, [...path, operator], findings) }
  }
  const value = toNumber(given[operator] ?? 1)
  // True because the table's name for this operator is one of the contract's keys that take one integer.
  return { [contractNameOf(INTEGER_OPERATORS, operator)]: value } as Comparison
}

function compileDurationComparison(
  given: DurationConfig,
  path: Path,
  findings: Findings,
): DurationComparison {
  const operator = theOne(Object.values(DURATION_OPERATORS), given, path, findings)
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
  // True because the table's name for this operator is one of the contract's keys that take one duration.
  return { [contractNameOf(DURATION_OPERATORS, operator)]: duration } as DurationComparison
}

function twoOf<T>(values: readonly T[], standIn: T, path: Path, { problems }: Findings): [T, T] {
  const [low, high] = values
  if (values.length === 2 && low !== undefined && high !== undefined) return [low, high]
  problems.push(problemAt(path, `must have exactly two bounds, not ${values.length}`))
  return [standIn, standIn]
}

function compileMatcher(given: TextConfig, path: Path, findings: Findings): StringMatcher {
  const operator = theOne(Object.values(TEXT_OPERATORS), given, path, findings)
  if (operator === undefined) return { Contains: 'unknown' }
  const text = orElse(given[operator], 'unknown') ?? ''
  // True because the table's name for this operator is one of the contract's keys, which all take a text.
  return { [contractNameOf(TEXT_OPERATORS, operator)]: text } as StringMatcher
}
