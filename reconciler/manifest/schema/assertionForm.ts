import * as z from 'zod'
import {
  type Assertion,
  assertionSchema,
  type Comparison,
  type DurationComparison,
  type StringMatcher,
} from '../../../api/contract/assertion.ts'
import {
  DURATION_PATTERN,
  type Duration,
  formatDuration,
  NOT_A_DURATION,
  parseDuration,
} from '../../../api/contract/duration.ts'
import { type Tagged, tagged } from '../../../api/contract/tagged.ts'

const number = z.int({ error: 'must be a whole number' })
/** Message about an invalid status. */
export const STATUS_FORM = 'must be a status code, a class such as "2xx", or a comparison such as { lt: 400 }'
const STATUS_CLASS = /^([1-5])xx$/

const comparisonForm = {
  eq: number,
  not: number,
  lt: number,
  lte: number,
  gt: number,
  gte: number,
  between: z.tuple([number, number], { error: 'must be a list of two whole numbers' }),
  oneOf: z.array(number, { error: 'must be a list of whole numbers' }).min(1, {
    error: 'must have at least one value',
  }),
}

const statusForm = z.union(
  [number, z.string().regex(STATUS_CLASS, { error: STATUS_FORM }), tagged(comparisonForm)],
  {
    error: STATUS_FORM,
  },
)

const DURATION_COMPARISON = 'must be a comparison such as "< 500ms", "<= 1s" or "100ms..500ms"'

const durationComparisonForm = z
  .string({ error: DURATION_COMPARISON })
  .refine((text) => parseDurationComparison(text) !== undefined, { error: DURATION_COMPARISON })
  .meta({
    pattern: `^\\s*(?:<=?\\s*${DURATION_PATTERN}|${DURATION_PATTERN}\\s*\\.\\.\\s*${DURATION_PATTERN})\\s*$`,
    patternErrorMessage: DURATION_COMPARISON,
  })

const text = z.string({ error: 'must be a string' })
const MATCHERS = ['equals', 'contains', 'startsWith', 'endsWith', 'regex'] as const
const matcherForm = {
  equals: text.optional(),
  contains: text.optional(),
  startsWith: text.optional(),
  endsWith: text.optional(),
  regex: text.optional(),
}
type MatcherForm = { readonly [Matcher in (typeof MATCHERS)[number]]?: string | undefined }
const ONE_MATCHER = { error: `must have exactly one of ${MATCHERS.join(', ')}` }
/** The same rule for the JSON Schema. */
const ONE_MATCHER_REQUIRED = { oneOf: MATCHERS.map((matcher) => ({ required: [matcher] })) }
const hasOneMatcher = (form: MatcherForm): boolean =>
  MATCHERS.filter((matcher) => form[matcher] !== undefined).length === 1

const forms = {
  status: statusForm,
  latency: tagged({
    headers: durationComparisonForm,
    body: durationComparisonForm,
    total: durationComparisonForm,
  }),
  dns: durationComparisonForm,
  header: z
    .strictObject({ name: text, ...matcherForm }, { error: 'must be an object { name, contains }' })
    .refine(hasOneMatcher, ONE_MATCHER)
    .meta(ONE_MATCHER_REQUIRED),
  body: z
    .strictObject(matcherForm, { error: 'must be an object such as { contains: … }' })
    .refine(hasOneMatcher, ONE_MATCHER)
    .meta(ONE_MATCHER_REQUIRED),
  raw: assertionSchema,
}

/** One assertion in the form of manifests; `raw` has the form of the API. */
export const assertionFormSchema = tagged(forms)
export type AssertionForm = Tagged<typeof forms>

/** `form` in the form of the API. Pure. Throws an Error when `form` did not pass `assertionFormSchema`. */
export function compileAssertion(form: AssertionForm): Assertion {
  if ('raw' in form) return form.raw
  if ('status' in form) return { StatusCode: { expected: compileStatus(form.status) } }
  if ('dns' in form) return { DnsResoltion: { expected: compileDurationComparison(form.dns) } }
  if ('header' in form) {
    return { Header: { name: form.header.name, matcher: compileMatcher(form.header) } }
  }
  if ('body' in form) return { Body: { matcher: compileMatcher(form.body) } }
  const { latency } = form
  if ('headers' in latency) return latencyOf('HeadersLatency', latency.headers)
  if ('body' in latency) return latencyOf('BodyLatency', latency.body)
  return latencyOf('TotalLatency', latency.total)
}

function latencyOf(type: 'HeadersLatency' | 'BodyLatency' | 'TotalLatency', comparison: string): Assertion {
  return { Latency: { l_type: type, expected: compileDurationComparison(comparison) } }
}

