import { expect, test } from 'vitest'
import { canonicalResponse } from '../../api/contract/canonical.ts'
import { diffOfBound, diffOfFirst, isSealed } from './serviceDiff.ts'
import { binding, desired, live } from './testing/planning.ts'

const SECRET = '/endpoints/0/call/Http/headers/authorization'

const nothing = {
  wanted: [],
  drifted: [],
  shown: { wanted: [], drifted: [], outside: [] },
  ignored: [],
  pausing: null,
}

test('a service that is unchanged since its apply has no difference, even if the server normalised the request', () => {
  const response = { regions: ['eu-west-1', 'us-east-1'] }

  expect(diffOfBound(desired(), binding({}, response), live(response))).toEqual({
    ...nothing,
    live: canonicalResponse(live(response)),
    matchesManifest: true,
  })
})

test('an adopted service that matches its manifest may have another secret', () => {
  const secret = {
    pointer: SECRET,
    from: { sealed: 'k1' },
    to: { sealed: `mark of one at shop${SECRET}` },
    reason: 'first-apply',
  }

  expect(diffOfFirst(desired(), live(), 'first-apply')).toEqual({
    ...nothing,
    wanted: [secret],
    shown: { wanted: [secret], drifted: [], outside: [] },
    live: canonicalResponse(live()),
    matchesManifest: false,
  })
})

test('without state an existing secret counts as unchanged', () => {
  expect(diffOfFirst(desired(), live(), 'differs')).toEqual({
    ...nothing,
    live: canonicalResponse(live()),
    matchesManifest: true,
  })
})

test('without state differences are shown with moved endpoints, and without ignored fields', () => {
  const two = 'https://two.example.com/'
  const service = live({ interval: 90, name: 'Other' })
  const manifest = desired(
    { url: two, moreUrls: ['https://example.com/'] },
    { policy: { isIgnored: (pointer) => pointer === '/name' } },
  )

  const { wanted, shown, ignored, matchesManifest } = diffOfFirst(manifest, service, 'differs')

  const interval = { pointer: '/interval_secs', from: 90, to: 60, reason: 'differs' }
  expect(wanted.map(({ pointer }) => pointer)).toEqual(['/interval_secs', '/endpoints/0/url', '/endpoints/1'])
  expect(shown).toEqual({
    wanted: [
      interval,
      { pointer: '/endpoints/0', from: undefined, to: manifest.canonical.endpoints[0], reason: 'differs' },
    ],
    drifted: [],
    outside: [],
  })
  expect([ignored, matchesManifest]).toEqual([['/name'], false])
})

test('a service that has all changes in git except a secret still needs an update', () => {
  const service = live({ interval: 30 })
  const { matchesManifest } = diffOfBound(desired({ interval: 30, secret: 'two' }), binding(), service)

  expect(matchesManifest).toBe(false)
})

test('a service that has all changes in git still needs an update when its secret was changed manually', () => {
  const service = live({ interval: 30, keyId: 'k2' })
  const { matchesManifest } = diffOfBound(desired({ interval: 30 }), binding(), service)

  expect(matchesManifest).toBe(false)
})

test('a manual change of an ignored field is neither drift nor shown', () => {
  const manifest = desired({}, { policy: { isIgnored: (pointer) => pointer === '/interval_secs' } })
  const service = live({ interval: 90, name: 'Other' })

  const { drifted, shown, ignored } = diffOfBound(manifest, binding(), service)

  const name = { pointer: '/name', from: 'Other', to: 'Shop', reason: 'drift' }
  expect([drifted, shown, ignored]).toEqual([
    [name],
    { wanted: [], drifted: [name], outside: [name] },
    ['/interval_secs'],
  ])
})

test('a change in git of an ignored field is not sent', () => {
  const manifest = desired(
    { interval: 90, name: 'New' },
    { policy: { isIgnored: (pointer) => pointer === '/interval_secs' } },
  )

  expect(diffOfBound(manifest, binding(), live()).wanted).toEqual([
    { pointer: '/name', from: 'Shop', to: 'New', reason: 'git' },
  ])
})

const [one, two] = ['https://example.com/', 'https://two.example.com/']

test('manual changes of endpoints are shown aligned, together with other drift', () => {
  const service = live({ url: two, moreUrls: [one], interval: 90 })

  const { shown } = diffOfBound(desired(), binding(), service)

  const interval = { pointer: '/interval_secs', from: 90, to: 60, reason: 'drift' }
  const added = {
    pointer: '/endpoints/0',
    from: canonicalResponse(service).endpoints[0],
    to: undefined,
    reason: 'drift',
  }
  expect(shown).toEqual({ wanted: [], drifted: [interval, added], outside: [interval, added] })
})

test('changes of endpoints in git are shown aligned, together with other changes and drift', () => {
  const manifest = desired({ url: two, moreUrls: [one], interval: 30 })

  const { shown } = diffOfBound(manifest, binding(), live({ name: 'Other' }))

  const name = { pointer: '/name', from: 'Other', to: 'Shop', reason: 'drift' }
  expect(shown).toEqual({
    wanted: [
      { pointer: '/interval_secs', from: 60, to: 30, reason: 'git' },
      {
        pointer: '/endpoints/0',
        from: undefined,
        to: manifest.canonicalUnder('shop').endpoints[0],
        reason: 'git',
      },
    ],
    drifted: [name],
    outside: [name],
  })
})

test('a change within ignored endpoints is not shown', () => {
  const manifest = desired(
    { url: two, interval: 30 },
    { policy: { isIgnored: (pointer) => pointer === '/endpoints/0/url' } },
  )

  expect(diffOfBound(manifest, binding(), live()).shown.wanted.map(({ pointer }) => pointer)).toEqual([
    '/interval_secs',
  ])
})

test.each([
  ['no pause, where the manifest says nothing', undefined, {}, null],
  ['a pause, where the manifest requests one', true, {}, { from: false, to: true, reason: 'git' }],
  [
    'a pause again, after a manual resume',
    true,
    { paused: true },
    { from: false, to: true, reason: 'drift' },
  ],
  [
    'a new pause, after the manifest had been removed',
    true,
    { paused: true, tombstonedAtMs: 1 },
    { from: false, to: true, reason: 'git' },
  ],
])('a running service needs %s', (_, paused, before, pausing) => {
  const diff = diffOfBound(desired({}, { paused }), binding({}, {}, before), live())

  expect(diff.pausing).toEqual(pausing === null ? null : { pointer: '/paused', ...pausing })
})

test('only a fingerprint counts as a secret', () => {
  expect([{ sealed: 'k' }, { plain: 'text' }, null, 'sealed', undefined].map(isSealed)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})
