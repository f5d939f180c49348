import { expect, test } from 'vitest'
import { type Slot, slotsToStart } from './slots.ts'

/** Channels `prefix-0`, `prefix-1`, … of an organisation. */
function channels(prefix: string, count: number, orgId = prefix): readonly Slot[] {
  return Array.from({ length: count }, (_, index) => ({ channelId: `${prefix}-${index}`, orgId }))
}

const healthy = { channelId: 'healthy', orgId: 'acme' }

test('a working channel gets a slot, however many channels of its organisation fail', () => {
  const dead = channels('dead', 49, 'acme')
  const failing = new Set(dead.map(({ channelId }) => channelId))

  expect(slotsToStart([...dead, healthy], [], failing)).toEqual([...dead.slice(0, 16), healthy])
  expect(
    slotsToStart(
      [dead[16], healthy].flatMap((slot) => slot ?? []),
      dead.slice(0, 16),
      failing,
    ),
  ).toEqual([healthy])
})

test('an organisation takes at most 32 slots, and leaves the rest to others', () => {
  const many = channels('many', 50)

  expect(slotsToStart([...many, healthy], [], new Set())).toEqual([...many.slice(0, 32), healthy])
})

test('at most 64 deliveries are in flight, and one for each channel', () => {
  const underWay = [...channels('one', 31), ...channels('other', 32)]
  const due = [...channels('one', 1), healthy, ...channels('third', 1)]

  expect(slotsToStart(due, underWay, new Set())).toEqual([healthy])
})
