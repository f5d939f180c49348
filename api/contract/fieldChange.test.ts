import { expect, test } from 'vitest'
import {
  type CanonicalService,
  canonicalRequest,
  canonicalResponse,
  UNKNOWN_FINGERPRINT,
} from './canonical.ts'
import { changesBetween, diffService, sameJson } from './fieldChange.ts'
import type { ServiceRequest, ServiceResponse } from './service.ts'

const request: ServiceRequest = {
  name: 'checkout',
  interval_secs: 60,
  regions: ['us-east-1', 'eu-west-1'],
  endpoints: [
    {
      url: 'https://example.com/',
      call: {
        Http: {
          method: 'GET',
          timeout: { secs: 5, nanos: 0 },
          headers: { Accept: { value: 'text/html' }, Authorization: { value: 's3cret', sensitive: true } },
        },
      },
      assertions: [{ StatusCode: { expected: { OneOf: [204, 200] } } }],
    },
  ],
}

const response: ServiceResponse = {
  id: '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e',
  org_id: '0d5d6a1c-fc18-4b73-8d20-4d9c02c1d3a1',
  name: 'checkout',
  interval_secs: 60,
  regions: ['eu-west-1', 'us-east-1'],
  endpoints: [
    {
      id: '1e0ea0a5-0b5b-43cb-8a3c-e4b5b2ad5a0f',
      url: 'https://example.com/',
      name: null,
      blocked: false,
      call: {
        Http: {
          method: 'GET',
          body: null,
          headers: { accept: { Plain: 'text/html' }, authorization: { Sealed: { key_id: 'k1' } } },
          max_redirects_to_follow: null,
          with_dns: null,
          timeout: { secs: 5, nanos: 0 },
        },
      },
      assertions: [{ StatusCode: { expected: { OneOf: [200, 204] } } }],
    },
  ],
  created_at: '2026-01-01T00:00:00.000Z',
  paused_at: null,
  created_by_email: null,
  auto_incident_failure_threshold: null,
  auto_incident_window_minutes: null,
  auto_incident_enabled: false,
}

test('absent and null, order of regions and case of header names make no difference', () => {
  expect(diffService(request, response)).toEqual([])
})

test('a change has a pointer, the current value and the desired value', () => {
  const [endpoint] = response.endpoints
  const drifted = {
    ...response,
    interval_secs: 30,
    endpoints: [
      { ...endpoint!, call: { Http: { ...endpoint!.call.Http, headers: { accept: { Plain: 'x' } } } } },
    ],
  }

  expect(diffService(request, drifted)).toEqual([
    { pointer: '/interval_secs', from: 30, to: 60 },
    { pointer: '/endpoints/0/call/Http/headers/accept', from: { plain: 'x' }, to: { plain: 'text/html' } },
    { pointer: '/endpoints/0/call/Http/headers/authorization', from: undefined, to: { sealed: 'set' } },
  ])
})

test('a sealed value whose key id changed counts only where fingerprints are compared', () => {
  const before = canonicalResponse(response)
  const [endpoint] = response.endpoints
  const headers = { accept: { Plain: 'text/html' }, authorization: { Sealed: { key_id: 'k2' } } }
  const after = canonicalResponse({
    ...response,
    endpoints: [{ ...endpoint!, call: { Http: { ...endpoint!.call.Http, headers } } }],
  })

  expect(changesBetween(before, after, 'set-is-equal')).toEqual([])
  expect(changesBetween(before, after, 'by-fingerprint').map(({ pointer }) => pointer)).toEqual([
    '/endpoints/0/call/Http/headers/authorization',
  ])
})

test('the canonical form of a request contains the fingerprint of a secret and never the secret', () => {
  const canonical = canonicalRequest(request, (pointer) => `mark of ${pointer}`)

  expect(JSON.stringify(canonical)).not.toContain('s3cret')
  expect(canonical.endpoints[0]?.call.Http.headers?.authorization).toEqual({
    sealed: 'mark of /endpoints/0/call/Http/headers/authorization',
  })
})

const canonical = canonicalResponse(response)

/** `canonical` with another call or other assertions. */
function changed(http: object, assertions = canonical.endpoints[0]!.assertions): CanonicalService {
  const [endpoint] = canonical.endpoints
  return {
    ...canonical,
    endpoints: [{ ...endpoint!, call: { Http: { ...endpoint!.call.Http, ...http } }, assertions }],
  }
}

