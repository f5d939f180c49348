import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ownerOf } from './sharing.ts'

const endpoints = Array.from({ length: 300 }, (_, index) => `endpoint ${index}`)

test('every endpoint has one owner, whatever the order of the members', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 8 }), (members) => {
      const owners = endpoints.map((endpoint) => ownerOf(endpoint, members))

      expect(owners.every((owner) => members.includes(owner ?? ''))).toBe(true)
      expect(endpoints.map((endpoint) => ownerOf(endpoint, members.toReversed()))).toEqual(owners)
    }),
    { numRuns: 20 },
  )
})

test('the endpoints of a lost agent move to the others, and no other endpoint moves', () => {
  const members = ['a', 'b', 'c']
  const before = endpoints.map((endpoint) => ownerOf(endpoint, members))

  const after = endpoints.map((endpoint) => ownerOf(endpoint, ['a', 'c']))

  const moved = before.filter((owner, index) => owner !== after[index])
  expect(new Set(moved)).toEqual(new Set(['b']))
  for (const member of members) expect(before.filter((owner) => owner === member).length).toBeGreaterThan(60)
})

test('a region without members has no owner', () => {
  expect(ownerOf('endpoint', [])).toBeUndefined()
})
