import { expect, test } from 'vitest'
import { loopingPointers, withHeals } from './healLoop.ts'

const NOW_MS = 10_000_000
const HOUR_MS = 3_600_000

const heal = (pointer: string, agoMs: number) => ({ pointer, atMs: NOW_MS - agoMs })

test('a field that was reverted three times within an hour is looping', () => {
  const heals = [heal('/name', 1), heal('/regions', 2), heal('/name', 3), heal('/name', HOUR_MS - 1)]

  expect(loopingPointers(heals, NOW_MS)).toEqual(new Set(['/name']))
})

test('a reversal of an hour ago no longer counts', () => {
  const heals = [heal('/name', 1), heal('/name', 2), heal('/name', HOUR_MS)]

  expect(loopingPointers(heals, NOW_MS)).toEqual(new Set())
})

test('a reversal is recorded with recent ones, and old ones are dropped', () => {
  const heals = [heal('/name', HOUR_MS), heal('/name', 1)]

  expect(withHeals(heals, ['/regions', '/name'], NOW_MS)).toEqual([
    heal('/name', 1),
    heal('/regions', 0),
    heal('/name', 0),
  ])
})
