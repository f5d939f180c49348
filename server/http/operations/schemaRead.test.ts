import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { incidentRequestSchema, incidentUpdateRequestSchema } from '../../../api/contract/incident.ts'
import { problemsOf } from '../../../api/contract/problem.ts'
import { serviceRequestSchema } from '../../../api/contract/service.ts'
import { cases } from '../../../scripts/testing/torture.ts'
import { SLICE_WORK, Slices } from '../transport/slices.ts'
import { readInSlices } from './schemaRead.ts'

const duration = { secs: 5, nanos: 0 }
const matchers = ['Equals', 'Contains', 'StartsWith', 'EndsWith', 'Regex'].map((tag) => ({ [tag]: 'x' }))
const full = {
  name: 'Checkout',
  interval_secs: 60,
  regions: ['eu-west-1', 'us-east-1'],
  endpoints: [
    {
      url: 'https://example.com/',
      name: null,
      call: {
        Http: {
          method: 'POST',
          body: { value: 'x', sensitive: true },
          headers: { 'X-A': { value: '1' }, b: { value: '2', sensitive: false } },
          max_redirects_to_follow: 3,
          with_dns: true,
          timeout: duration,
        },
      },
      assertions: [
        { StatusCode: { expected: { Between: [200, 299] } } },
        { StatusCode: { expected: { OneOf: [1, 2, 3] } } },
        { Latency: { l_type: 'BodyLatency', expected: { LessThan: duration } } },
        { DnsResoltion: { expected: { Between: [duration, duration] } } },
        ...matchers.map((matcher) => ({ Header: { name: 'X-A', matcher } })),
        ...matchers.map((matcher) => ({ Body: { matcher } })),
      ],
    },
    { url: 'http://x/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}
const incident = {
  title: 'Down',
  service_ids: ['00000000-0000-4000-8000-000000000000'],
  message: 'Looking',
  severity: 'major_outage',
}
const update = { body: 'Fixed', status: 'resolved', severity: 'partial_outage' }

type Step = readonly [number, 'set' | 'drop' | 'add', unknown]

/** `value` with the element at a random place changed, removed, or given a neighbour. */
function changed(value: unknown, [place, how, put]: Step): unknown {
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || value === null || place % 7 === 6) return put
  const names = Object.keys(value)
  const name = names[place % Math.max(1, names.length)] ?? 'x'
  const copy: Record<string, unknown> = { ...value }
  if (how === 'add' && place % 5 === 0) copy[isList ? String(names.length) : 'extra'] = put
  else if (how === 'drop' && place % 5 === 0) delete copy[name]
  else copy[name] = changed(copy[name], [Math.floor(place / 3), how, put])
  return isList ? Object.values(copy) : copy
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    '',
    ' ',
    -1,
    1.5,
    2 ** 40,
    [],
    {},
    null,
    { Eq: 1 },
    { GRPC: {} },
    { secs: -1 },
    'x'.repeat(9_000),
  ),
  fc.constantFrom(Array(101).fill(1), Array(51).fill({ Body: { matcher: { Equals: '' } } }), ['a', 'a']),
)
const place = fc.nat({ max: 100_000 })
const step: fc.Arbitrary<Step> = fc.tuple(place, fc.constantFrom('set', 'drop'), odd)
// Separate: for a tagged object with an extra key and an invalid payload, either problem may be reported.
const addition: fc.Arbitrary<Step> = fc.tuple(place, fc.constant('add'), odd)
const changes: fc.Arbitrary<Step[]> = fc.oneof(
  fc.array(step, { minLength: 1, maxLength: 3 }),
  fc.array(addition, { minLength: 1, maxLength: 1 }),
)

function slowly(schema: z.ZodType, value: unknown): unknown {
  const steps = readInSlices(schema, value, new Slices())
  for (;;) {
    const { done, value: read } = steps.next()
    if (done === true) return read
  }
}

function atOnce(schema: z.ZodType, value: unknown): unknown {
  const { data, error } = schema.safeParse(value)
  return error === undefined ? { value: data } : { problem: problemsOf(error)[0] }
}

test.each([
  ['a service', serviceRequestSchema, full],
  ['an incident', incidentRequestSchema, incident],
  ['an update', incidentUpdateRequestSchema, update],
])(
  '%s is read in slices as its schema reads it, with the same first problem',
  (_what, schema: z.ZodType, valid) => {
    expect(slowly(schema, valid)).toEqual({ value: valid })
    fc.assert(
      fc.property(changes, (steps) => {
        const body = steps.reduce<unknown>(changed, valid)

        expect(slowly(schema, body)).toEqual(atOnce(schema, body))
      }),
      { numRuns: cases(250, 3_000) },
    )
  },
)

test('validation stops at the first problem', () => {
  const empty = { StatusCode: { expected: { OneOf: Array(100).fill('') } } }
  const [first] = full.endpoints
  const bad = { ...first, assertions: Array(32).fill(empty) }
  const slices = [
    ...readInSlices(serviceRequestSchema, { ...full, endpoints: Array(93).fill(bad) }, new Slices()),
  ]

  expect(slices).toEqual([])
})

test('a valid body of a mebibyte is read in slices by its number of values', () => {
  const long = { StatusCode: { expected: { OneOf: Array(100).fill(1) } } }
  const [first] = full.endpoints
  const endpoint = { ...first, assertions: Array(50).fill(long) }
  const slices = [
    ...readInSlices(serviceRequestSchema, { ...full, endpoints: Array(90).fill(endpoint) }, new Slices()),
  ]

  expect(slices.length).toBeGreaterThanOrEqual(Math.floor((90 * 50 * 100) / SLICE_WORK))
})
