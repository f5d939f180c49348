import { expect, test } from 'vitest'
import { API_KEY_PREFIX, isApiKey, withoutApiKeys } from './apiKey.ts'

const RANDOM = '0123456789abcdefABCDEF0123456789'.repeat(2)

test('keys of this server start with a prefix that secret scanners find', () => {
  expect(API_KEY_PREFIX).toBe('pharos_')
})

test.each([
  [`pharos_${RANDOM}`, true],
  [`_${RANDOM}`, true],
  [`${'x'.repeat(191)}_${RANDOM}`, true],
  [`${'x'.repeat(192)}_${RANDOM}`, false],
  [`phä_${RANDOM}`, false],
  [`a b_${RANDOM}`, false],
  [`pharos_${RANDOM.slice(1)}`, false],
  [`pharos_${RANDOM}0`, false],
  [`pharos_${RANDOM.slice(1)}g`, false],
  [`pharos${RANDOM}`, false],
])('whether %s has the form of a key is %s', (text, isKey) => {
  expect(isApiKey(text)).toBe(isKey)
})

test('keys of any server are removed from a text, with their prefixes', () => {
  const text = `Bearer pharos_${RANDOM}, a.b~c+d/e-f_${RANDOM}; too short: pharos_${RANDOM.slice(1)}`

  expect(withoutApiKeys(text)).toBe(`Bearer …, …; too short: pharos_${RANDOM.slice(1)}`)
})
