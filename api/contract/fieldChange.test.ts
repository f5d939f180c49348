import { expect, test } from 'vitest'
import { canonicalRequest, canonicalResponse } from './canonical.ts'
import { changesBetween, diffService } from './fieldChange.ts'
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

test('a difference is told by its pointer, from what is to what is wanted', () => {
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

test('a sealed value whose key id changed counts only where marks are compared', () => {
  const before = canonicalResponse(response)
  const [endpoint] = response.endpoints
  const headers = { accept: { Plain: 'text/html' }, authorization: { Sealed: { key_id: 'k2' } } }
  const after = canonicalResponse({
    ...response,
    endpoints: [{ ...endpoint!, call: { Http: { ...endpoint!.call.Http, headers } } }],
  })

  expect(changesBetween(before, after, 'set-is-equal')).toEqual([])
  expect(changesBetween(before, after, 'by-mark').map(({ pointer }) => pointer)).toEqual([
    '/endpoints/0/call/Http/headers/authorization',
  ])
})

test('the canonical form of a request holds the fingerprint of a secret and never the secret', () => {
  const canonical = canonicalRequest(request, (pointer) => `mark of ${pointer}`)

  expect(JSON.stringify(canonical)).not.toContain('s3cret')
  expect(canonical.endpoints[0]?.call.Http.headers?.authorization).toEqual({
    sealed: 'mark of /endpoints/0/call/Http/headers/authorization',
  })
})
