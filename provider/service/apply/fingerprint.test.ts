import { expect, test } from 'vitest'
import { UNKNOWN } from '../../protocol/values/value.ts'
import type { Secret } from '../compile/compileService.ts'
import { Fingerprints, scryptHash } from './fingerprint.ts'

const made = new Fingerprints()
/** The fingerprints of a later process. */
const later = new Fingerprints()

const secret = (value: Secret['value'], place = 'body'): Secret => ({ path: ['endpoints', 0, place], value })

test('equal secrets compare as unchanged, and a changed or moved one as changed', async () => {
  const fingerprint = await made.of([secret('a'), secret('b', 'other')])

  expect(await later.compare([secret('a'), secret('b', 'other')], fingerprint)).toBe('same')
  expect(await later.compare([secret('a'), secret('c', 'other')], fingerprint)).toBe('changed')
  expect(await later.compare([secret('a'), secret('b', 'elsewhere')], fingerprint)).toBe('changed')
  expect(await later.compare([secret('a')], fingerprint)).toBe('changed')
})

test('an unknown secret compares as unknown, and without a fingerprint there is no comparison', async () => {
  const fingerprint = await made.of([secret('a')])

  expect(await later.compare([secret(UNKNOWN)], fingerprint)).toBe('unknown')
  expect(await later.compare([secret('a')], new Uint8Array())).toBe('never-recorded')
})

test('without secrets there is no fingerprint and no change', async () => {
  expect(await made.of([])).toEqual(new Uint8Array())
  expect(await later.compare([], await made.of([secret('a')]))).toBe('same')
})

test('a fingerprint contains no secret, and two fingerprints of the same secrets differ', async () => {
  const [first, second] = [await made.of([secret('canary')]), await made.of([secret('canary')])]

  expect(Buffer.from(first).toString()).not.toContain('canary')
  expect(Buffer.from(first).equals(second)).toBe(false)
})

test('equal secrets of many services need one slow hash, and their fingerprints differ', async () => {
  let hashed = 0
  const counting = (): Fingerprints =>
    new Fingerprints((...input) => {
      hashed += 1
      return scryptHash(...input)
    })
  const writer = counting()
  const fingerprints = await Promise.all(Array.from({ length: 50 }, () => writer.of([secret('shared')])))
  const written = hashed
  const reader = counting()

  const compared = await Promise.all(
    fingerprints.map((fingerprint) => reader.compare([secret('shared')], fingerprint)),
  )
  const rotated = await reader.compare([secret('rotated')], fingerprints[0] ?? new Uint8Array())

  expect([written, hashed, rotated]).toEqual([1, 3, 'changed'])
  expect(new Set(compared)).toEqual(new Set(['same']))
  expect(new Set(fingerprints.map((bytes) => JSON.parse(Buffer.from(bytes).toString()).hash)).size).toBe(50)
})

test('a fingerprint made at another cost is still compared', async () => {
  const cheap = JSON.parse(Buffer.from(await made.of([secret('a')])).toString())

  const other = Buffer.from(JSON.stringify({ ...cheap, n: 1024 }))

  expect(await later.compare([secret('a')], other)).toBe('changed')
  expect(await later.compare([secret('a')], Buffer.from(JSON.stringify({ v: 1 })))).toBe('never-recorded')
})