function compileStatus(form: z.output<typeof statusForm>): Comparison {
  if (typeof form === 'number') return { Eq: form }
  if (typeof form === 'string') {
    const hundreds = Number(STATUS_CLASS.exec(form)?.[1]) * 100
    return { Between: [hundreds, hundreds + 99] }
  }
  if ('eq' in form) return { Eq: form.eq }
  if ('not' in form) return { NotEq: form.not }
  if ('lt' in form) return { LessThan: form.lt }
  if ('lte' in form) return { LessOrEqual: form.lte }
  if ('gt' in form) return { GreaterThan: form.gt }
  if ('gte' in form) return { GreaterOrEqual: form.gte }
  if ('between' in form) return { Between: form.between }
  return { OneOf: form.oneOf }
}

function compileMatcher(form: MatcherForm): StringMatcher {
  if (form.equals !== undefined) return { Equals: form.equals }
  if (form.contains !== undefined) return { Contains: form.contains }
  if (form.startsWith !== undefined) return { StartsWith: form.startsWith }
  if (form.endsWith !== undefined) return { EndsWith: form.endsWith }
  if (form.regex !== undefined) return { Regex: form.regex }
  throw new Error('a matcher needs one of its operators')
}

function compileDurationComparison(source: string): DurationComparison {
  const comparison = parseDurationComparison(source)
  if (comparison === undefined) throw new Error(NOT_A_DURATION)
  return comparison
}

const BOUND = /^(<=?)\s*(\S+)$/
const RANGE = /^(\S+?)\s*\.\.\s*(\S+)$/

function parseDurationComparison(source: string): DurationComparison | undefined {
  const trimmed = source.trim()
  const bound = BOUND.exec(trimmed)
  if (bound !== null) {
    const duration = parseDuration(bound[2] ?? '')
    if (duration === undefined) return undefined
    return bound[1] === '<' ? { LessThan: duration } : { LessOrEqual: duration }
  }
  const range = RANGE.exec(trimmed)
  const low = parseBoundOf(range?.[1])
  const high = parseBoundOf(range?.[2])
  return low === undefined || high === undefined ? undefined : { Between: [low, high] }
}

function parseBoundOf(source: string | undefined): Duration | undefined {
  return source === undefined ? undefined : parseDuration(source)
}

/** `assertion` in the form of manifests; the inverse of `compileAssertion`. Pure. */
export function exportAssertion(assertion: Assertion): AssertionForm {
  if ('StatusCode' in assertion) return { status: exportStatus(assertion.StatusCode.expected) }
  if ('DnsResoltion' in assertion) return { dns: exportDurationComparison(assertion.DnsResoltion.expected) }
  if ('Body' in assertion) return { body: exportMatcher(assertion.Body.matcher) }
  if ('Header' in assertion) {
    return { header: { name: assertion.Header.name, ...exportMatcher(assertion.Header.matcher) } }
  }
  const expected = exportDurationComparison(assertion.Latency.expected)
  switch (assertion.Latency.l_type) {
    case 'HeadersLatency':
      return { latency: { headers: expected } }
    case 'BodyLatency':
      return { latency: { body: expected } }
    case 'TotalLatency':
      return { latency: { total: expected } }
  }
}

type StatusForm = Extract<AssertionForm, { status: unknown }>['status']
type BodyForm = Extract<AssertionForm, { body: unknown }>['body']

function exportStatus(expected: Comparison): StatusForm {
  if ('Eq' in expected) return expected.Eq
  if ('NotEq' in expected) return { not: expected.NotEq }
  if ('LessThan' in expected) return { lt: expected.LessThan }
  if ('LessOrEqual' in expected) return { lte: expected.LessOrEqual }
  if ('GreaterThan' in expected) return { gt: expected.GreaterThan }
  if ('GreaterOrEqual' in expected) return { gte: expected.GreaterOrEqual }
  if ('OneOf' in expected) return { oneOf: expected.OneOf }
  const [low, high] = expected.Between
  const isClass = low % 100 === 0 && low >= 100 && low <= 500 && high === low + 99
  return isClass ? `${low / 100}xx` : { between: [low, high] }
}

function exportDurationComparison(expected: DurationComparison): string {
  if ('LessThan' in expected) return `< ${formatDuration(expected.LessThan)}`
  if ('LessOrEqual' in expected) return `<= ${formatDuration(expected.LessOrEqual)}`
  return expected.Between.map(formatDuration).join('..')
}

function exportMatcher(matcher: StringMatcher): BodyForm {
  if ('Equals' in matcher) return { equals: matcher.Equals }
  if ('Contains' in matcher) return { contains: matcher.Contains }
  if ('StartsWith' in matcher) return { startsWith: matcher.StartsWith }
  if ('EndsWith' in matcher) return { endsWith: matcher.EndsWith }
  return { regex: matcher.Regex }
}
