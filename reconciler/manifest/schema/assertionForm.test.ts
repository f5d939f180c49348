import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertions } from '../../testing/assertionArbitrary.ts'
import { assertionFormSchema, compileAssertion, exportAssertion } from './assertionForm.ts'

test('Scenario 12: every assertion of the API survives a round trip through the manifest form', () => {
  fc.assert(
    fc.property(assertions, (assertion) => {
      const form = assertionFormSchema.parse(exportAssertion(assertion))
      expect(compileAssertion(form)).toEqual(assertion)
    }),
    { numRuns: 10_000 },
  )
})
