import { expect, test } from 'vitest'
import type { CanonicalEndpoint, CanonicalService } from '../../api/contract/canonical.ts'
import { alignEndpoints, alignedChanges } from './alignment.ts'

type Assertion = CanonicalEndpoint['assertions'][number]

function endpoint(
  name: string | null,
  url: string,
  assertions: readonly Assertion[] = [],
): CanonicalEndpoint {
  const Http = {
    method: 'GET' as const,
    body: null,
    headers: null,
    max_redirects_to_follow: null,
    with_dns: null,
    timeout: null,
  }
  return { name, url, call: { Http }, assertions }
}

function service(...endpoints: readonly CanonicalEndpoint[]): CanonicalService {
  return { name: 'shop', interval_secs: 60, regions: [], endpoints }
}

const changesOf = (from: CanonicalService, to: CanonicalService) => alignedChanges(from, to, 'by-fingerprint')

const status = (NotEq: number): Assertion => ({ StatusCode: { expected: { NotEq } } })
const latency = (l_type: 'TotalLatency' | 'HeadersLatency', secs: number): Assertion => ({
  Latency: { l_type, expected: { LessThan: { secs, nanos: 0 } } },
})
const header = (name: string, Equals: string): Assertion => ({ Header: { name, matcher: { Equals } } })

test.each([
  [
    'name and url',
    [endpoint('a', 'x'), endpoint('b', 'x')],
    [endpoint('b', 'x'), endpoint('a', 'x')],
    [1, 0],
    [],
  ],
  [
    'name and url, where names repeat',
    [endpoint('a', 'x'), endpoint('a', 'y')],
    [endpoint('a', 'y'), endpoint('a', 'x')],
    [1, 0],
    [],
  ],
  [
    'url, where none has a name',
    [endpoint(null, 'x'), endpoint(null, 'y')],
    [endpoint(null, 'y'), endpoint(null, 'new')],
    [1, undefined],
    [0],
  ],
  [
    'name',
    [endpoint('a', 'x'), endpoint('b', 'y')],
    [endpoint('b', 'new'), endpoint('c', 'z')],
    [1, undefined],
    [0],
  ],
  ['url', [endpoint('a', 'x'), endpoint('b', 'y')], [endpoint('new', 'y')], [1], [0]],
  ['name rather than url', [endpoint('a', 'x'), endpoint('b', 'y')], [endpoint('b', 'x')], [1], [0]],
  [
    'place',
    [endpoint(null, 'x'), endpoint(null, 'y')],
    [endpoint(null, 'v'), endpoint(null, 'w')],
    [0, 1],
    [],
  ],
  ['url, not by having no name', [endpoint(null, 'x'), endpoint(null, 'y')], [endpoint(null, 'y')], [1], [0]],
  ['nothing', [], [endpoint('a', 'x')], [undefined], []],
  [
    'place first where several are alike',
    [endpoint('a', 'x'), endpoint('a', 'x')],
    [endpoint('b', 'v'), endpoint('a', 'x')],
    [0, 1],
    [],
  ],
])('an endpoint is matched by its %s', (_, from, to, fromOf, removed) => {
  expect(alignEndpoints(from, to)).toEqual({ fromOf, removed })
})

test('an endpoint that is inserted first is shown alone, at its new index', () => {
  const [a, b, added] = [endpoint(null, 'a'), endpoint(null, 'b'), endpoint(null, 'new')]

  expect(changesOf(service(a, b), service(added, a, b))).toEqual([
    { pointer: '/endpoints/0', from: undefined, to: added },
  ])
})

test('a removed endpoint is shown at its old index', () => {
  const [a, b] = [endpoint(null, 'a'), endpoint(null, 'b')]

  expect(changesOf(service(a, b), service(b))).toEqual([{ pointer: '/endpoints/0', from: a, to: undefined }])
})

test('reordered endpoints are shown by their names, or else by their URLs', () => {
  const [a, b, added] = [endpoint('A', 'a'), endpoint(null, 'b'), endpoint('C', 'c')]

  expect(changesOf(service(a, b), service(b, added, a))).toEqual([
    { pointer: '/endpoints', from: ['A', 'b'], to: ['b', 'C', 'A'] },
    { pointer: '/endpoints/1', from: undefined, to: added },
  ])
})

test('a change within a moved endpoint is shown at its new index', () => {
  const [a, b] = [endpoint('A', 'a'), endpoint('B', 'b', [status(500)])]

  expect(changesOf(service(a, b), service(endpoint('B', 'new', [status(404)])))).toEqual([
    { pointer: '/endpoints/0/url', from: 'b', to: 'new' },
    { pointer: '/endpoints/0/assertions/0', from: status(500), to: status(404) },
    { pointer: '/endpoints/0', from: a, to: undefined },
  ])
})

test('changes outside the endpoints are shown first', () => {
  const a = endpoint('A', 'a')

  expect(changesOf(service(a), { ...service(endpoint('A', 'new')), name: 'store' })).toEqual([
    { pointer: '/name', from: 'shop', to: 'store' },
    { pointer: '/endpoints/0/url', from: 'a', to: 'new' },
  ])
})

/** What is shown of an endpoint whose assertions change. */
function assertionChanges(from: readonly Assertion[], to: readonly Assertion[]) {
  return changesOf(service(endpoint('A', 'a', from)), service(endpoint('A', 'a', to)))
}

const at = (index: number) => `/endpoints/0/assertions/${index}`

test('an assertion that is inserted first is shown alone', () => {
  expect(assertionChanges([status(500)], [status(404), status(500)])).toEqual([
    { pointer: at(0), from: undefined, to: status(404) },
  ])
})

test('a removed assertion is shown at its old index', () => {
  expect(assertionChanges([status(404), status(500)], [status(500)])).toEqual([
    { pointer: at(0), from: status(404), to: undefined },
  ])
})

test('reordered assertions are shown as reordered', () => {
  const [before, after] = [
    [status(404), status(500)],
    [status(500), status(404)],
  ]

  expect(assertionChanges(before, after)).toEqual([
    { pointer: '/endpoints/0/assertions', from: before, to: after },
  ])
})

test.each([
  ['kind of latency', latency('HeadersLatency', 1), latency('TotalLatency', 1), latency('HeadersLatency', 2)],
  ['header', header('b', 'x'), header('a', 'x'), header('b', 'y')],
  ['kind', status(404), header('status', 'x'), status(500)],
])('an assertion with a changed expectation is matched by its %s', (_, before, other, after) => {
  expect(assertionChanges([other, before], [after])).toEqual([
    { pointer: at(0), from: before, to: after },
    { pointer: at(0), from: other, to: undefined },
  ])
})
