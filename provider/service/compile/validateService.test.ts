import { expect, test } from 'vitest'
import type { Assertion } from '../../../api/contract/assertion.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { UNKNOWN } from '../../protocol/values/value.ts'
import { configurationOf, type ServiceConfiguration } from '../../testing/serviceRequests.ts'
import { validateService } from './validateService.ts'

type Http = ServiceRequest['endpoints'][number]['call']['Http']

function config(http: Partial<Http> = {}, assertions: readonly Assertion[] = []): ServiceConfiguration {
  return configurationOf({
    name: 'checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: 'https://example.com/',
        call: { Http: { method: 'GET', timeout: null, ...http } },
        assertions: [...assertions],
      },
    ],
  })
}

const error = (path: readonly unknown[], detail: string) => ({
  severity: 'error',
  summary: 'Invalid service',
  detail,
  path,
})

const warning = (path: readonly unknown[], summary: string, detail: string) => ({
  severity: 'warning',
  summary,
  detail,
  path,
})

test('a valid service causes no diagnostics', () => {
  expect(validateService(config({ headers: { Accept: { value: '*' } } }))).toEqual([])
})

test('a violation of the contract is reported at its attribute', () => {
  expect(validateService({ ...config(), name: '', regions: ['a', 'a'] })).toEqual([
    error(['name'], 'name must not be empty.'),
    error(['regions'], 'regions must not name a region twice.'),
  ])
})

test('two invalid secrets are each reported at their own attribute', () => {
  const headers = { A: { value: 'x\n', sensitive: true }, B: { value: 'fine' } }
  const place = ['endpoints', 0, 'http', 'headers', { key: 'A' }, 'value_wo']

  expect(validateService(config({ headers }))).toEqual([
    error(place, 'endpoints[0].http.headers["A"].value_wo must be Latin-1 text without line breaks.'),
  ])
  const plain = { A: { value: 'fine', sensitive: true }, B: { value: 'x\n' } }
  expect(validateService(config({ headers: plain }))).toEqual([
    error(
      ['endpoints', 0, 'http', 'headers', { key: 'B' }, 'value'],
      'endpoints[0].http.headers["B"].value must be Latin-1 text without line breaks.',
    ),
  ])
})

test('a number that violates two equivalent rules is reported once', () => {
  const expected = { Eq: 10_000_000_000_000_000 }

  expect(validateService(config({}, [{ StatusCode: { expected } }]))).toEqual([
    error(
      ['endpoints', 0, 'assertions', 0, 'status_code', 'eq'],
      'endpoints[0].assertions[0].status_code.eq must be a 32-bit whole number.',
    ),
  ])
})

test.each([
  ['authorization', true],
  ['Authorization', true],
  ['Cookie', true],
  ['Authorization-X', true],
  ['X-Authorization', true],
  ['Cookies', true],
  ['X-Auth-Token', true],
  ['Client-Secret-Id', true],
  ['X-Api-Key', true],
  ['Apikey', true],
  ['X-Password', true],
  ['X-Functions-Key', true],
  ['Accept', false],
  ['Idempotency-Key', false],
])('whether a header %s in clear looks like a secret is %s', (name, isSecret) => {
  const path = ['endpoints', 0, 'http', 'headers', { key: name }, 'value']
  const detail = `endpoints[0].http.headers["${name}"].value is stored in clear text in the state. Use value_wo to keep it secret.`

  expect(validateService(config({ headers: { [name]: { value: 'x' } } }))).toEqual(
    isSecret ? [warning(path, 'This header looks like a secret', detail)] : [],
  )
  expect(validateService(config({ headers: { [name]: { value: 'x', sensitive: true } } }))).toEqual([])
})

test('unknown values are not reported', () => {
  const [endpoint] = config({ headers: { Authorization: { value: 'x' } } }).endpoints as readonly object[]
  const http = 'http' in endpoint! ? endpoint.http : undefined
  const some: readonly unknown[] = [
    UNKNOWN,
    [UNKNOWN],
    [{ ...endpoint, http: UNKNOWN }],
    [{ ...endpoint, http: { ...(http as object), headers: UNKNOWN } }],
    [{ ...endpoint, http: { ...(http as object), headers: new Map([['Authorization', UNKNOWN]]) } }],
  ]

  expect(
    some.map((endpoints) =>
      // True because only unknown values differ from a configuration.
      validateService({ ...config(), endpoints } as ServiceConfiguration),
    ),
  ).toEqual([[], [], [], [], []])
})

const AT = 'endpoints[0].assertions[1]'
const fine: Assertion = { Body: { matcher: { Equals: 'ok' } } }

test.each<[Assertion, boolean]>([
  [{ StatusCode: { expected: { Eq: 100 } } }, false],
  [{ StatusCode: { expected: { Eq: 599 } } }, false],
  [{ StatusCode: { expected: { Eq: 99 } } }, true],
  [{ StatusCode: { expected: { LessThan: 600 } } }, true],
  [{ StatusCode: { expected: { OneOf: [200, 1_000] } } }, true],
  [{ StatusCode: { expected: { Between: [200, 299] } } }, false],
])('whether %j names a status code that no server responds with is %s', (assertion, isOdd) => {
  const detail = `${AT}.status_code contains a status that no server sends: statuses are between 100 and 599.`
  const path = ['endpoints', 0, 'assertions', 1, 'status_code']

  expect(validateService(config({}, [fine, assertion]))).toEqual(
    isOdd ? [warning(path, 'Unusual status code', detail)] : [],
  )
})

test.each<[Assertion, string | undefined]>([
  [{ DnsResoltion: { expected: { LessThan: { secs: 0, nanos: 0 } } } }, 'dns_resolution'],
  [{ Latency: { l_type: 'TotalLatency', expected: { LessThan: { secs: 0, nanos: 0 } } } }, 'latency'],
  [{ DnsResoltion: { expected: { LessThan: { secs: 0, nanos: 1 } } } }, undefined],
  [{ DnsResoltion: { expected: { LessThan: { secs: 1, nanos: 0 } } } }, undefined],
  [{ DnsResoltion: { expected: { LessOrEqual: { secs: 0, nanos: 0 } } } }, undefined],
  [{ StatusCode: { expected: { LessThan: 100 } } }, undefined],
])('whether a latency limit can be met: %j', (assertion, kind) => {
  const detail = `${AT}.${kind}.lt is 0s, and no time is shorter: the assertion fails in every check.`
  const path = ['endpoints', 0, 'assertions', 1, kind, 'lt']

  expect(validateService(config({}, [fine, assertion]))).toEqual(
    kind === undefined ? [] : [warning(path, 'This assertion never holds', detail)],
  )
})

test('an error suppresses warnings, except for a secret in clear text', () => {
  const odd: Assertion = { StatusCode: { expected: { Eq: 99 } } }
  const diagnostics = validateService({ ...config({ headers: { Cookie: { value: 'x' } } }, [odd]), name: '' })

  expect(diagnostics.map(({ severity, summary }) => `${severity}: ${summary}`)).toEqual([
    'error: Invalid service',
    'warning: This header looks like a secret',
  ])
})
