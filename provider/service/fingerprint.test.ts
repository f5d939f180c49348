import { expect, test } from 'vitest'
import { UNKNOWN } from '../protocol/values/value.ts'
import type { Secret } from './compile.ts'
import { compareSecrets, fingerprintOf } from './fingerprint.ts'

const secret = (value: Secret['value'], place = 'body'): Secret => ({ path: ['endpoints', 0, place], value })

test('the same secrets compare as the same, a changed or moved one as changed', async () => {
  const fingerprint = await fingerprintOf([secret('a'), secret('b', 'other')])

  expect(await compareSecrets([secret('a'), secret('b', 'other')], fingerprint)).toBe('same')
  expect(await compareSecrets([secret('a'), secret('c', 'other')], fingerprint)).toBe('changed')
  expect(await compareSecrets([secret('a'), secret('b', 'elsewhere')], fingerprint)).toBe('changed')
  expect(await compareSecrets([secret('a')], fingerprint)).toBe('changed')
})

test('a secret that is not known yet compares as unknown, and without a fingerprint nothing is claimed', async () => {
  const fingerprint = await fingerprintOf([secret('a')])

  expect(await compareSecrets([secret(UNKNOWN)], fingerprint)).toBe('unknown')
  expect(await compareSecrets([secret('a')], new Uint8Array())).toBe('never-recorded')
})

test('without secrets there is no fingerprint and nothing that could have changed', async () => {
  expect(await fingerprintOf([])).toEqual(new Uint8Array())
  expect(await compareSecrets([], await fingerprintOf([secret('a')]))).toBe('same')
})

test('a fingerprint holds no secret, and two of the same secrets differ', async () => {
  const [first, second] = [await fingerprintOf([secret('canary')]), await fingerprintOf([secret('canary')])]

  expect(Buffer.from(first).toString()).not.toContain('canary')
  expect(Buffer.from(first).equals(second)).toBe(false)
})

test('a fingerprint made at another cost is still compared', async () => {
  const cheap = JSON.parse(Buffer.from(await fingerprintOf([secret('a')])).toString())

  const other = Buffer.from(JSON.stringify({ ...cheap, n: 1024 }))

  expect(await compareSecrets([secret('a')], other)).toBe('changed')
  expect(await compareSecrets([secret('a')], Buffer.from(JSON.stringify({ v: 2 })))).toBe('never-recorded')
})
