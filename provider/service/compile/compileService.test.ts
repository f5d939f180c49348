import { expect, test } from 'vitest'
import type { Assertion } from '../../../api/contract/assertion.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { UNKNOWN } from '../../protocol/values/value.ts'
import { configurationOf, type ServiceConfiguration } from '../../testing/serviceRequests.ts'
import type { EndpointConfig } from '../schema/config.ts'
import { compileService } from './compileService.ts'

const second = { secs: 1, nanos: 0 }
const minute = { secs: 60, nanos: 0 }

const assertions: readonly Assertion[] = [
  ...(['Eq', 'NotEq', 'GreaterThan', 'GreaterOrEqual', 'LessThan', 'LessOrEqual'] as const).map(
    // True because each of these operators takes one number.
    (operator) => ({ StatusCode: { expected: { [operator]: 200 } } }) as Assertion,
  ),
  { StatusCode: { expected: { Between: [200, 299] } } },
  { StatusCode: { expected: { OneOf: [200, 204] } } },
  { Latency: { l_type: 'HeadersLatency', expected: { LessThan: second } } },
  { Latency: { l_type: 'BodyLatency', expected: { LessOrEqual: second } } },
  { Latency: { l_type: 'TotalLatency', expected: { Between: [second, minute] } } },
  { DnsResoltion: { expected: { LessOrEqual: { secs: 0, nanos: 500_000_000 } } } },
  { Header: { name: 'Content-Type', matcher: { Equals: 'text/html' } } },
  { Header: { name: 'Content-Type', matcher: { Contains: 'html' } } },
  { Body: { matcher: { StartsWith: '<' } } },
  { Body: { matcher: { EndsWith: '>' } } },
  { Body: { matcher: { Regex: '^ok' } } },
]

/** A service with every attribute set. */
const whole: ServiceRequest = {
  name: 'checkout',
  interval_secs: 90,
  regions: ['eu-west-1', 'us-east-1'],
  endpoints: [
    {
      url: 'https://example.com/',
      name: 'home',
      call: {
        Http: {
          method: 'POST',
          timeout: { secs: 5, nanos: 0 },
          max_redirects_to_follow: 3,
          with_dns: true,
          body: { value: 'secret body', sensitive: true },
          headers: { Accept: { value: '*' }, Authorization: { value: 'token', sensitive: true } },
        },
      },
      assertions: [...assertions],
    },
    {
      url: 'https://example.com/min',
      name: null,
      call: {
        Http: {
          method: 'GET',
          timeout: null,
          max_redirects_to_follow: null,
          with_dns: null,
          body: null,
          headers: null,
        },
      },
      assertions: [],
    },
  ],
}

const AUTHORIZATION = ['endpoints', 0, 'http', 'headers', { key: 'Authorization' }]

test('a configuration compiles to its request, with the places of its secrets', () => {
  expect(compileService(configurationOf(whole))).toEqual({
    request: whole,
    secrets: [
      { path: [...AUTHORIZATION, 'value_wo'], value: 'token' },
      { path: ['endpoints', 0, 'http', 'body', 'value_wo'], value: 'secret body' },
    ],
    problems: [],
  })
})

const config = configurationOf(whole)
// True because nothing in it is unknown.
const [full, minimal] = config.endpoints as readonly [EndpointConfig, EndpointConfig]
const fullHttp = full.http as Exclude<EndpointConfig['http'], typeof UNKNOWN>

/** The problems of `whole` with `change`, by the path that each names. */
function problems(change: Partial<ServiceConfiguration>): readonly string[] {
  return compileService({ ...config, ...change }).problems.map(({ detail }) => detail ?? '')
}

/** `whole` with only the endpoint of `change`. */
function endpoint(change: object): Partial<ServiceConfiguration> {
  return { endpoints: [{ ...minimal, ...change }] }
}

const none = Object.fromEntries(
  ['status_code', 'latency', 'dns_resolution', 'header', 'body'].map((kind) => [kind, null]),
)
const noInteger = Object.fromEntries(
  ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'between', 'one_of'].map((operator) => [operator, null]),
)
const noDuration = { lt: null, lte: null, between: null }
const noText = { eq: null, contains: null, starts_with: null, ends_with: null, regex: null }

const assertion = (change: object) => endpoint({ assertions: [{ ...none, ...change }] })
const AT = 'endpoints[0].assertions[0]'
const KINDS = 'status_code, latency, dns_resolution, header, body'
const DURATION = 'must be a duration such as 500ms, 30s or 1m30s'

