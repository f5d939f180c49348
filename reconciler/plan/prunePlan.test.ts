import { expect, test } from 'vitest'
import type { Binding } from './binding.ts'
import type { Blocked, Prune } from './planValue.ts'
import { binding, ID, type Live, live, NOW_MS, plan } from './testing/planning.ts'

const CREATED_AT = '2026-01-01T00:00:00.000Z'

/** What a plan does about the service of a manifest that is gone. */
function gone(
  change: Partial<Binding>,
  actual: readonly Live[] = [{}],
  unreadableIds: readonly string[] = [],
) {
  return plan({ actual: actual.map(live), unreadableIds, bindings: [binding({}, {}, change)] }).changes
}

function prune(change: Partial<Prune>): Prune {
  return { kind: 'prune', key: 'shop', id: ID, how: 'delete', name: 'Shop', createdAt: CREATED_AT, ...change }
}

function blocked(message: string, hint: string, needsDecision: boolean): Blocked {
  return { kind: 'blocked', key: 'shop', message, hint, needsDecision }
}

test('a removal shows its service with the current name', () => {
  expect(gone({}, [{ name: 'Renamed' }])).toEqual([prune({ name: 'Renamed' })])
})

test.each([
  ['its last known name', {}, 'Shop'],
  ['the name of its manifest where nothing was sent', { desired: null }, 'shop'],
  ['its last known name, also where it is protected', { protect: true }, 'Shop'],
  ['its last known name, also where it waited to be removed', { tombstonedAtMs: NOW_MS }, 'Shop'],
])('a deleted service is removed from the state under %s', (_, change, name) => {
  expect(gone(change, [])).toEqual([prune({ how: 'forget', name, createdAt: null })])
})

test('a service that this version cannot parse is removed under its last known name', () => {
  expect(gone({}, [], [ID])).toEqual([prune({ createdAt: null })])
})

test('a protected service is kept, and the plan shows how to remove or detach it', () => {
  expect(gone({ protect: true })).toEqual([
    blocked(
      `its manifest was removed, but policy.protect keeps service ${ID}`,
      'to delete it, restore the manifest with protect: false, apply, and remove the manifest; to keep it unmanaged, "pharos state unbind shop"',
      false,
    ),
  ])
})

test('a protected service with onDelete: detach is detached', () => {
  expect(gone({ protect: true, onDelete: 'detach' })).toEqual([prune({ how: 'detach' })])
})

test.each([
  ['runs again', [{}], []],
  ['cannot be read', [], [ID]],
])('a service that is due for deletion and %s needs a decision', (_, actual, unreadableIds) => {
  const waited = { onDelete: 'pause', tombstonedAtMs: NOW_MS - 60_000, pruneAfterSecs: 60 } as const

  expect(gone(waited, actual, unreadableIds)).toEqual([
    blocked(
      `its manifest was removed and service ${ID} is due for deletion, but it was resumed meanwhile`,
      'restore the manifest, pause the service, or unbind it',
      true,
    ),
  ])
})
