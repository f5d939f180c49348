import { expect, test } from 'vitest'
import { canonicalResponse } from '../../api/contract/canonical.ts'
import type { Binding } from './binding.ts'
import type { PlannedField, Update } from './planValue.ts'
import { binding, brief, desired, ID, live, NOW_MS, plan } from './testing/planning.ts'

const SECRET = '/endpoints/0/call/Http/headers/authorization'

/** An update of the service of `shop` that replaces its definition. */
function update(change: Partial<Update>): Update {
  const actual = change.actual ?? canonicalResponse(live())
  const fields = change.fields ?? []
  return {
    kind: 'update',
    key: 'shop',
    id: ID,
    renamedFrom: null,
    fields,
    shown: fields,
    outside: [],
    replace: true,
    keeps: [],
    pausing: null,
    shrinks: false,
    actual,
    observed: actual,
    ...change,
  }
}

const git: PlannedField = { pointer: '/interval_secs', from: 60, to: 30, reason: 'git' }

test('a change in git is sent, and nothing else is shown', () => {
  const { changes } = plan({ desired: [desired({ interval: 30 })], actual: [live()], bindings: [binding()] })

  expect(changes).toEqual([update({ fields: [git] })])
})

test('a manual change is reverted, and shown as such', () => {
  const drift: PlannedField = { pointer: '/interval_secs', from: 90, to: 60, reason: 'drift' }
  const { changes } = plan({ desired: [desired()], actual: [live({ interval: 90 })], bindings: [binding()] })

  expect(changes).toEqual([
    update({
      fields: [drift],
      outside: [drift],
      actual: canonicalResponse(live({ interval: 90 })),
      // Until it is put back, what was seen before stays what is compared with.
      observed: canonicalResponse(live()),
    }),
  ])
})

test('a changed definition in git resets manual changes, even with drift: report', () => {
  const drift: PlannedField = { pointer: '/regions', from: ['us-east-1'], to: ['eu-west-1'], reason: 'drift' }
  const drifted = live({ regions: ['us-east-1'] })
  const { changes } = plan({
    desired: [desired({ interval: 30 }, { policy: { drift: 'report' } })],
    actual: [drifted],
    bindings: [binding()],
  })

  expect(changes).toEqual([
    update({
      fields: [git, drift],
      outside: [drift],
      actual: canonicalResponse(drifted),
      observed: canonicalResponse(live()),
    }),
  ])
})

test('a service that was just adopted gets its secrets, which may differ', () => {
  const { changes } = plan({
    desired: [desired({ interval: 30 }, { id: ID, policy: { isIgnored: (pointer) => pointer === '/name' } })],
    actual: [live({ name: 'Other' })],
  })

  expect(changes).toEqual([
    update({
      fields: [
        { ...git, reason: 'first-apply' },
        {
          pointer: SECRET,
          from: { sealed: 'k1' },
          to: { sealed: `mark of one at shop${SECRET}` },
          reason: 'first-apply',
        },
      ],
      keeps: ['/name'],
      actual: canonicalResponse(live({ name: 'Other' })),
    }),
  ])
})

test.each([[{ observed: null }], [{ desired: null }]])(
  'a binding with %j belongs to a service to which nothing was sent yet',
  (change) => {
    const { changes } = plan({ desired: [desired()], actual: [live()], bindings: [binding({}, {}, change)] })

    expect(brief(changes)).toEqual([`replace shop: first-apply ${SECRET}`])
  },
)

test('a service that was adopted unchanged is only recorded', () => {
  const plain = { ...live(), endpoints: [] }
  const manifest = desired()
  const { changes } = plan({
    desired: [{ ...manifest, id: ID, canonical: { ...manifest.canonical, endpoints: [] } }],
    actual: [plain],
  })

  expect(changes).toEqual([
    { kind: 'record', key: 'shop', id: ID, renamedFrom: null, observed: canonicalResponse(plain) },
  ])
})

test.each([
  ['the interval grows', { interval: 90 }, {}, true],
  ['the interval shrinks', { interval: 30 }, {}, false],
  ['a region is removed', {}, { regions: ['eu-west-1', 'us-east-1'] }, true],
  ['an endpoint is removed', {}, { moreUrls: ['https://two.example.com/'] }, true],
  ['the name changes', { name: 'New' }, {}, false],
])('an update frees capacity when %s: %j', (_, wanted, before, shrinks) => {
  const { changes } = plan({
    desired: [desired(wanted)],
    actual: [live(before)],
    bindings: [binding(before)],
  })

  expect(changes).toMatchObject([{ kind: 'update', shrinks }])
})

test.each([
  [true, { fields: [{ pointer: '/paused', from: false, to: true, reason: 'git' }], pausing: 'pause' }],
  [false, { fields: [{ pointer: '/paused', from: true, to: false, reason: 'git' }], pausing: 'resume' }],
] as const)('a manifest with paused: %s sends only that', (paused, change) => {
  const { changes } = plan({
    desired: [desired({}, { paused })],
    actual: [live({ paused: !paused })],
    bindings: [binding()],
  })

  expect(changes).toEqual([update({ ...change, replace: false })])
})

test('a service that was resumed manually is drift, and is paused again', () => {
  const drift: PlannedField = { pointer: '/paused', from: false, to: true, reason: 'drift' }
  const { changes } = plan({
    desired: [desired({}, { paused: true })],
    actual: [live()],
    bindings: [binding({}, {}, { paused: true })],
  })

  expect(changes).toEqual([update({ fields: [drift], outside: [drift], replace: false, pausing: 'pause' })])
})

