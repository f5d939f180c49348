import { expect, test } from 'vitest'
import { driftOf } from './drift.ts'
import { binding, desired, ID, live, plan } from './testing/planning.ts'

const changed = { kind: 'changed', key: 'shop', id: ID }

test('drift that is only reported is shown from the current value to the applied value', () => {
  const reported = plan({
    desired: [desired({}, { policy: { drift: 'report' } })],
    actual: [live({ interval: 90 })],
    bindings: [binding()],
  })

  expect(driftOf(reported)).toEqual([
    { ...changed, fields: [{ pointer: '/interval_secs', from: 90, to: 60, reason: 'drift' }] },
  ])
})

test('without state every difference is drift', () => {
  const differing = plan({
    desired: [desired({}, { id: ID })],
    actual: [live({ interval: 90 })],
    hasState: false,
  })

  expect(driftOf(differing)).toEqual([
    { ...changed, fields: [{ pointer: '/interval_secs', from: 90, to: 60, reason: 'differs' }] },
  ])
})

test('a service that was paused contrary to its manifest is drift', () => {
  const paused = plan({
    desired: [desired({}, { paused: false })],
    actual: [live({ paused: true })],
    bindings: [binding({}, {}, { paused: false })],
  })

  expect(driftOf(paused)).toEqual([
    { ...changed, fields: [{ pointer: '/paused', from: true, to: false, reason: 'drift' }] },
  ])
})

test('a service that policy.drift leaves to others has no drift, whatever git changes', () => {
  const ignored = plan({
    desired: [desired({ interval: 30 }, { policy: { drift: 'ignore' } })],
    actual: [live({ regions: ['us-east-1'] })],
    bindings: [binding()],
  })

  expect(driftOf(ignored)).toEqual([])
})

test('changes in git, removed manifests and pending decisions are no drift', () => {
  const fromGit = plan({
    desired: [
      desired({ interval: 30 }),
      desired({ name: 'New', url: 'https://new.example.com/' }, { key: 'new' }),
      desired({}, { key: 'wrong', id: 'no service' }),
      desired({ interval: 10 }, { key: 'agreed' }),
    ],
    actual: ['shop', 'agreed', 'gone'].map((id) => live({ id, interval: id === 'agreed' ? 10 : 60 })),
    bindings: ['shop', 'agreed', 'gone'].map((key) =>
      binding({}, { id: key, ...(key === 'agreed' ? { interval: 10 } : {}) }, { key }),
    ),
  })

  expect(fromGit.changes.map(({ kind }) => kind)).toEqual(['record', 'update', 'create', 'prune', 'blocked'])
  expect(driftOf(fromGit)).toEqual([])
})

test('a deleted service whose id is in its manifest is drift, and needs a decision', () => {
  const deleted = plan({ desired: [desired({}, { id: ID })], bindings: [binding()] })

  expect(deleted.changes).toEqual([
    {
      kind: 'blocked',
      key: 'shop',
      message: `service ${ID} of metadata.id was deleted`,
      hint: 'remove metadata.id to create it again',
      needsDecision: true,
      lost: ID,
    },
  ])
  expect(driftOf(deleted)).toEqual([{ kind: 'deleted', key: 'shop', id: ID, fields: [] }])
})
