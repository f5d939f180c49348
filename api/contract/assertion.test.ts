import { expect, test } from 'vitest'
import { type Assertion, regexOf } from './assertion.ts'

const second = { LessThan: { secs: 1, nanos: 0 } }
const assertions: readonly [Assertion, ReturnType<typeof regexOf>][] = [
  [{ StatusCode: { expected: { Eq: 200 } } }, undefined],
  [{ Latency: { l_type: 'TotalLatency', expected: second } }, undefined],
  [{ DnsResoltion: { expected: second } }, undefined],
  [{ Header: { name: 'a', matcher: { Equals: 'x' } } }, undefined],
  [{ Body: { matcher: { Contains: 'x' } } }, undefined],
  [
    { Header: { name: 'a', matcher: { Regex: 'x' } } },
    { pattern: 'x', path: ['Header', 'matcher', 'Regex'] },
  ],
  [{ Body: { matcher: { Regex: 'y' } } }, { pattern: 'y', path: ['Body', 'matcher', 'Regex'] }],
]

test.each(assertions)('the regular expression of %j is %j', (assertion, regex) => {
  expect(regexOf(assertion)).toEqual(regex)
})
