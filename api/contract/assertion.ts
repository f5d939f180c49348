import * as z from 'zod'
import { compareDurations } from './duration.ts'
import { HEADER_NAME_CHARS_MAX } from './requestHeaders.ts'
import { tagged } from './tagged.ts'
import { HEADER_NAME, limitedText, tooLong } from './text.ts'

/** Bounds of the contract's int32 fields. Contract: Limits, rule 4. */
export const INT32_MAX = 2_147_483_647
const INT32_MIN = -2_147_483_648

/** Longest operand of a string matcher (code points). Gap G18. */
export const OPERAND_CHARS_MAX = 8_192
/** Longest regular expression (code points). Gap G18. */
export const REGEX_CHARS_MAX = 1_024
/** Maximum number of values of a OneOf. Gap G18. */
export const ONE_OF_MAX = 100

/** A whole number of the contract's int32 range from `min`. */
export function int32(min: number): z.ZodType<number, number> {
  const range = min === INT32_MIN ? 'a 32-bit whole number' : `a whole number from ${min} to ${INT32_MAX}`
  return z
    .int({ error: `must be ${range}` })
    .min(min, { error: `must be ${range}` })
    .max(INT32_MAX, {
      error: `must be ${range}`,
    })
    .meta({ format: 'int32' })
}

/** `{ secs, nanos }`, both required. Contract: Call. */
export const durationSchema = z.object(
  {
    secs: z.int({ error: 'must be a whole number of seconds' }).min(0, { error: 'must not be negative' }),
    nanos: z
      .int({ error: 'must be a whole number of nanoseconds' })
      .min(0, { error: 'must not be negative' })
      .max(999_999_999, { error: 'must be below 1000000000' }),
  },
  { error: 'must be a duration object { secs, nanos }' },
)

const operand = int32(INT32_MIN)

/** An expectation of an integer. Contract: Assertions. */
export const comparisonSchema = tagged({
  Eq: operand,
  NotEq: operand,
  GreaterThan: operand,
  GreaterOrEqual: operand,
  LessThan: operand,
  LessOrEqual: operand,
  Between: z
    .tuple([operand, operand], { error: 'must be an array of two integers' })
    // Reversed bounds can never match: refused early rather than monitored in vain (Gap G18).
    .refine(([low, high]) => low <= high, { error: 'must not have its bounds reversed' }),
  OneOf: z
    .array(operand, { error: 'must be an array of integers' })
    .min(1, { error: 'must have at least one value' })
    .max(ONE_OF_MAX, { error: `must have at most ${ONE_OF_MAX} values` }),
})
export type Comparison = z.infer<typeof comparisonSchema>

/** An expectation of a duration. Contract: Assertions. */
export const durationComparisonSchema = tagged({
  LessThan: durationSchema,
  LessOrEqual: durationSchema,
  Between: z
    .tuple([durationSchema, durationSchema], { error: 'must be an array of two durations' })
    .refine(([low, high]) => compareDurations(low, high) <= 0, {
      error: 'must not have its bounds reversed',
    }),
})
export type DurationComparison = z.infer<typeof durationComparisonSchema>

const matcherText = limitedText(OPERAND_CHARS_MAX)

/** An expectation of a text. Only the server checks that a Regex compiles: this file has no engine. */
export const stringMatcherSchema = tagged({
  Equals: matcherText,
  Contains: matcherText,
  StartsWith: matcherText,
  EndsWith: matcherText,
  Regex: limitedText(REGEX_CHARS_MAX),
})
export type StringMatcher = z.infer<typeof stringMatcherSchema>

/** Contract: Assertions. */
export const LATENCY_TYPES = ['HeadersLatency', 'BodyLatency', 'TotalLatency'] as const

/** The five kinds of assertion, `DnsResoltion` spelled as the contract spells it. */
export const ASSERTION_KINDS = {
  StatusCode: payload({ expected: comparisonSchema }),
  Latency: payload({
    l_type: z.enum(LATENCY_TYPES, { error: `must be one of ${LATENCY_TYPES.join(', ')}` }),
    expected: durationComparisonSchema,
  }),
  DnsResoltion: payload({ expected: durationComparisonSchema }),
  Header: payload({
    name: z
      .string({ error: 'must be a string' })
      .regex(HEADER_NAME, { error: 'must be a header name' })
      .max(HEADER_NAME_CHARS_MAX, { error: tooLong(HEADER_NAME_CHARS_MAX) }),
    matcher: stringMatcherSchema,
  }),
  Body: payload({ matcher: stringMatcherSchema }),
}