test.each([
  [{ interval: '1.5s' }, 'interval must be a whole number of seconds, such as 30s, 5m or 1m30s.'],
  [{ interval: 'soon' }, 'interval must be a whole number of seconds, such as 30s, 5m or 1m30s.'],
  [endpoint({ http: { ...fullHttp, timeout: 'soon' } }), `endpoints[0].http.timeout ${DURATION}.`],
  [assertion({}), `${AT} must have exactly one of ${KINDS}.`],
  [
    assertion({ status_code: { ...noInteger, eq: 1 }, body: { ...noText, eq: '' } }),
    `${AT} must have exactly one of ${KINDS}, not status_code and body.`,
  ],
  [
    assertion({ status_code: noInteger }),
    `${AT}.status_code must have exactly one of eq, ne, gt, gte, lt, lte, between, one_of.`,
  ],
  [
    assertion({ status_code: { ...noInteger, eq: 1, lt: 2 } }),
    `${AT}.status_code must have exactly one of eq, ne, gt, gte, lt, lte, between, one_of, not eq and lt.`,
  ],
  [
    assertion({ status_code: { ...noInteger, between: [1] } }),
    `${AT}.status_code.between must have exactly two bounds, not 1.`,
  ],
  [
    assertion({ status_code: { ...noInteger, between: [1, 2, 3] } }),
    `${AT}.status_code.between must have exactly two bounds, not 3.`,
  ],
  [
    assertion({ dns_resolution: noDuration }),
    `${AT}.dns_resolution must have exactly one of lt, lte, between.`,
  ],
  [assertion({ dns_resolution: { ...noDuration, lt: 'soon' } }), `${AT}.dns_resolution.lt ${DURATION}.`],
  [
    assertion({ dns_resolution: { ...noDuration, between: ['1s', 'soon'] } }),
    `${AT}.dns_resolution.between[1] ${DURATION}.`,
  ],
  [
    assertion({ dns_resolution: { ...noDuration, between: ['1s'] } }),
    `${AT}.dns_resolution.between must have exactly two bounds, not 1.`,
  ],
  [
    assertion({ latency: { ...noDuration, lt: '1s', phase: 'first' } }),
    `${AT}.latency.phase must be one of headers, body, total.`,
  ],
  [
    assertion({ body: noText }),
    `${AT}.body must have exactly one of eq, contains, starts_with, ends_with, regex.`,
  ],
  [
    { timeouts: { create: '0s', update: null, delete: null } },
    'timeouts.create must be longer than 0s: omit it for the default.',
  ],
  [{ timeouts: { create: 'soon' } }, `timeouts.create ${DURATION}.`],
])('an error in the form of a configuration is reported at its place (%#)', (change, problem) => {
  // True because only the values that a test changes have another form.
  expect(problems(change as Partial<ServiceConfiguration>)).toEqual([problem])
})

const BODY = 'endpoints[0].http.body'
const value = (body: object) => endpoint({ http: { ...fullHttp, headers: null, body } })
const empty = { value: null, value_wo: null, value_wo_version: null }

test.each([
  [empty, `${BODY} must have either value or value_wo (a sealed value cannot be read back).`],
  [{ ...empty, value: 'a', value_wo: 'b' }, `${BODY} must have only one of value and value_wo.`],
  [
    { ...empty, value: 'a', value_wo_version: '1' },
    `${BODY}.value_wo_version belongs to value_wo: a changed value is sent without it.`,
  ],
])('a value is configured in clear text or as a secret, not %j', (body, problem) => {
  expect(problems(value(body))).toEqual([problem])
})

test.each([
  [{ ...empty, value: 'a' }, { value: 'a' }, []],
  [{ ...empty, value: UNKNOWN }, { value: '' }, []],
  [{ ...empty, value: UNKNOWN, value_wo_version: '1' }, { value: '' }, []],
  [{ ...empty, value: UNKNOWN, value_wo: 'b' }, { value: 'b', sensitive: true }, ['b']],
  [{ ...empty, value_wo: UNKNOWN, value_wo_version: '1' }, { value: '', sensitive: true }, [UNKNOWN]],
  [{ ...empty, value_wo: 'b', value_wo_version: '1' }, { value: 'b', sensitive: true }, ['b']],
])('a value that may be plain or secret is accepted until it is known (%#)', (body, sent, secret) => {
  const { request, secrets, problems: found } = compileService({ ...config, ...value(body) })

  expect([request.endpoints[0]?.call.Http.body, secrets, found]).toEqual([
    sent,
    secret.map((one) => ({ path: ['endpoints', 0, 'http', 'body', 'value_wo'], value: one })),
    [],
  ])
})

const eq200 = { StatusCode: { expected: { Eq: 200 } } }
const lessThanSecond = { LessThan: second }

