import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Limit, Limits } from './limits.ts'

const all: Limit = { key: 'all', max: 2 }
const host: Limit = { key: 'host', max: 1 }

test('tasks that wait for a full limit start in order when it has a free slot again', () => {
  const limits = new Limits()
  const started: string[] = []
  limits.take([all, host], () => started.push('first'))
  limits.take([all, host], () => started.push('second'))
  limits.take([all, host], () => started.push('third'))
  limits.take([all], () => started.push('of another host'))
  const before = [...started]

  limits.release([all, host])
  limits.release([all, host])

  expect(before).toEqual(['first', 'of another host'])
  expect(started.slice(2)).toEqual(['second', 'third'])
})

test('a task that gave up waiting does not start', () => {
  const limits = new Limits()
  const started: string[] = []
  limits.take([host], () => started.push('first'))
  const giveUp = limits.take([host], () => started.push('second'))
  limits.take([host], () => started.push('third'))

  giveUp()
  limits.release([host])

  expect(started).toEqual(['first', 'third'])
})

test('no limit is ever exceeded, and every task starts eventually', () => {
  const anyLimits = fc.array(fc.subarray([all, host, { key: 'org', max: 3 }], { minLength: 1 }), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(anyLimits, (wanted) => {
      const limits = new Limits()
      const running: (readonly Limit[])[] = []
      let started = 0
      for (const taken of wanted) {
        limits.take(taken, () => {
          started += 1
          running.push(taken)
          for (const { key, max } of taken) expect(limits.held(key)).toBeLessThanOrEqual(max)
        })
      }
      for (let next = running.shift(); next !== undefined; next = running.shift()) limits.release(next)
      expect(started).toBe(wanted.length)
      expect(['all', 'host', 'org'].map((key) => limits.held(key))).toEqual([0, 0, 0])
    }),
  )
})

test('any number of tasks that end at once run one after another without deep recursion', () => {
  const limits = new Limits()
  const one = [{ key: 'host', max: 1 }]
  let ended = 0
  limits.take(one, () => {})
  for (let made = 0; made < 50_000; made += 1) {
    limits.take(one, () => {
      ended += 1
      limits.release(one)
    })
  }

  limits.release(one)

  expect([ended, limits.held('host')]).toEqual([50_000, 0])
})
