import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { isApiKey } from '../../api/contract/apiKey.ts'
import { hashKey, mintKey } from './apiKeys.ts'
import { fixedEnvironment } from './testing/fixedEnvironment.ts'

test('a new key consists of the prefix and 32 random bytes in hex', () => {
  const key = mintKey(fixedEnvironment())

  expect([key, isApiKey(key)]).toEqual([`pharos_${'01'.repeat(32)}`, true])
})

test('the stored hash of a key is its case-sensitive SHA-256', () => {
  expect(hashKey('pharos_aB')).toEqual(createHash('sha256').update('pharos_aB').digest())
})
