import { expect, test } from 'vitest'
import type { SensitiveOutput, ServiceResponse } from '../../../api/contract/service.ts'
import { responseTo } from '../../testing/serviceRequests.ts'
import { hasKeyIds, overwrittenPlaces, withKeyIds } from './sealedKeys.ts'

const none = new Uint8Array()

/** A service whose endpoint has `body` and `headers`. */
function response(
  body: SensitiveOutput | null,
  headers: Record<string, SensitiveOutput> | null,
): ServiceResponse {
  const made = responseTo({
    name: 'checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
    ],
  })
  const [endpoint] = made.endpoints
  return { ...made, endpoints: [{ ...endpoint!, call: { Http: { ...endpoint!.call.Http, body, headers } } }] }
}

const sealed = (key_id: string): SensitiveOutput => ({ Sealed: { key_id } })
const read = (kept: Uint8Array): unknown => JSON.parse(Buffer.from(kept).toString())

test('the key ids of all sealed values are stored, even without earlier private data', () => {
  const both = response(sealed('b'), { A: sealed('h'), B: { Plain: 'x' } })

  expect(read(withKeyIds(none, both))).toEqual({ v: 3, key_ids: ['h', 'b'] })
})

test('other private data stays, and the keys of removed values are dropped', () => {
  const kept = Buffer.from(JSON.stringify({ v: 2, fingerprint: 'f', key_ids: ['old'] }))

  expect(read(withKeyIds(kept, response(null, null)))).toEqual({ v: 2, fingerprint: 'f', key_ids: [] })
})

test('a service without secrets stores no keys', () => {
  expect(withKeyIds(none, response(null, null))).toBe(none)
})

test('private data shows whether it contains keys', () => {
  const [with_, without] = [{ v: 3, key_ids: [] }, { v: 2 }].map((kept) => Buffer.from(JSON.stringify(kept)))

  expect([hasKeyIds(with_!), hasKeyIds(without!), hasKeyIds(none)]).toEqual([true, false, false])
})

test('a place whose key id differs from the stored one was overwritten elsewhere', () => {
  const kept = Buffer.from(JSON.stringify({ v: 3, key_ids: ['a', 'b'] }))
  const places = new Map([
    ['0.body', 'a'],
    ['0.headers.X', 'other'],
    ['1.body', null],
  ])

  expect([
    overwrittenPlaces(kept, places),
    overwrittenPlaces(kept, null),
    overwrittenPlaces(none, places),
  ]).toEqual([['0.headers.X'], [], []])
})
