import { expect, test } from 'vitest'
import { canonicalRequest, canonicalResponse } from './canonical.ts'
import type { ServiceRequest, ServiceResponse } from './service.ts'

const fingerprint = (pointer: string, value: string) => `${value} at ${pointer}`

type Http = ServiceRequest['endpoints'][number]['call']['Http']

function request(http: Partial<Http> = {}): ServiceRequest {
  return {
    name: 'shop',
    interval_secs: 60,
    regions: ['eu-west-1', 'us-east-1'],
    endpoints: [
      {
        url: 'https://example.com/',
        call: { Http: { method: 'GET', timeout: null, ...http } },
        assertions: [
          { StatusCode: { expected: { OneOf: [200, 204, 1000] } } },
          { StatusCode: { expected: { Eq: 200 } } },
          { Body: { matcher: { Equals: 'up' } } },
        ],
      },
    ],
  }
}

const canonical = {
  name: 'shop',
  interval_secs: 60,
  regions: ['eu-west-1', 'us-east-1'],
  endpoints: [
    {
      url: 'https://example.com/',
      name: null,
      call: {
        Http: {
          method: 'GET',
          body: null,
          headers: null,
          max_redirects_to_follow: null,
          with_dns: null,
          timeout: null,
        },
      },
      assertions: [
        { StatusCode: { expected: { OneOf: [200, 204, 1000] } } },
        { StatusCode: { expected: { Eq: 200 } } },
        { Body: { matcher: { Equals: 'up' } } },
      ],
    },
  ],
}

function canonicalWith(http: object) {
  const [endpoint] = canonical.endpoints
  return { ...canonical, endpoints: [{ ...endpoint, call: { Http: { ...endpoint!.call.Http, ...http } } }] }
}

test('absent fields are null, sets are ordered, and lists of values have no duplicates', () => {
  const written = request()
  const [endpoint] = written.endpoints
  const [, ...assertions] = endpoint!.assertions
  const unordered = {
    ...written,
    regions: ['us-east-1', 'eu-west-1'],
    endpoints: [
      {
        ...endpoint!,
        assertions: [{ StatusCode: { expected: { OneOf: [204, 1000, 200, 204] } } }, ...assertions],
      },
    ],
  }

  expect(canonicalRequest(unordered, fingerprint)).toEqual(canonical)
})

test('no headers and an empty object of headers are the same', () => {
  expect(canonicalRequest(request({ headers: {} }), fingerprint)).toEqual(canonical)
})

test('header names are lower case and ordered', () => {
  const headers = { 'X-B': { value: '2' }, accept: { value: '1' }, 'X-C': { value: '3' } }
  const { headers: sent } = canonicalRequest(request({ headers }), fingerprint).endpoints[0]!.call.Http

  expect(Object.entries(sent!)).toEqual([
    ['accept', { plain: '1' }],
    ['x-b', { plain: '2' }],
    ['x-c', { plain: '3' }],
  ])
})

test('a sensitive value becomes a fingerprint bound to its place, and a plain value stays as it is', () => {
  const http: Partial<Http> = {
    body: { value: 'secret', sensitive: true },
    headers: { Authorization: { value: 'token', sensitive: true }, Accept: { value: '*', sensitive: false } },
  }

  expect(canonicalRequest(request(http), fingerprint)).toEqual(
    canonicalWith({
      body: { sealed: 'secret at /endpoints/0/call/Http/body' },
      headers: {
        accept: { plain: '*' },
        authorization: { sealed: 'token at /endpoints/0/call/Http/headers/authorization' },
      },
    }),
  )
})

test('the canonical form of a response equals that of its request, with key ids in place of secrets', () => {
  const { endpoints, ...definition } = request()
  const response: ServiceResponse = {
    ...definition,
    id: 'id',
    org_id: 'org',
    created_at: 'then',
    auto_incident_enabled: false,
    endpoints: endpoints.map(({ call, ...endpoint }) => ({
      ...endpoint,
      id: 'endpoint',
      blocked: false,
      call: {
        Http: {
          ...call.Http,
          body: { Plain: 'ping' },
          headers: { Authorization: { Sealed: { key_id: 'k' } } },
        },
      },
    })),
  }

  expect(canonicalResponse(response)).toEqual(
    canonicalWith({ body: { plain: 'ping' }, headers: { authorization: { sealed: 'k' } } }),
  )
})
