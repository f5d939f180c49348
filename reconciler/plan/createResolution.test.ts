import { expect, test } from 'vitest'
import { canonicalResponse } from '../../api/contract/canonical.ts'
import { newBinding } from './binding.ts'
import { type OpenCreate, resolveCreates } from './createResolution.ts'
import type { Blocked } from './planValue.ts'
import { binding, desired, ID, live, NOW_MS, OTHER_ID } from './testing/planning.ts'

const policy = { onDelete: 'pause', protect: true, pruneAfterSecs: 60 } as const

/** A creation of `shop` whose response was lost, and that can no longer take effect. */
function open(change: Partial<OpenCreate> = {}): OpenCreate {
  return {
    opId: 'op',
    key: 'shop',
    sent: desired().canonical,
    earlier: [],
    preIds: [],
    policy,
    settledAtMs: NOW_MS,
    mayStillLand: true,
    ...change,
  }
}

function ambiguous(key: string, ids: string): Blocked {
  return {
    kind: 'blocked',
    key,
    message: `the response to a creation was lost, and several services may be its result: ${ids}`,
    hint: 'set metadata.id to the id of the right one',
    needsDecision: true,
  }
}

test('a single new service with the name and definition of a lost creation is its result', () => {
  const service = live()

  expect(resolveCreates([open()], [service], [], NOW_MS)).toEqual({
    recovered: [
      {
        opId: 'op',
        binding: {
          ...newBinding('shop', ID),
          desired: desired().canonical,
          observed: canonicalResponse(service),
          ...policy,
        },
      },
    ],
    void: [],
    unsettled: [],
  })
})

test('the result of a creation may have any definition that was sent with its id: the earliest of those with other secrets', () => {
  const sent = desired({ secret: 'two' }).canonical
  const earlier = [desired({ name: 'Old' }).canonical, desired({ secret: 'one' }).canonical]
  const recovered = [live(), live({ name: 'Old' })].map(
    (service) => resolveCreates([open({ sent, earlier })], [service], [], NOW_MS).recovered[0],
  )

  expect(recovered.map((one) => one?.binding.desired)).toEqual([earlier[1], earlier[0]])
})

test.each([
  ['does not exist', [], []],
  ['existed before', [live({ id: 'before' })], []],
  ['has another name', [live({ name: 'Other' })], []],
  ['has another definition', [live({ interval: 30 })], []],
  ['belongs to another manifest', [live()], [binding()]],
])('a creation whose service %s counts as failed', (_, actual, bindings) => {
  const create = open({ preIds: ['before'] })

  expect(resolveCreates([create], actual, bindings, NOW_MS)).toEqual({
    recovered: [],
    void: [create],
    unsettled: [],
  })
})

test('a run waits for lost creations that may still take effect, until the last one', () => {
  const waiting = [1, 3, 2].map((secs) =>
    open({ opId: `op${secs}`, key: `k${secs}`, settledAtMs: NOW_MS + secs * 1_000 }),
  )
  const blocked = (key: string): Blocked => ({
    kind: 'blocked',
    key,
    message: 'the response to a creation was lost: the creation may still take effect',
    hint: 'apply again in a minute',
    needsDecision: false,
  })

  const past = open({ opId: 'past' })

  expect(resolveCreates([...waiting, past], [], [], NOW_MS)).toEqual({
    recovered: [],
    void: [past],
    unsettled: ['k1', 'k3', 'k2'].map(blocked),
  })
})

test('several services that may be the result of a lost creation need a decision', () => {
  const { unsettled, recovered } = resolveCreates([open()], [live(), live({ id: OTHER_ID })], [], NOW_MS)

  expect([unsettled, recovered]).toEqual([[ambiguous('shop', `${ID}, ${OTHER_ID}`)], []])
})

test('one service that may be the result of two lost creations needs a decision', () => {
  const creations = [
    open(),
    open({ opId: 'second', key: 'twin' }),
    open({ opId: 'third', key: 'other', sent: desired({ name: 'Other' }).canonical }),
  ]
  const { unsettled, recovered } = resolveCreates(
    creations,
    [live(), live({ id: OTHER_ID, name: 'Other' })],
    [],
    NOW_MS,
  )

  expect(unsettled).toEqual([ambiguous('shop', ID), ambiguous('twin', ID)])
  expect(recovered.map(({ opId }) => opId)).toEqual(['third'])
})
