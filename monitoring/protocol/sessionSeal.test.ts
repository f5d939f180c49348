import { expect, test } from 'vitest'
import { acceptSession, makeKeyPair, offerSession, openFromSession, sealForSession } from './sessionSeal.ts'

const place = { org: 'o', service: 's', endpoint: 'e', slot: 'header:x-token' }

test('agent and server agree on a key, and a value sealed by one can be opened by the other', () => {
  const agent = makeKeyPair()
  const { offer, key } = offerSession(agent.publicKey)

  const sealed = sealForSession(key, place, 'hush ü')

  expect(openFromSession(acceptSession(agent, offer), place, sealed)).toBe('hush ü')
  expect(Buffer.from(sealed, 'base64').includes('hush')).toBe(false)
})

test('a sealed value that is changed, moved to another place, or from another session cannot be opened', () => {
  const agent = makeKeyPair()
  const { key } = offerSession(agent.publicKey)
  const sealed = sealForSession(key, place, 'hush')
  const changed = Buffer.from(sealed, 'base64')
  changed[14] = (changed[14] ?? 0) ^ 1
  const other = offerSession(agent.publicKey)

  expect(() => openFromSession(key, { ...place, slot: 'body' }, sealed)).toThrow()
  expect(() => openFromSession(key, place, changed.toString('base64'))).toThrow()
  expect(() => openFromSession(other.key, place, sealed)).toThrow()
})

test('an invalid public key starts no session', () => {
  expect(() => offerSession('')).toThrow()
  expect(() => offerSession('AAAA')).toThrow()
})