test('a service that was resumed manually is only shown with drift: report', () => {
  const drift: PlannedField = { pointer: '/paused', from: false, to: true, reason: 'drift' }
  const paused = (policy: 'report' | 'ignore') =>
    plan({
      desired: [desired({}, { paused: true, policy: { drift: policy } })],
      actual: [live()],
      bindings: [binding({}, {}, { paused: true })],
    }).changes

  expect(paused('report')).toEqual([
    { kind: 'drifted', key: 'shop', id: ID, fields: [drift], shown: [drift], looping: [] },
  ])
  expect(paused('ignore')).toEqual([])
})

test('a service that is resumed repeatedly is only shown', () => {
  const drift: PlannedField = { pointer: '/paused', from: false, to: true, reason: 'drift' }
  const heals = [1, 2, 3].map((agoMs) => ({ pointer: '/paused', atMs: NOW_MS - agoMs }))
  const { changes } = plan({
    desired: [desired({}, { paused: true })],
    actual: [live()],
    bindings: [binding({}, {}, { paused: true, heals })],
  })

  expect(changes).toEqual([
    { kind: 'drifted', key: 'shop', id: ID, fields: [drift], shown: [drift], looping: ['/paused'] },
  ])
})

test.each<[string, Partial<Binding>, Parameters<typeof desired>[1]]>([
  ['onDelete', { onDelete: 'pause' }, {}],
  ['protect', {}, { policy: { protect: true } }],
  ['pruneAfter', {}, { policy: { pruneAfterSecs: 60 } }],
  ['paused', { paused: false }, {}],
  ['that its manifest is back', { tombstonedAtMs: 1, paused: null }, {}],
])('a policy that changed is recorded without a request: %s', (_, before, now) => {
  const { changes } = plan({
    desired: [desired({}, now)],
    actual: [live()],
    bindings: [binding({}, {}, before)],
  })

  expect(changes).toEqual([
    { kind: 'record', key: 'shop', id: ID, renamedFrom: null, observed: canonicalResponse(live()) },
  ])
})

test('a change in git that the service already has is recorded without a request', () => {
  const { changes } = plan({
    desired: [desired({ interval: 30 })],
    actual: [live({ interval: 30 })],
    bindings: [binding()],
  })

  expect(changes).toEqual([
    {
      kind: 'record',
      key: 'shop',
      id: ID,
      renamedFrom: null,
      observed: canonicalResponse(live({ interval: 30 })),
    },
  ])
})

test('without state nothing is recorded', () => {
  const equal = plan({ desired: [desired({}, { id: ID })], actual: [live()], hasState: false })

  expect([equal.changes, equal.unchanged]).toEqual([[], ['shop']])
})

test('an ignored field is kept, with a name that a pointer has to escape', () => {
  const before = canonicalResponse(live())
  const [endpoint] = before.endpoints
  const withHeader = (value: string) => ({
    ...before,
    endpoints: [
      { ...endpoint!, call: { Http: { ...endpoint!.call.Http, headers: { 'a/b~c': { plain: value } } } } },
    ],
  })
  const pointer = '/endpoints/0/call/Http/headers/a~1b~0c'
  const response = live({ interval: 90 })
  const [shown] = response.endpoints
  const call = { Http: { ...shown!.call.Http, headers: { 'a/b~c': { Plain: 'theirs' } } } }
  const manifest = desired({}, { policy: { isIgnored: (at) => at === pointer } })
  const { changes } = plan({
    desired: [{ ...manifest, canonical: withHeader('ours'), canonicalUnder: () => withHeader('ours') }],
    actual: [{ ...response, endpoints: [{ ...shown!, call }] }],
    bindings: [{ ...binding(), desired: withHeader('ours'), observed: withHeader('ours') }],
  })

  expect(changes).toMatchObject([
    { kind: 'update', fields: [{ pointer: '/interval_secs' }], keeps: [pointer] },
  ])
})

test.each([
  ['the header itself', SECRET, {}],
  ['all headers', '/endpoints/0/call/Http/headers', {}],
  ['all headers, also beside plain ones', '/endpoints/0/call/Http/headers', { Accept: { Plain: '*/*' } }],
])('a secret that was set manually cannot be kept: ignored field %s', (_, ignored, plain) => {
  const empty = canonicalResponse(live())
  const headers = ignored === SECRET ? {} : null
  const [endpoint] = empty.endpoints
  const without = {
    ...empty,
    endpoints: [{ ...endpoint!, call: { Http: { ...endpoint!.call.Http, headers } } }],
  }
  const manifest = desired({ interval: 30 }, { policy: { isIgnored: (at) => at === ignored } })
  const asked = { ...without, interval_secs: 30 }
  const response = live()
  const [shown] = response.endpoints
  const call = { Http: { ...shown!.call.Http, headers: { ...shown!.call.Http.headers, ...plain } } }
  const { changes } = plan({
    desired: [{ ...manifest, canonical: asked, canonicalUnder: () => asked }],
    actual: [{ ...response, endpoints: [{ ...shown!, call }] }],
    bindings: [{ ...binding(), desired: without, observed: without }],
  })

  expect(changes).toEqual([
    {
      kind: 'blocked',
      key: 'shop',
      message: `the manual change at ${ignored} contains a secret, which the API does not show: the change cannot be preserved`,
      hint: 'undo it, or remove the field from policy.ignore',
      needsDecision: true,
      drift: { id: ID, fields: [] },
    },
  ])
})
