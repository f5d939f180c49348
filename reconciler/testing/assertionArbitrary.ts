import fc from 'fast-check'
import type {
  Assertion,
  Comparison,
  DurationComparison,
  StringMatcher,
} from '../../api/contract/assertion.ts'
import { compareDurations } from '../../api/contract/duration.ts'
import { assertionArbitrary } from '../../api/testing/assertionArbitrary.ts'

const integer = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 })
const single = (keys: readonly string[]) =>
  fc.tuple(fc.constantFrom(...keys), integer).map(([key, value]) => ({ [key]: value }) as Comparison)
const comparison: fc.Arbitrary<Comparison> = fc.oneof(
  single(['Eq', 'NotEq', 'GreaterThan', 'GreaterOrEqual', 'LessThan', 'LessOrEqual']),
  fc.tuple(integer, integer).map(([a, b]): Comparison => ({ Between: [Math.min(a, b), Math.max(a, b)] })),
  fc.constantFrom<Comparison>({ Between: [200, 299] }, { Between: [500, 599] }),
  fc.array(integer, { minLength: 1, maxLength: 5 }).map((OneOf): Comparison => ({ OneOf })),
)
const duration = fc.record({
  secs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  nanos: fc.integer({ min: 0, max: 999_999_999 }),
})
const durationComparison: fc.Arbitrary<DurationComparison> = fc.oneof(
  duration.map((LessThan) => ({ LessThan })),
  duration.map((LessOrEqual) => ({ LessOrEqual })),
  fc
    .tuple(duration, duration)
    .map(([a, b]): DurationComparison => ({ Between: compareDurations(a, b) <= 0 ? [a, b] : [b, a] })),
)
const matcher: fc.Arbitrary<StringMatcher> = fc
  .tuple(
    fc.constantFrom('Equals', 'Contains', 'StartsWith', 'EndsWith', 'Regex'),
    fc.oneof(fc.string(), fc.constant(`\${var.a}`)),
  )
  .map(([key, value]) => ({ [key]: value }) as StringMatcher)
/** Assertions of the API over its whole grammar. */
export const assertions: fc.Arbitrary<Assertion> = assertionArbitrary({
  integer: comparison,
  duration: durationComparison,
  text: matcher,
  l_type: fc.constantFrom('HeadersLatency', 'BodyLatency', 'TotalLatency'),
  name: fc.constant('x-a'),
})