test.each([
  ['an assertion', [UNKNOWN], eq200],
  ['one of two kinds', [{ ...none, status_code: UNKNOWN, body: { ...noText, eq: 'a' } }], eq200],
  ['the only kind', [{ ...none, status_code: UNKNOWN }], eq200],
  ['an operand', [{ ...none, status_code: { ...noInteger, eq: UNKNOWN } }], eq200],
  ['a bound', [{ ...none, status_code: { ...noInteger, between: [1, UNKNOWN] } }], eq200],
  ['one of several values', [{ ...none, status_code: { ...noInteger, one_of: [1, UNKNOWN] } }], eq200],
  [
    'a duration',
    [{ ...none, dns_resolution: { ...noDuration, lt: UNKNOWN } }],
    { DnsResoltion: { expected: lessThanSecond } },
  ],
  [
    'a bound of a duration',
    [{ ...none, dns_resolution: { ...noDuration, between: ['1s', UNKNOWN] } }],
    { DnsResoltion: { expected: lessThanSecond } },
  ],
  [
    'a phase',
    [{ ...none, latency: { ...noDuration, lt: '1s', phase: UNKNOWN } }],
    { Latency: { l_type: 'TotalLatency', expected: lessThanSecond } },
  ],
  [
    'the name of a header',
    [{ ...none, header: { ...noText, eq: 'a', name: UNKNOWN } }],
    { Header: { name: 'unknown', matcher: { Equals: 'a' } } },
  ],
  ['a text', [{ ...none, body: { ...noText, eq: UNKNOWN } }], { Body: { matcher: { Contains: 'unknown' } } }],
])('an unknown %s is replaced by a valid value and causes no error', (_, configured, assertion) => {
  const { request, problems: found } = compileService({
    ...config,
    // True because only the values that a test changes have another form.
    ...(endpoint({ assertions: configured }) as Partial<ServiceConfiguration>),
  })

  expect([request.endpoints[0]?.assertions, found]).toEqual([[assertion], []])
})

const someHttp = { method: 'GET', timeout: null }

test.each([
  [
    'all endpoints',
    { endpoints: UNKNOWN },
    { endpoints: [{ url: 'https://unknown.invalid/', call: { Http: someHttp }, assertions: [] }] },
  ],
  [
    'an endpoint',
    { endpoints: [UNKNOWN] },
    { endpoints: [{ url: 'https://unknown.invalid/', call: { Http: someHttp }, assertions: [] }] },
  ],
  ['all regions', { regions: UNKNOWN }, { regions: ['unknown'] }],
  [
    'regions',
    { regions: [UNKNOWN, 'eu-west-1', UNKNOWN] },
    { regions: ['unknown-0', 'eu-west-1', 'unknown-2'] },
  ],
  ['the name', { name: UNKNOWN }, { name: 'unknown' }],
  ['the interval', { interval: UNKNOWN }, { interval_secs: 60 }],
  ['the timeouts', { timeouts: UNKNOWN }, {}],
  [
    'everything of an endpoint',
    { endpoints: [{ ...minimal, url: UNKNOWN, name: UNKNOWN, http: UNKNOWN, assertions: UNKNOWN }] },
    {
      endpoints: [{ url: 'https://unknown.invalid/', name: null, call: { Http: someHttp }, assertions: [] }],
    },
  ],
  [
    'assertions, where there are none',
    { endpoints: [{ ...minimal, assertions: null }] },
    { endpoints: [whole.endpoints[1]] },
  ],
  [
    'everything of a call',
    {
      endpoints: [
        {
          ...minimal,
          http: {
            method: UNKNOWN,
            timeout: UNKNOWN,
            max_redirects: UNKNOWN,
            with_dns: UNKNOWN,
            body: UNKNOWN,
            headers: UNKNOWN,
          },
        },
      ],
    },
    {
      endpoints: [
        {
          ...whole.endpoints[1],
          call: {
            Http: {
              method: 'GET',
              timeout: second,
              max_redirects_to_follow: 1,
              with_dns: null,
              body: null,
              headers: null,
            },
          },
        },
      ],
    },
  ],
  [
    'a header',
    {
      endpoints: [
        { ...full, assertions: [], http: { ...fullHttp, body: null, headers: new Map([['A', UNKNOWN]]) } },
      ],
    },
    {
      endpoints: [
        {
          ...whole.endpoints[0],
          assertions: [],
          call: { Http: { ...whole.endpoints[0]?.call.Http, body: null, headers: { A: { value: '' } } } },
        },
      ],
    },
  ],
])('with an unknown %s, the rest is validated', (_, change, expected) => {
  // True because only the values that a test changes have another form.
  const compiled = compileService({ ...config, ...(change as Partial<ServiceConfiguration>) })

  expect([compiled.request, compiled.problems]).toEqual([{ ...whole, ...expected }, []])
})
