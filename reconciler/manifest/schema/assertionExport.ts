import type {
  Assertion,
  Comparison,
  DurationComparison,
  StringMatcher,
} from '../../../api/contract/assertion.ts'
import { formatDuration } from '../../../api/contract/duration.ts'
import type { AssertionForm } from './assertionForm.ts'

/** The form in which a person would write `assertion`: `compileAssertion` of it is `assertion` again. Pure. */
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
type MatcherForm = Extract<AssertionForm, { body: unknown }>['body']

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

function exportMatcher(matcher: StringMatcher): MatcherForm {
  if ('Equals' in matcher) return { equals: matcher.Equals }
  if ('Contains' in matcher) return { contains: matcher.Contains }
  if ('StartsWith' in matcher) return { startsWith: matcher.StartsWith }
  if ('EndsWith' in matcher) return { endsWith: matcher.EndsWith }
  return { regex: matcher.Regex }
}
