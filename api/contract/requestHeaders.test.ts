import { expect, test } from 'vitest'
import {
  headerNameProblem,
  headerValueProblem,
  requestHeadersProblem,
  suggestsSecret,
} from './requestHeaders.ts'

const CONNECTION = 'belongs to the connection and cannot be set'

test.each<readonly [string, string | undefined]>([
  ['X-Request-Id', undefined],
  ["!#$%&'*+-.^_`|~09AZaz", undefined],
  ['x'.repeat(128), undefined],
  ['x'.repeat(129), 'has more than 128 characters'],
  ['', 'is not a header name'],
  ['a b', 'is not a header name'],
  ['a:', 'is not a header name'],
  [' a', 'is not a header name'],
  ['ä', 'is not a header name'],
  ...[
    'Connection',
    'Content-Length',
    'Expect',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
  ].map((name) => [name, CONNECTION] as const),
  ['Proxy-Authorization', CONNECTION],
  ['X-Proxy-', undefined],
  ['Proxy', undefined],
])('the header name %s: %s', (name, problem) => {
  expect(headerNameProblem(name)).toBe(problem)
})

test.each([
  ['', undefined],
  ['a\tb é ÿ', undefined],
  ['x'.repeat(8_192), undefined],
  ['x'.repeat(8_193), 'must have at most 8192 characters'],
  ['a\nb', 'must be Latin-1 text without line breaks'],
  ['\u007f', 'must be Latin-1 text without line breaks'],
  ['€', 'must be Latin-1 text without line breaks'],
])('the header value %j: %s', (value, problem) => {
  expect(headerValueProblem(value)).toBe(problem)
})

/** `count` headers with names of three characters and values of `length`. */
function headers(count: number, length: number) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`x${10 + index}`, { value: 'v'.repeat(length) }]),
  )
}

test.each([
  ['none', {}, undefined],
  ['50', headers(50, 1), undefined],
  ['51', headers(51, 1), { path: [], message: 'must have at most 50 headers' }],
  ['32,768 characters', headers(4, 8_189), undefined],
  [
    '32,772 characters',
    headers(4, 8_190),
    { path: [], message: 'must have at most 32768 characters in all' },
  ],
  [
    'an invalid name',
    { 'a b': { value: '' } },
    { path: [], message: 'has a name that is not a header name' },
  ],
  [
    'a name twice',
    { A: { value: '' }, a: { value: '' } },
    { path: [], message: 'has a name twice, ignoring case' },
  ],
  [
    'an invalid value',
    { a: { value: '' }, B: { value: '\n' } },
    { path: ['B', 'value'], message: 'must be Latin-1 text without line breaks' },
  ],
])('headers of a check: %s', (_, some, problem) => {
  expect(requestHeadersProblem(some)).toEqual(problem)
})

test.each([
  'Authorization',
  'Proxy-Authorization',
  'Cookie',
  'X-Auth-Key',
  'X-Api-Key',
  'apikey',
  'api_key',
  'Ocp-Apim-Subscription-Key',
  'X-Functions-Key',
  'key',
  'sig',
  'X-Hub-Signature',
  'access_token',
  'db_password',
  'pwd',
  'private_key',
  'X-Session-Id',
])('%s suggests a secret', (name) => {
  expect(suggestsSecret(name)).toBe(true)
})

test.each([
  'Accept',
  'X-Trace',
  'X-Author',
  'Idempotency-Key',
  'Surrogate-Key',
  'cache_key',
  'sort_key',
  'partition-key',
  'primary_key',
  'keyword',
  'monkey',
  'design',
])('%s suggests no secret', (name) => {
  expect(suggestsSecret(name)).toBe(false)
})
