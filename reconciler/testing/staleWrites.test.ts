import { expect, test } from 'vitest'
import type { ControllerEvent } from '../controller/status/status.ts'
import { type ProcessHistory, staleWrites } from './staleWrites.ts'

const BASE_MS = Date.parse('2026-01-14T10:00:00Z')

/** A process that took the lease of each epoch at its time, and whose changes arrived at others (milliseconds). */
function life(leases: Readonly<Record<number, number>>, arrived: readonly number[]): ProcessHistory {
  const events = Object.entries(leases).map(([epoch, atMs]): ControllerEvent => {
    const at = new Date(BASE_MS + atMs).toISOString()
    const message = `this replica leads now (epoch ${epoch})`
    const none = {
      set: 'shop',
      commit: null,
      runId: null,
      key: null,
      condition: null,
      fields: [],
      todo: null,
      keys: [],
      dedupeKey: '',
    }
    return { ...none, at, type: 'LeaseTaken', severity: 'info', message }
  })
  return { events, arrivedAtMs: arrived.map((atMs) => BASE_MS + atMs) }
}

test('a change counts as stale from the first change of a later epoch on, and not from its lease', () => {
  const blue = life({ 1: 0 }, [10, 20, 30, 40])

  expect(staleWrites([blue, life({ 2: 15 }, [])])).toBe(0)
  expect(staleWrites([blue, life({ 2: 15 }, [50])])).toBe(0)
  expect(staleWrites([blue, life({ 2: 15 }, [30])])).toBe(2)
})

test('a process that takes the lease again writes in its new epoch', () => {
  const blue = life({ 1: 0, 3: 60 }, [10, 70, 80])

  expect(staleWrites([blue, life({ 2: 20 }, [30, 75])])).toBe(1)
  expect(() => staleWrites([life({}, [1])])).toThrow('without a lease')
})
