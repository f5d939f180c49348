import { expect, test } from 'vitest'
import type { EndpointInput, EndpointOutput } from '../../api/contract/service.ts'
import { type EndpointDeps, makeEndpoints } from './endpoints.ts'
import type { SealedValue } from './seal.ts'
import { fixedEnvironment } from './testing/fixedEnvironment.ts'

const owner = { orgId: 'org', serviceId: 'service' }

/** Seals in a form that shows the value and its place. */
function deps(): EndpointDeps {
  const { uuid } = fixedEnvironment()
  const blank = Buffer.alloc(0)
  return {
    uuid,
    seal: (value, place): SealedValue => ({
      ...place,
      keyId: `key of ${value}`,
      masterKeyId: 'master',
      wrapNonce: blank,
      wrappedKey: blank,
      nonce: blank,
      ciphertext: Buffer.from(value),
    }),
    isBlocked: (url) => url.includes('127.0.0.1'),
  }
}

function input(change: Partial<EndpointInput> = {}, http: object = {}): EndpointInput {
  return {
    url: 'https://example.com/',
    call: { Http: { method: 'GET', timeout: null, ...http } },
    assertions: [],
    ...change,
  }
}

const make = (inputs: readonly EndpointInput[], previous: readonly EndpointOutput[] = []) =>
  makeEndpoints(inputs, previous, owner, deps())

test('an endpoint is shown with absent fields as null', () => {
  expect(make([input()])).toEqual({
    endpoints: [
      {
        id: 'uuid-1',
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
        assertions: [],
        blocked: false,
      },
    ],
    sealed: [],
  })
})

test('an endpoint is shown with its fields, and a forbidden address is marked', () => {
  const assertions = [{ StatusCode: { expected: { Eq: 200 } } }]
  const http = { with_dns: false, max_redirects_to_follow: 0, timeout: { secs: 5, nanos: 0 } }
  const [endpoint] = make([input({ url: 'http://127.0.0.1/', name: 'home', assertions }, http)]).endpoints

  expect(endpoint).toEqual({
    id: 'uuid-1',
    url: 'http://127.0.0.1/',
    name: 'home',
    call: { Http: { method: 'GET', body: null, headers: null, ...http } },
    assertions,
    blocked: true,
  })
})

test('sensitive values are sealed at their places and only their key ids are shown', () => {
  const { endpoints, sealed } = make([
    input(
      {},
      {
        body: { value: 'of the body', sensitive: true },
        headers: {
          Authorization: { value: 'of the header', sensitive: true },
          Accept: { value: '*' },
          'X-Plain': { value: 'plain', sensitive: false },
        },
      },
    ),
  ])

  expect(endpoints[0]?.call.Http).toMatchObject({
    body: { Sealed: { key_id: 'key of of the body' } },
    headers: {
      Authorization: { Sealed: { key_id: 'key of of the header' } },
      Accept: { Plain: '*' },
      'X-Plain': { Plain: 'plain' },
    },
  })
  expect(sealed.map(({ ciphertext, slot, ...place }) => [slot, ciphertext.toString(), place])).toEqual(
    [
      ['body', 'of the body'],
      ['header:authorization', 'of the header'],
    ].map(([slot, value]) => [slot, value, { ...owner, endpointId: 'uuid-1', ...keyOf(value ?? '') }]),
  )
})

function keyOf(value: string) {
  const blank = Buffer.alloc(0)
  return {
    keyId: `key of ${value}`,
    masterKeyId: 'master',
    wrapNonce: blank,
    wrappedKey: blank,
    nonce: blank,
  }
}

test('a plain body is shown', () => {
  expect(make([input({}, { body: { value: 'ping' } })]).endpoints[0]?.call.Http.body).toEqual({
    Plain: 'ping',
  })
})

/** The endpoint of `change` in its stored form, with the id `id`. */
function stored(id: string, change: Partial<EndpointInput> = {}, http: object = {}): EndpointOutput {
  const [endpoint] = make([input(change, http)]).endpoints
  return { ...endpoint!, id }
}

test.each([
  ['another one', { url: 'https://other.example.com/' }, {}, 'uuid-1'],
  ['one of another name', { name: 'home' }, {}, 'uuid-1'],
  ['one of another method', {}, { method: 'POST' }, 'uuid-1'],
  [
    'the same with another definition',
    { assertions: [{ Body: { matcher: { Equals: '' } } }] },
    { with_dns: true },
    'old',
  ],
])('an endpoint that replaces %s gets the correct id', (_, change, http, id) => {
  expect(make([input(change, http)], [stored('old')]).endpoints[0]?.id).toBe(id)
})

test('an endpoint without a name is the same as one whose name is null', () => {
  const { name: _, ...unnamed } = stored('old')

  expect(make([input({ name: null })], [unnamed]).endpoints[0]?.id).toBe('old')
})

test('identical endpoints keep their ids in order', () => {
  const previous = [stored('other', { name: 'x' }), stored('a'), stored('b')]

  expect(make([input(), input(), input()], previous).endpoints.map(({ id }) => id)).toEqual([
    'a',
    'b',
    'uuid-1',
  ])
})
