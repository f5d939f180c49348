import { expect, test } from 'vitest'
import { IDLE_SYNC } from '../agent/testing/idleSync.ts'
import { syncResponseSchema, syncRequestSchema } from './messages.ts'

const ID = '0192b1d4-5c1e-4000-8000-0000000000aa'

test('a server accepts an agent that does not report whether it suspects its own network', () => {
  const { suspect: _, ...load } = IDLE_SYNC.load

  expect(syncRequestSchema.parse({ ...IDLE_SYNC, public_key: null, load }).load).toEqual(IDLE_SYNC.load)
})

test('an agent treats a server that names no ranges as one that allows no private range', () => {
  const response = {
    ...{ protocol: 1, store: ID, region: 'eu-west-1', now_ms: 0, waited_ms: 0, epoch: 1, members: [ID] },
    ...{ cursor: '', whole: false, more: false, start: [], end: [], sealing: null, inventory: 'same' },
  }

  expect(syncResponseSchema.parse(response)).toEqual({
    ...response,
    ranges_allowed: [],
    server_addresses: [],
  })
})
