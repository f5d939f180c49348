import { expect, test } from 'vitest'
import { masterKeyOf, openValue, rewrapValue, type SealPlace, sealValue } from './seal.ts'
import { fixedEnvironment } from './testing/fixedEnvironment.ts'

const masterKey = masterKeyOf(Buffer.alloc(32, 7))
const otherKey = masterKeyOf(Buffer.alloc(32, 8))

const place: SealPlace = { orgId: 'org', serviceId: 'service', endpointId: 'endpoint', slot: 'body' }

const seal = () => sealValue('s3cret', place, masterKey, fixedEnvironment())

test('the id of a master key is derived from its bytes', () => {
  // Computed with sha256sum from the prefix text and the bytes.
  expect([masterKey.id, masterKey.bytes]).toEqual(['5724f33ec6c55f08', Buffer.alloc(32, 7)])
  expect(otherKey.id).not.toBe(masterKey.id)
})

test('a sealed value opens to the original, and contains none of it in clear', () => {
  const sealed = seal()

  expect(openValue(sealed, masterKey)).toBe('s3cret')
  expect(JSON.stringify(sealed)).not.toContain('s3cret')
  expect({ ...sealed, wrappedKey: sealed.wrappedKey.length, ciphertext: sealed.ciphertext.length }).toEqual({
    ...place,
    keyId: 'uuid-1',
    masterKeyId: masterKey.id,
    // Each random value is used once. The data key took the first.
    nonce: Buffer.alloc(12, 2),
    wrapNonce: Buffer.alloc(12, 3),
    wrappedKey: 32 + 16,
    ciphertext: 's3cret'.length + 16,
  })
})

test('values stored by earlier versions can still be opened', () => {
  const stored = {
    ...place,
    keyId: 'uuid-1',
    masterKeyId: masterKey.id,
    nonce: Buffer.alloc(12, 2),
    wrapNonce: Buffer.alloc(12, 3),
    wrappedKey: Buffer.from(
      '24ffa2025b295f437b41425dea56fe0dec3de1eeb59495712edf86b0e2e441b90f7757ee5b21526a4d251c027d678525',
      'hex',
    ),
    ciphertext: Buffer.from('74e5aa3b2f235526169ed6d9195fcdd403451c92a1f6', 'hex'),
  }

  expect(openValue(stored, masterKey)).toBe('s3cret')
})

test.each([
  ['in another organisation', { orgId: 'x' }],
  ['in another service', { serviceId: 'x' }],
  ['in another endpoint', { endpointId: 'x' }],
  ['in another slot', { slot: 'x' }],
  ['under another data key', { keyId: 'x' }],
  ['with another text', { ciphertext: Buffer.alloc(22) }],
])('a sealed value cannot be opened %s', (_, moved) => {
  expect(() => openValue({ ...seal(), ...moved }, masterKey)).toThrow()
})

test('a sealed value does not open with another master key', () => {
  expect(() => openValue(seal(), otherKey)).toThrow()
})

test('a rewrapped value opens only with the new master key, and its id in the API is unchanged', () => {
  const sealed = seal()
  const rewrapped = rewrapValue(sealed, masterKey, otherKey, fixedEnvironment())

  expect(openValue(rewrapped, otherKey)).toBe('s3cret')
  expect(() => openValue(rewrapped, masterKey)).toThrow()
  expect(rewrapped).toEqual({
    ...sealed,
    masterKeyId: otherKey.id,
    wrapNonce: Buffer.alloc(12, 1),
    wrappedKey: rewrapped.wrappedKey,
  })
})
