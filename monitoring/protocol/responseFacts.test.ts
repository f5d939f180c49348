import { expect, test } from 'vitest'
import { factsOf, flagsOf, NO_FACTS, type ResponseFacts, tlsVersionOf } from './responseFacts.ts'

test.each<[number, Partial<ResponseFacts>]>([
  [0, {}],
  [0b1, { isBodyCut: true }],
  [0b010, { httpVersion: '1.0' }],
  [0b100, { httpVersion: '1.1' }],
  [0b01_000, { ipVersion: 4 }],
  [0b10_000, { ipVersion: 6 }],
  [0b001_00000, { tlsVersion: 'TLS 1.0' }],
  [0b100_00000, { tlsVersion: 'TLS 1.3' }],
  [0b10100_00000000, { redirects: 20 }],
  [
    0b00011_011_01_10_1,
    { isBodyCut: true, httpVersion: '1.1', ipVersion: 4, tlsVersion: 'TLS 1.2', redirects: 3 },
  ],
])('the flags %d mean %o, also in stored results', (flags, facts) => {
  expect(flagsOf({ ...NO_FACTS, ...facts })).toBe(flags)
  expect(factsOf(flags)).toEqual({ ...NO_FACTS, ...facts })
})

test('versions added by a newer release are unknown, and redirects beyond the maximum are stored as the maximum', () => {
  expect(factsOf(0b111_11_11_0)).toEqual(NO_FACTS)
  expect(factsOf(flagsOf({ ...NO_FACTS, redirects: 99 }))).toEqual({ ...NO_FACTS, redirects: 31 })
})

test('TLS versions have the names that blackbox_exporter uses', () => {
  expect(['TLSv1.2', 'TLSv1.3', 'SSLv3', null].map(tlsVersionOf)).toEqual(['TLS 1.2', 'TLS 1.3', null, null])
})
