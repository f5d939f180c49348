import { expect, test } from 'vitest'
import {
  ASSERTION_KINDS,
  ASSERTION_LAYOUTS,
  type Assertion,
  assertionOf,
  assertionParts,
  regexOf,
} from './assertion.ts'

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

const examples: readonly (readonly [string, Assertion, object])[] = [
  [
    'StatusCode',
    { StatusCode: { expected: { OneOf: [200, 204] } } },
    { kind: 'StatusCode', subject: undefined, operators: 'integer', operator: { OneOf: [200, 204] } },
  ],
  [
    'Latency',
    { Latency: { l_type: 'BodyLatency', expected: second } },
    { kind: 'Latency', subject: 'BodyLatency', operators: 'duration', operator: second },
  ],
  [
    'DnsResoltion',
    { DnsResoltion: { expected: { LessOrEqual: second.LessThan } } },
    {
      kind: 'DnsResoltion',
      subject: undefined,
      operators: 'duration',
      operator: { LessOrEqual: second.LessThan },
    },
  ],
  [
    'Header',
    { Header: { name: 'Server', matcher: { Equals: 'a' } } },
    { kind: 'Header', subject: 'Server', operators: 'text', operator: { Equals: 'a' } },
  ],
  [
    'Body',
    { Body: { matcher: { Regex: 'ok' } } },
    { kind: 'Body', subject: undefined, operators: 'text', operator: { Regex: 'ok' } },
  ],
]

test.each(examples)(
  'an assertion of kind %s can be split into parts and rebuilt from them',
  (_kind, assertion, parts) => {
    expect(assertionParts(assertion)).toEqual(parts)
    expect(assertionOf(assertionParts(assertion))).toEqual(assertion)
  },
)

test('the table of layouts describes the fields of every kind, and nothing else', () => {
  const fields = Object.entries(ASSERTION_KINDS).map(([kind, payload]) => [
    kind,
    Object.keys(payload.shape).sort(),
  ])
  const described = Object.entries(ASSERTION_LAYOUTS).map(([kind, { operatorField, subjectField }]) => [
    kind,
    [operatorField, ...(subjectField === undefined ? [] : [subjectField])].sort(),
  ])

  expect(described).toEqual(fields)
})
