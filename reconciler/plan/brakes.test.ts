import { expect, test } from 'vitest'
import { applyBrakes, approvalText, type SourceFacts } from './brakes.ts'
import type { Change, Plan } from './planValue.ts'

const sound: SourceFacts & { liveServices: number } = {
  exists: true,
  services: 5,
  isValid: true,
  liveServices: 5,
}

function prune(key: string): Change {
  return { kind: 'prune', key, id: `id-${key}`, how: 'delete', name: key, createdAt: null }
}

function planOf(changes: readonly Change[], owned: number): Plan {
  return { changes, unchanged: [], owned }
}

function prunes(count: number): readonly Change[] {
  return Array.from({ length: count }, (_, index) => prune(`s${index}`))
}

test.each([
  [3, 5, []],
  [4, 5, ['maxDeletes']],
  [100, 1_000, []],
  [110, 1_000, ['maxDeletes']],
])('%i deletions of %i owned trip %j', (count, owned, brakes) => {
  const { tripped } = applyBrakes(planOf(prunes(count), owned), sound)
  expect(tripped.map((brake) => brake.brake)).toEqual(brakes)
})

test.each([
  ['delete', ['maxDeletes']],
  ['pause', ['maxDeletes']],
  ['detach', []],
  ['forget', []],
] as const)('removals that %s trip %j when there are four of five', (how, brakes) => {
  const removals = prunes(4).map((change) => (change.kind === 'prune' ? { ...change, how } : change))
  const { tripped } = applyBrakes(planOf(removals, 5), sound)
  expect(tripped.map((brake) => brake.brake)).toEqual(brakes)
})

test.each([
  [{ exists: false }, 'missingPath', false],
  [{ isValid: false }, 'invalidSource', false],
  [{ services: 0 }, 'emptySource', true],
] as const)('nothing is removed when the source looks broken: %j', (facts, brake, approvable) => {
  const braked = applyBrakes(planOf(prunes(1), 5), { ...sound, ...facts })
  expect(braked.changes).toEqual([])
  expect(braked.tripped.map((one) => [one.brake, one.approvable])).toEqual([[brake, approvable]])
})

test('an empty organisation is not filled again without approval, and other changes go on', () => {
  const again: Change = {
    kind: 'create',
    key: 'lost',
    desired: { name: 'lost', interval_secs: 60, regions: [], endpoints: [] },
    paused: false,
    replacesLost: 'id-lost',
  }
  const fresh: Change = { ...again, key: 'fresh', replacesLost: null }
  const braked = applyBrakes(planOf([again, fresh], 1), { ...sound, liveServices: 0 })
  expect(braked.changes).toEqual([fresh])
  expect(braked.tripped.map((brake) => brake.brake)).toEqual(['emptyLive'])
})

test('an approval stands for the same changes in any order, and for no others', () => {
  const [a, b] = [prune('a'), prune('b')]
  expect(approvalText([a, b])).toBe(approvalText([b, a]))
  expect(approvalText([a])).not.toBe(approvalText([a, b]))
})