const AT = '/endpoints/0/call/Http'

test.each([
  [
    'regions, as one list',
    { ...canonical, regions: ['eu-west-1'] },
    { pointer: '/regions', from: ['eu-west-1', 'us-east-1'], to: ['eu-west-1'] },
  ],
  [
    'a timeout, as one duration',
    changed({ timeout: { secs: 5, nanos: 1 } }),
    { pointer: `${AT}/timeout`, from: { secs: 5, nanos: 0 }, to: { secs: 5, nanos: 1 } },
  ],
  [
    'no timeout',
    changed({ timeout: null }),
    { pointer: `${AT}/timeout`, from: { secs: 5, nanos: 0 }, to: null },
  ],
  [
    'an assertion, as a whole',
    changed({}, [{ StatusCode: { expected: { OneOf: [200] } } }]),
    {
      pointer: '/endpoints/0/assertions/0',
      from: { StatusCode: { expected: { OneOf: [200, 204] } } },
      to: { StatusCode: { expected: { OneOf: [200] } } },
    },
  ],
  ['a flag', changed({ with_dns: true }), { pointer: `${AT}/with_dns`, from: null, to: true }],
  [
    'all headers',
    changed({ headers: null }),
    { pointer: `${AT}/headers`, from: canonical.endpoints[0]!.call.Http.headers, to: null },
  ],
  [
    'an endpoint',
    { ...canonical, endpoints: [] },
    { pointer: '/endpoints/0', from: canonical.endpoints[0], to: undefined },
  ],
])('a difference is reported at the field that differs: %s', (_, to, change) => {
  expect(changesBetween(canonical, to, 'by-fingerprint')).toEqual([change])
})

test('each assertion is reported separately, even beyond the tenth', () => {
  const many = (last: number) =>
    Array.from({ length: 11 }, (_, index) => ({
      StatusCode: { expected: { Eq: index < 10 ? index : last } },
    }))

  expect(changesBetween(changed({}, many(10)), changed({}, many(99)), 'by-fingerprint')).toEqual([
    {
      pointer: '/endpoints/0/assertions/10',
      from: { StatusCode: { expected: { Eq: 10 } } },
      to: { StatusCode: { expected: { Eq: 99 } } },
    },
  ])
})

test('a secret with an unknown fingerprint equals any other secret, and no value in clear', () => {
  const body = (value: object) => changed({ body: value })
  const compare = (from: object, to: object) => changesBetween(body(from), body(to), 'by-fingerprint').length

  expect([
    compare({ sealed: UNKNOWN_FINGERPRINT }, { sealed: 'k' }),
    compare({ sealed: 'k' }, { sealed: UNKNOWN_FINGERPRINT }),
    compare({ sealed: 'k' }, { sealed: 'l' }),
    compare({ sealed: 'k' }, { sealed: 'k' }),
    compare({ sealed: UNKNOWN_FINGERPRINT }, { plain: 'k' }),
  ]).toEqual([0, 0, 1, 0, 1])
})

test('the fingerprint of an unknown secret is the same in every run', () => {
  // States contain it.
  expect(UNKNOWN_FINGERPRINT).toBe('unknown')
})

test('equal secrets add no difference to another one', () => {
  const other = { ...changed({ body: { sealed: 'k' } }), name: 'other' }

  expect(changesBetween(changed({ body: { sealed: 'k' } }), other, 'by-fingerprint')).toEqual([
    { pointer: '/name', from: 'checkout', to: 'other' },
  ])
})

const inherited = Object.assign(Object.create({ inherited: 1 }), { a: 1 })

test.each([
  [1, 1, true],
  [1, '1', false],
  [null, null, true],
  [null, {}, false],
  [{}, null, false],
  [[], {}, false],
  [{}, [], false],
  [[1, 2], [1, 2], true],
  [[1, 2], [1], false],
  [[1], [1, 2], false],
  [[1, 2], [1, 3], false],
  [{ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: undefined }, { b: undefined }, false],
  [inherited, { a: 1 }, true],
  [{ a: 1 }, inherited, true],
])('whether %j and %j are equal is %s', (a, b, isEqual) => {
  expect(sameJson(a, b)).toBe(isEqual)
})
