import { expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { type Binding, newBinding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { driftOf } from './drift.ts'
import { binding, brief, desired, ID, type Live, live, NOW_MS, OTHER_ID, plan } from './testing/planning.ts'

test('Scenario 26: a plan after an apply is empty, however the server normalised the request', () => {
  const response = { regions: ['eu-west-1', 'us-east-1'], name: 'SHOP' }
  const clean = plan({ desired: [desired()], actual: [live(response)], bindings: [binding({}, response)] })
  expect([clean.changes, clean.unchanged]).toEqual([[], ['shop']])
})

test('a change in git, a manual change and both at once are distinguished', () => {
  const git = plan({ desired: [desired({ interval: 30 })], actual: [live()], bindings: [binding()] })
  expect(brief(git.changes)).toEqual(['replace shop: git /interval_secs'])

  const drift = plan({ desired: [desired()], actual: [live({ interval: 90 })], bindings: [binding()] })
  expect(brief(drift.changes)).toEqual(['replace shop: drift /interval_secs'])

  const both = plan({
    desired: [desired({ interval: 30 })],
    actual: [live({ interval: 90, regions: ['us-east-1'] })],
    bindings: [binding()],
  })
  expect(both.changes[0]).toMatchObject({
    fields: [
      { pointer: '/interval_secs', from: 90, to: 30, reason: 'git' },
      { pointer: '/regions', from: ['us-east-1'], to: ['eu-west-1'], reason: 'drift' },
    ],
  })
})

test('a manual change that equals the change in git causes no request', () => {
  const agreed = plan({
    desired: [desired({ interval: 30 })],
    actual: [live({ interval: 30 })],
    bindings: [binding()],
  })
  expect(brief(agreed.changes)).toEqual(['record shop'])
})

test('Scenario 27: policy.drift decides whether a manual change is reverted, reported or ignored', () => {
  const withPolicy = (drift: 'heal' | 'report' | 'ignore') =>
    brief(
      plan({
        desired: [desired({}, { policy: { drift } })],
        actual: [live({ interval: 90 })],
        bindings: [binding()],
      }).changes,
    )
  expect([withPolicy('heal'), withPolicy('report'), withPolicy('ignore')]).toEqual([
    ['replace shop: drift /interval_secs'],
    ['drifted shop: /interval_secs'],
    [],
  ])
})

test('Scenario 28: a changed secret is detected, in git and in the API', () => {
  const pointer = '/endpoints/0/call/Http/headers/authorization'
  const git = plan({ desired: [desired({ secret: 'two' })], actual: [live()], bindings: [binding()] })
  expect(brief(git.changes)).toEqual([`replace shop: secret ${pointer}`])

  const outside = plan({ desired: [desired()], actual: [live({ keyId: 'k2' })], bindings: [binding()] })
  expect(brief(outside.changes)).toEqual([`replace shop: drift ${pointer}`])
  expect(JSON.stringify(git)).not.toContain('value')
})

test('paused is not managed unless the manifest sets it', () => {
  const of = (paused: boolean | undefined, isPaused: boolean, wasPaused: boolean | null) =>
    brief(
      plan({
        desired: [desired({}, { paused })],
        actual: [live({ paused: isPaused })],
        bindings: [binding({}, {}, { paused: wasPaused })],
      }).changes,
    )
  expect(of(undefined, true, null)).toEqual([])
  expect(of(true, false, true)).toEqual(['pause shop: drift /paused'])
  expect(of(false, true, true)).toEqual(['resume shop: git /paused'])
  expect(of(true, true, true)).toEqual([])
})

test('a service that was deleted manually is created again and counts as drift', () => {
  const lost = plan({ desired: [desired()], bindings: [binding()] })
  expect(brief(lost.changes)).toEqual(['create shop again'])
  expect(driftOf(lost)).toEqual([{ kind: 'deleted', key: 'shop', id: ID, fields: [] }])
})

test('Scenario 42: a removed manifest prunes by its last policy, and an invalid one prunes nothing', () => {
  const gone = (change: Partial<Binding>, actual = [live()]) =>
    brief(plan({ actual, bindings: [binding({}, {}, change)] }).changes)
  expect(gone({})).toEqual(['delete shop'])
  expect(gone({ onDelete: 'pause' })).toEqual(['pause shop'])
  expect(gone({ onDelete: 'pause', tombstonedAtMs: 1 })).toEqual([])
  expect(gone({ onDelete: 'detach' })).toEqual(['detach shop'])
  expect(gone({ protect: true })).toEqual(['blocked shop'])
  expect(gone({}, [])).toEqual(['forget shop'])
  expect(brief(plan({ frozenKeys: ['shop'], actual: [live()], bindings: [binding()] }).changes)).toEqual([])
})

test('a restored manifest resumes the service that was paused for it', () => {
  const back = plan({
    desired: [desired()],
    actual: [live({ paused: true })],
    bindings: [binding({}, {}, { tombstonedAtMs: 1 })],
  })
  expect(brief(back.changes)).toEqual(['resume shop: git /paused'])
})

test('a renamed manifest keeps its service, announced or not', () => {
  const announced = plan({
    desired: [desired({ interval: 30 }, { key: 'store', previousNames: ['shop'] })],
    actual: [live()],
    bindings: [binding()],
  })
  expect(brief(announced.changes)).toEqual(['replace store from shop: git /interval_secs'])

  const silent = plan({ desired: [desired({}, { key: 'store' })], actual: [live()], bindings: [binding()] })
  expect(brief(silent.changes)).toEqual(['record store from shop'])
})

test.each([
  ['the same spec.name', { url: 'https://new.example.com/', interval: 30 }],
  ['the addresses', { name: 'New', interval: 30 }],
])(
  'a manifest with another name and changes that has %s of a removed one needs a decision, and nothing is removed',
  (_, shape) => {
    const { changes } = plan({
      desired: [desired(shape, { key: 'new' })],
      actual: [live({ id: 'old' })],
      bindings: [binding({}, { id: 'old' }, { key: 'old' })],
    })

    expect(changes).toMatchObject([
      {
        kind: 'blocked',
        key: 'new',
        needsDecision: true,
        hint: expect.stringContaining('previousNames: [old]'),
      },
    ])
  },
)

test('a manifest that has nothing in common with a removed one is another service', () => {
  const { changes } = plan({
    desired: [desired({ name: 'New', url: 'https://new.example.com/' }, { key: 'new' })],
    actual: [live({ id: 'old' })],
    bindings: [binding({}, { id: 'old' }, { key: 'old' })],
  })

  expect(changes.map(({ kind, key }) => `${kind} ${key}`)).toEqual(['create new', 'prune old'])
})

test('two manifests that could each be the renamed one need a decision, and nothing is removed', () => {
  const unclear = plan({
    desired: [desired({}, { key: 'a' }), desired({}, { key: 'b' })],
    actual: [live()],
    bindings: [binding()],
  })
  expect(brief(unclear.changes)).toEqual(['blocked a for a person', 'blocked b for a person'])
})

test('an unmanaged service of the same name is neither adopted nor duplicated silently', () => {
  const foreign = plan({ desired: [desired()], actual: [live()] })
  expect(brief(foreign.changes)).toEqual(['blocked shop for a person'])

  const named = plan({ desired: [desired({}, { id: ID })], actual: [live({ interval: 90 })] })
  expect(brief(named.changes)).toEqual([
    'replace shop: first-apply /interval_secs, first-apply /endpoints/0/call/Http/headers/authorization',
  ])
})

test('a service is bound to one manifest only', () => {
  const rivals = plan({
    desired: [desired({}, { id: ID }), desired({}, { key: 'b', id: OTHER_ID })],
    actual: [live(), live({ id: OTHER_ID })],
    bindings: [binding({}, { id: OTHER_ID })],
  })
  expect(brief(rivals.changes)).toEqual(['blocked b for a person', 'blocked shop for a person'])
})

test('without state a service needs metadata.id, and existing secrets count as equal', () => {
  const without = (service: DesiredService, actual: readonly ServiceResponse[]) =>
    brief(plan({ desired: [service], actual, hasState: false }).changes)
  expect(without(desired(), [])).toEqual(['blocked shop'])
  expect(without(desired({}, { id: ID }), [live()])).toEqual([])
  expect(without(desired({}, { id: ID }), [live({ interval: 90 })])).toEqual([
    'replace shop: differs /interval_secs',
  ])
})

test('changes that free capacity come first, and creations come before removals', () => {
  const ordered = plan({
    desired: [
      desired({ interval: 90 }, { key: 'shrinks' }),
      desired({ interval: 30 }, { key: 'grows' }),
      desired({ name: 'New', url: 'https://new.example.com/' }, { key: 'appears' }),
      desired({}, { key: 'rests', paused: true }),
    ],
    actual: ['shrinks', 'grows', 'rests', 'goes'].map((id) => live({ id })),
    bindings: ['shrinks', 'grows', 'rests', 'goes'].map((key) => binding({}, { id: key }, { key })),
  })
  expect(ordered.changes.map((change) => change.key)).toEqual([
    'shrinks',
    'grows',
    'appears',
    'rests',
    'goes',
  ])
})

test('changes of one kind are in natural order', () => {
  const { changes } = plan({
    desired: ['web-10', 'web-2', 'web-1', 'api'].map((key) =>
      desired({ name: key, url: `https://${key}.example.com/` }, { key }),
    ),
    actual: [],
  })

  expect(changes.map((change) => change.key)).toEqual(['api', 'web-1', 'web-2', 'web-10'])
})

test('Scenario 27: a field in policy.ignore is no drift, and a new definition keeps its value', () => {
  const ignoring = desired(
    { interval: 30, regions: ['eu-west-1'] },
    { policy: { isIgnored: (pointer) => pointer === '/regions' } },
  )
  const elsewhere = live({ regions: ['us-east-1'] })
  const only = plan({
    desired: [{ ...ignoring, canonical: desired().canonical, canonicalUnder: desired().canonicalUnder }],
    actual: [elsewhere],
    bindings: [binding()],
  })
  expect(brief(only.changes)).toEqual([])
  const both = plan({ desired: [ignoring], actual: [elsewhere], bindings: [binding()] })
  expect(brief(both.changes)).toEqual(['replace shop: git /interval_secs'])
  expect(both.changes[0]).toMatchObject({ keeps: ['/regions'] })
  const first = plan({ desired: [ignoring], actual: [elsewhere], bindings: [newBinding('shop', ID)] })
  expect(first.changes[0]).toMatchObject({ keeps: ['/regions'] })
})

test.each([
  [
    'report',
    { interval: 30 },
    { regions: ['us-east-1'] },
    'replace shop: git /interval_secs, drift /regions',
  ],
  ['report', { interval: 30 }, { interval: 30 }, 'record shop'],
  ['report', {}, { interval: 90 }, 'drifted shop: /interval_secs'],
] as const)(
  'Scenario 27: drift %s with the manifest %j and the service %j: %s %s',
  (drift, git, outside, expected) => {
    const { changes } = plan({
      desired: [desired(git, { policy: { drift } })],
      actual: [live(outside)],
      bindings: [binding()],
    })
    expect(brief(changes)).toEqual([expected])
  },
)

test('Scenario 31: a field that was reverted three times in an hour is only shown, and later reverted again', () => {
  const heals = [1, 2, 3].map((times) => ({ pointer: '/interval_secs', atMs: NOW_MS - times * 60_000 }))
  const of = (some: typeof heals, outside: Live = { interval: 90 }) =>
    plan({ desired: [desired()], actual: [live(outside)], bindings: [binding({}, {}, { heals: some })] })
      .changes
  expect(of(heals)).toMatchObject([{ kind: 'drifted', looping: ['/interval_secs'] }])
  expect(brief(of(heals.slice(1)))).toEqual(['replace shop: drift /interval_secs'])
  expect(brief(of(heals, { regions: ['us-east-1'] }))).toEqual(['replace shop: drift /regions'])
  const old = heals.map(({ pointer }) => ({ pointer, atMs: NOW_MS - 3_600_000 }))
  expect(brief(of(old))).toEqual(['replace shop: drift /interval_secs'])
})

test('Scenario 42: a service paused for its removed manifest is deleted when its time is over, unless it was resumed', () => {
  const gone = (pruneAfterSecs: number | null, isPaused: boolean) =>
    brief(
      plan({
        actual: [live({ paused: isPaused })],
        bindings: [binding({}, {}, { onDelete: 'pause', tombstonedAtMs: NOW_MS - 60_000, pruneAfterSecs })],
      }).changes,
    )
  expect([gone(null, true), gone(61, true), gone(60, true), gone(60, false)]).toEqual([
    [],
    [],
    ['delete shop'],
    ['blocked shop for a person'],
  ])
})

test('a service that was deleted manually is not created next to another one of its name, and counts as drift', () => {
  const lost = plan({
    desired: [desired()],
    actual: [live({ id: OTHER_ID, interval: 90 })],
    bindings: [binding()],
  })
  expect(brief(lost.changes)).toEqual(['blocked shop for a person'])
  expect(driftOf(lost)).toEqual([{ kind: 'deleted', key: 'shop', id: ID, fields: [] }])
})

test('a plan counts owned services, those with a manifest, and unchanged ones', () => {
  const whole = plan({
    desired: [
      desired({}, { key: 'rests' }),
      desired({}, { key: 'renamed', previousNames: ['old'] }),
      desired({}, { key: 'broken', previousNames: ['a', 'b'] }),
    ],
    frozenKeys: ['frozen'],
    actual: ['rests', 'old', 'a', 'b', 'frozen', 'goes'].map((id) => live({ id })),
    bindings: ['rests', 'old', 'a', 'b', 'frozen', 'goes'].map((key) => binding({}, { id: key }, { key })),
  })

  expect({ ...whole, changes: brief(whole.changes) }).toEqual({
    changes: ['record renamed from old', 'delete goes', 'blocked broken for a person'],
    unchanged: ['rests'],
    owned: 6,
    kept: 5,
  })
})

test('changes are in the order of their execution', () => {
  const { changes } = plan({
    desired: [
      desired({}, { key: 'z', policy: { protect: true } }),
      desired({ interval: 90 }, { key: 'y' }),
      desired({ interval: 30 }, { key: 'x' }),
      desired({ name: 'New', url: 'https://new.example.com/' }, { key: 'w', paused: true }),
      desired({}, { key: 'v', paused: false }),
      desired({}, { key: 'u', paused: true }),
      desired({}, { key: 'b', policy: { drift: 'report' } }),
      desired({}, { key: 'a', id: 'no service' }),
    ],
    actual: [
      ...['z', 'y', 'x', 'u', 't'].map((id) => live({ id })),
      live({ id: 'v', paused: true }),
      live({ id: 'b', interval: 90 }),
    ],
    bindings: ['z', 'y', 'x', 'v', 'u', 't', 'b'].map((key) => binding({}, { id: key }, { key })),
  })

  expect(brief(changes)).toEqual([
    'record z',
    'replace y: git /interval_secs',
    'replace x: git /interval_secs',
    'create w paused',
    'resume v: git /paused',
    'pause u: git /paused',
    'delete t',
    'blocked a for a person',
    'drifted b: /interval_secs',
  ])
})

test('a manifest with a creation of unknown result waits, unless it names its service by id', () => {
  const waiting = { kind: 'blocked', key: 'shop', message: 'm', hint: 'h', needsDecision: false } as const
  const settle = (id: string | undefined) =>
    plan({ desired: [desired({}, { id })], actual: [live()], unsettled: [waiting] }).changes

  expect(settle(undefined)).toEqual([waiting])
  expect(brief(settle(ID))).toEqual([
    'replace shop: first-apply /endpoints/0/call/Http/headers/authorization',
  ])
})

test('a service that this version cannot parse is not changed', () => {
  expect(plan({ desired: [desired()], unreadableIds: [ID], bindings: [binding()] }).changes).toEqual([
    {
      kind: 'blocked',
      key: 'shop',
      message: `service ${ID} has content that this version of pharos cannot read`,
      hint: 'use a newer pharos',
      needsDecision: false,
    },
  ])
})

test('a deleted service is created again despite managed services with its name and unmanaged ones with other names', () => {
  const { changes } = plan({
    desired: [desired(), desired({ interval: 30 }, { key: 'twin' })],
    actual: [live({ id: OTHER_ID, interval: 30 }), live({ id: 'foreign', name: 'Foreign' })],
    bindings: [binding(), binding({ interval: 30 }, { id: OTHER_ID, interval: 30 }, { key: 'twin' })],
  })

  expect(changes).toEqual([
    { kind: 'create', key: 'shop', desired: desired().canonical, paused: false, replacesLost: ID },
  ])
})
