import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalRequest } from '../../api/contract/canonical.ts'
import { changesBetween, type FieldChange } from '../../api/contract/fieldChange.ts'
import { type ServiceRequest, serviceRequestSchema } from '../../api/contract/service.ts'
import { ignoredBy } from './ignoredFields.ts'
import { withAcceptedValues, withLiveValues } from './preservedFields.ts'

const endpoint = fc.record({
  url: fc.constantFrom('https://a.example.com/', 'https://b.example.com/'),
  name: fc.option(fc.constantFrom('a', 'b')),
  call: fc.record({
    Http: fc.record({
      method: fc.constantFrom('GET', 'POST'),
      timeout: fc.option(fc.constantFrom({ secs: 1, nanos: 0 }, { secs: 2, nanos: 5 })),
      body: fc.option(fc.constantFrom({ value: 'x' }, { value: 'y' })),
      with_dns: fc.option(fc.boolean()),
      headers: fc.option(
        fc.dictionary(
          fc.constantFrom('X-One', 'Accept', 'a~b'),
          fc.constantFrom({ value: '1' }, { value: '2' }),
        ),
      ),
    }),
  }),
  assertions: fc.array(
    fc.constantFrom({ StatusCode: { expected: { Eq: 200 } } }, { StatusCode: { expected: { Eq: 204 } } }),
    { maxLength: 3 },
  ),
})
const request = fc
  .record({
    name: fc.constantFrom('one', 'two'),
    interval_secs: fc.constantFrom(30, 60),
    regions: fc.constantFrom(['a'], ['a', 'b'], ['c']),
    endpoints: fc.array(endpoint, { minLength: 1, maxLength: 3 }),
  })
  .map((value): ServiceRequest => serviceRequestSchema.parse(value))

const canonical = (value: ServiceRequest) => canonicalRequest(value, () => 'secret')

test('Scenario 27: a request that keeps every different field equals the service', () => {
  fc.assert(
    fc.property(request, request, (wanted, live) => {
      const before = canonical(live)
      const pointers = changesBetween(before, canonical(wanted), 'by-fingerprint').map(
        ({ pointer }) => pointer,
      )
      expect(canonical(withLiveValues(wanted, before, pointers))).toEqual(before)
      expect(withLiveValues(wanted, before, [])).toEqual(wanted)
    }),
  )
})

test('accepted fields no longer differ, and others do as before', () => {
  fc.assert(
    fc.property(request, request, fc.func(fc.boolean()), (before, now, isTaken) => {
      const [observed, live] = [canonical(before), canonical(now)]
      const drift = changesBetween(observed, live, 'by-fingerprint')
      // Of a list that became longer or shorter, a part that is taken moves the rest: there is no unique result then.
      const isLength = ({ pointer, from, to }: FieldChange): boolean =>
        /\/\d+$/.test(pointer) && (from === undefined || to === undefined)
      fc.pre(!drift.some(isLength))
      const left = changesBetween(withAcceptedValues(observed, live, isTaken), live, 'by-fingerprint')
      expect(left).toEqual(drift.filter(({ pointer }) => !isTaken(pointer)))
      expect(withAcceptedValues(observed, live, () => true)).toEqual(live)
    }),
  )
})

test('a pointer into the manifest is mapped to the field in the API, with headers in any case', () => {
  const isIgnored = ignoredBy(['/spec/regions', '/spec/endpoints/0/headers/X-One', '/spec/endpoints/1'])
  const ignored = [
    '/regions',
    '/endpoints/0/call/Http/headers/x-one',
    '/endpoints/1',
    '/endpoints/1/call/Http/timeout',
  ]
  const owned = ['/name', '/endpoints/0/call/Http/headers/x-one-more', '/endpoints/10', '/endpoints/0/url']
  expect([...ignored, ...owned].filter(isIgnored)).toEqual(ignored)
})
