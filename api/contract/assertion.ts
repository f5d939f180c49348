import * as z from 'zod'
import { compareDurations } from './duration.ts'
import { HEADER_NAME_CHARS_MAX } from './requestHeaders.ts'
import { tagged, variantOf } from './tagged.ts'
import { HEADER_NAME, limitedText, tooLong } from './text.ts'

/** Bounds of the contract's int32 fields. Contract: Limits, rule 4. */
export const INT32_MAX = 2_147_483_647
const INT32_MIN = -2_147_483_648

/** Longest operand of a string matcher (code points). Gap G18. */
export const OPERAND_CHARS_MAX = 8_192
/** Longest regular expression (code points). Gap G18. */
export const REGEX_CHARS_MAX = 1_024
/** Most values of a OneOf. Gap G18. */
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

/** What is expected of an integer. Contract: Assertions. */
export const comparisonSchema = tagged({
  Eq: operand,
  NotEq: operand,
  GreaterThan: operand,
  GreaterOrEqual: operand,
  LessThan: operand,
  LessOrEqual: operand,
  Between: z
    .tuple([operand, operand], { error: 'must be an array of two integers' })
    // Bounds the wrong way round can never match: refused early rather than monitored in vain (Gap G18).
    .refine(([low, high]) => low <= high, { error: 'must not have its bounds reversed' }),
  OneOf: z
    .array(operand, { error: 'must be an array of integers' })
    .min(1, { error: 'must have at least one value' })
    .max(ONE_OF_MAX, { error: `must have at most ${ONE_OF_MAX} values` }),
})
export type Comparison = z.infer<typeof comparisonSchema>

/** What is expected of a duration. Contract: Assertions. */
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

/** What is expected of a text. That a Regex compiles is for the server to say: this file has no engine. */
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
  StatusCode: z.object({ expected: comparisonSchema }),
  Latency: z.object({
    l_type: z.enum(LATENCY_TYPES, { error: `must be one of ${LATENCY_TYPES.join(', ')}` }),
    expected: durationComparisonSchema,
  }),
  DnsResoltion: z.object({ expected: durationComparisonSchema }),
  Header: z.object({
    name: z
      .string({ error: 'must be a string' })
      .regex(HEADER_NAME, { error: 'must be a header name' })
      .max(HEADER_NAME_CHARS_MAX, { error: tooLong(HEADER_NAME_CHARS_MAX) }),
    matcher: stringMatcherSchema,
  }),
  Body: z.object({ matcher: stringMatcherSchema }),
}

/** One assertion, of one of the kinds. */
export const assertionSchema = tagged(ASSERTION_KINDS)
export type Assertion = z.infer<typeof assertionSchema>

/**
 * The regular expression that `assertion` holds, and its path below the assertion; `undefined` when it holds none. Pure.
 */
export function regexOf(
  assertion: Assertion,
): { readonly pattern: string; readonly path: readonly string[] } | undefined {
  const { kind, payload } = variantOf(assertion)
  switch (kind) {
    case 'StatusCode':
    case 'Latency':
    case 'DnsResoltion':
      return undefined
    case 'Header':
    case 'Body': {
      const pattern = patternOf(payload.matcher)
      return pattern === undefined ? undefined : { pattern, path: [kind, 'matcher', 'Regex'] }
    }
  }
}

function patternOf(matcher: StringMatcher): string | undefined {
  const { kind, payload } = variantOf(matcher)
  switch (kind) {
    case 'Equals':
    case 'Contains':
    case 'StartsWith':
    case 'EndsWith':
      return undefined
    case 'Regex':
      return payload
  }
}

/** Shortest and longest timeout of a call. Gap G14. */
export const TIMEOUT_SECS_MAX = 60

/** A call's timeout: longer than nothing and at most a minute. Contract: Call; Gap G14. */
export const timeoutSchema = durationSchema
  .refine((timeout) => timeout.secs > 0 || timeout.nanos > 0, { error: 'must be longer than zero' })
  .refine((timeout) => compareDurations(timeout, { secs: TIMEOUT_SECS_MAX, nanos: 0 }) <= 0, {
    error: `must be at most ${TIMEOUT_SECS_MAX} seconds`,
  })
