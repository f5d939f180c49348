import type { Comparison } from '../../api/contract/assertion.ts'

/** A comparison as a function and in words. */
export interface Expectation {
  readonly holds: (value: number) => boolean
  /** The text after `expected`: `200–299`, `< 400`, `200 or 204`. */
  readonly text: string
}

/** The expectation of `comparison` for an integer. Contract: Assertions. Pure. */
export function expectedInteger(comparison: Comparison): Expectation {
  if ('Eq' in comparison) return expectation(`${comparison.Eq}`, (value) => value === comparison.Eq)
  if ('NotEq' in comparison)
    return expectation(`not ${comparison.NotEq}`, (value) => value !== comparison.NotEq)
  if ('GreaterThan' in comparison)
    return expectation(`> ${comparison.GreaterThan}`, (value) => value > comparison.GreaterThan)
  if ('GreaterOrEqual' in comparison)
    return expectation(`≥ ${comparison.GreaterOrEqual}`, (value) => value >= comparison.GreaterOrEqual)
  if ('LessThan' in comparison)
    return expectation(`< ${comparison.LessThan}`, (value) => value < comparison.LessThan)
  if ('LessOrEqual' in comparison)
    return expectation(`≤ ${comparison.LessOrEqual}`, (value) => value <= comparison.LessOrEqual)
  if ('Between' in comparison) {
    const [low, high] = comparison.Between
    return expectation(`${low}–${high}`, (value) => low <= value && value <= high)
  }
  const values = new Set(comparison.OneOf)
  return expectation(alternatives([...values].map(String)), (value) => values.has(value))
}

function expectation(text: string, holds: Expectation['holds']): Expectation {
  return { text, holds }
}

/** `200, 201 or 204`. */
function alternatives(texts: readonly string[]): string {
  const first = texts.slice(0, -1)
  return first.length === 0 ? texts.join('') : `${first.join(', ')} or ${texts.at(-1)}`
}
