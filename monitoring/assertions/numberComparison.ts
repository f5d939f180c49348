import type { Comparison } from '../../api/contract/assertion.ts'
import { variantOf } from '../../api/contract/tagged.ts'

/** A comparison as a function and in words. */
export interface Expectation {
  readonly holds: (value: number) => boolean
  /** The text after `expected`: `200–299`, `< 400`, `200 or 204`. */
  readonly text: string
}

/** The operators that take one number, each with its sign in texts. */
const RELATIONS = {
  Eq: { sign: '', holds: (value: number, bound: number) => value === bound },
  NotEq: { sign: 'not ', holds: (value: number, bound: number) => value !== bound },
  GreaterThan: { sign: '> ', holds: (value: number, bound: number) => value > bound },
  GreaterOrEqual: { sign: '≥ ', holds: (value: number, bound: number) => value >= bound },
  LessThan: { sign: '< ', holds: (value: number, bound: number) => value < bound },
  LessOrEqual: { sign: '≤ ', holds: (value: number, bound: number) => value <= bound },
} as const

/** The expectation of `comparison` for a number that `textOf` writes. Contract: Assertions. Pure. */
export function expectedNumber(comparison: Comparison, textOf: (value: number) => string): Expectation {
  if ('Between' in comparison) {
    const [low, high] = comparison.Between
    return { text: `${textOf(low)}–${textOf(high)}`, holds: (value) => low <= value && value <= high }
  }
  if ('OneOf' in comparison) {
    const values = new Set(comparison.OneOf)
    return { text: alternatives([...values].map(textOf)), holds: (value) => values.has(value) }
  }
  const { kind, payload: bound } = variantOf(comparison)
  const { sign, holds } = RELATIONS[kind]
  return { text: `${sign}${textOf(bound)}`, holds: (value) => holds(value, bound) }
}

/** `200, 201 or 204`. */
function alternatives(texts: readonly string[]): string {
  const first = texts.slice(0, -1)
  return first.length === 0 ? texts.join('') : `${first.join(', ')} or ${texts.at(-1)}`
}