/** The schema of an object with `members`, whose error names these. */
function payload<Members extends z.ZodRawShape>(members: Members): z.ZodObject<Members> {
  return z.object(members, { error: `must be an object { ${Object.keys(members).join(', ')} }` })
}

export type AssertionKind = keyof typeof ASSERTION_KINDS

/** One assertion, of one of the kinds. */
export const assertionSchema = tagged(ASSERTION_KINDS)
export type Assertion = z.infer<typeof assertionSchema>

/** How the payload of a kind is laid out: the field with its operator, and the field that names its subject. */
interface AssertionLayout {
  readonly operators: 'integer' | 'duration' | 'text'
  readonly operatorField: 'expected' | 'matcher'
  readonly subjectField: 'l_type' | 'name' | undefined
}

/** The layout of each kind. How programs handle assertions follows from this table. */
export const ASSERTION_LAYOUTS = {
  StatusCode: { operators: 'integer', operatorField: 'expected', subjectField: undefined },
  Latency: { operators: 'duration', operatorField: 'expected', subjectField: 'l_type' },
  DnsResoltion: { operators: 'duration', operatorField: 'expected', subjectField: undefined },
  Header: { operators: 'text', operatorField: 'matcher', subjectField: 'name' },
  Body: { operators: 'text', operatorField: 'matcher', subjectField: undefined },
} as const satisfies Readonly<Record<AssertionKind, AssertionLayout>>

/** The keys of a union of tagged objects: those of each member, not only the common ones. */
type TagOf<Union> = Union extends unknown ? keyof Union & string : never

export type IntegerOperator = TagOf<Comparison>
export type DurationOperator = TagOf<DurationComparison>
export type TextOperator = TagOf<StringMatcher>

/** The operator of an assertion with its operand, by the family of operators that the kind takes. */
export type AssertionOperator =
  | { readonly operators: 'integer'; readonly operator: Comparison }
  | { readonly operators: 'duration'; readonly operator: DurationComparison }
  | { readonly operators: 'text'; readonly operator: StringMatcher }

/** An assertion in its parts. `subject` is the phase of a latency or the name of a header; `undefined` for other kinds. */
export type AssertionParts = AssertionOperator & {
  readonly kind: AssertionKind
  readonly subject: string | undefined
}

/** The parts of `assertion`. Pure. */
export function assertionParts(assertion: Assertion): AssertionParts {
  // True because an assertion is an object with one key, the kind, and a payload that the table describes.
  const [[kind, payload]] = Object.entries(assertion) as [[AssertionKind, Readonly<Record<string, unknown>>]]
  const { operators, operatorField, subjectField } = ASSERTION_LAYOUTS[kind]
  const subject = subjectField === undefined ? undefined : payload[subjectField]
  return { kind, subject, operators, operator: payload[operatorField] } as AssertionParts
}

/** The assertion with the parts `kind`, `subject` and `operator`. Pure. */
export function assertionOf({
  kind,
  subject,
  operator,
}: Pick<AssertionParts, 'kind' | 'subject' | 'operator'>): Assertion {
  const { operatorField, subjectField } = ASSERTION_LAYOUTS[kind]
  const payload = {
    ...(subjectField === undefined ? {} : { [subjectField]: subject }),
    [operatorField]: operator,
  }
  // True because the table describes the payload of the kind.
  return { [kind]: payload } as Assertion
}

/**
 * The regular expression in `assertion`, and its path inside the assertion; `undefined` when there is none. The only
 * place that decides which assertions have one. Pure.
 */
export function regexOf(
  assertion: Assertion,
): { readonly pattern: string; readonly path: readonly string[] } | undefined {
  const { kind, operators, operator } = assertionParts(assertion)
  if (operators !== 'text' || !('Regex' in operator)) return undefined
  return { pattern: operator.Regex, path: [kind, ASSERTION_LAYOUTS[kind].operatorField, 'Regex'] }
}

/** Shortest and longest timeout of a call. Gap G14. */
export const TIMEOUT_SECS_MAX = 60

/** A call's timeout: above zero and at most a minute. Contract: Call; Gap G14. */
export const timeoutSchema = durationSchema
  .refine((timeout) => timeout.secs > 0 || timeout.nanos > 0, { error: 'must be longer than zero' })
  .refine((timeout) => compareDurations(timeout, { secs: TIMEOUT_SECS_MAX, nanos: 0 }) <= 0, {
    error: `must be at most ${TIMEOUT_SECS_MAX} seconds`,
  })
