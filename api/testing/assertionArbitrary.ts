import fc from 'fast-check'
import {
  ASSERTION_LAYOUTS,
  type Assertion,
  type AssertionKind,
  assertionOf,
  type Comparison,
  type DurationComparison,
  type StringMatcher,
} from '../contract/assertion.ts'

/** Parts of assertions: operators of each family, and subjects by their field. */
interface AssertionMaterial {
  readonly integer: fc.Arbitrary<Comparison>
  readonly duration: fc.Arbitrary<DurationComparison>
  readonly text: fc.Arbitrary<StringMatcher>
  readonly l_type: fc.Arbitrary<string>
  readonly name: fc.Arbitrary<string>
}

/** Assertions of every kind in the table of layouts. */
export function assertionArbitrary(material: AssertionMaterial): fc.Arbitrary<Assertion> {
  // True because the table has an entry for each kind.
  const kinds = Object.keys(ASSERTION_LAYOUTS) as AssertionKind[]
  return fc.oneof(
    ...kinds.map((kind) => {
      const { operators, subjectField } = ASSERTION_LAYOUTS[kind]
      const subject = subjectField === undefined ? fc.constant(undefined) : material[subjectField]
      const operator: fc.Arbitrary<Comparison | DurationComparison | StringMatcher> = material[operators]
      return fc.record({ kind: fc.constant(kind), subject, operator }).map(assertionOf)
    }),
  )
}
