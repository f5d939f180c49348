import { expect, test } from 'vitest'
import { canonicalRequest, canonicalResponse } from '../../api/contract/canonical.ts'
import type { EndpointInput, ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { fieldText } from '../text/fieldText.ts'
import { newBinding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { driftOf } from './drift.ts'
import { planChanges } from './plan.ts'

const ID = '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'

/** An endpoint that asserts what `statuses` say and sends `secret` where there is one. */
function endpoint(host: string, statuses: readonly number[] = [], secret?: string): EndpointInput {
  return {
    url: `https://${host}/`,
    call: {
      Http: {
        method: 'GET',
        timeout: null,
        ...(secret === undefined ? {} : { headers: { 'x-key': { value: secret, sensitive: true } } }),
      },
    },
    assertions: statuses.map((NotEq) => ({ StatusCode: { expected: { NotEq } } })),
  }
}

interface Shape {
  readonly endpoints: readonly EndpointInput[]
  readonly intervalSecs?: number
  readonly paused?: boolean
}

function requestOf({ endpoints, intervalSecs = 60 }: Shape): ServiceRequest {
  return { name: 'shop', interval_secs: intervalSecs, regions: ['eu-west-1'], endpoints: [...endpoints] }
}

function desiredOf(shape: Shape, drift: DesiredService['policy']['drift']): DesiredService {
  const canonicalUnder: DesiredService['canonicalUnder'] = (key, placeOf = (at) => at) =>
    canonicalRequest(requestOf(shape), (pointer, value) => {
      const place = pointer.replace(/\d+/, (at) => String(placeOf(Number(at))))
      return `mark of ${value} at ${key}${place}`
    })
  return {
    key: 'shop',
    id: undefined,
    previousNames: [],
    paused: shape.paused,
    canonical: canonicalUnder('shop'),
    canonicalUnder,
    policy: { onDelete: 'delete', pruneAfterSecs: null, protect: false, drift, isIgnored: () => false },
  }
}

function liveOf(shape: Shape): ServiceResponse {
  return {
    ...requestOf(shape),
    id: ID,
    org_id: 'b3b1f1de-3d44-4a35-9f0e-4d9d8c1f5a11',
    endpoints: shape.endpoints.map(({ url, assertions, call: { Http } }) => {
      const headers = Http.headers == null ? null : { 'x-key': { Sealed: { key_id: 'k' } } }
      return { id: ID, url, blocked: false, assertions, call: { Http: { ...Http, body: null, headers } } }
    }),
    created_at: '2026-01-01T00:00:00.000Z',
    auto_incident_enabled: false,
  }
}

/** What is shown of a service that was applied as `before`, is now `now` and should be `wanted`. */
function shown(
  before: Shape,
  wanted: Shape,
  now = before,
  drift: DesiredService['policy']['drift'] = 'heal',
) {
  const binding = {
    ...newBinding('shop', ID),
    desired: desiredOf(before, drift).canonical,
    observed: canonicalResponse(liveOf(before)),
    onDelete: 'delete' as const,
  }
  const plan = planChanges({
    desired: [desiredOf(wanted, drift)],
    frozenKeys: [],
    actual: [liveOf(now)],
    unreadableIds: [],
    bindings: [binding],
    unsettled: [],
    hasState: true,
    isValid: true,
    nowMs: 0,
  })
  const [change] = plan.changes
  return {
    kind: change?.kind,
    plan: change?.kind === 'update' ? change.shown.map(fieldText) : [],
    reasons:
      change?.kind === 'update' ? change.shown.map(({ reason, outside }) => [reason, outside?.was]) : [],
    drift: driftOf(plan).flatMap((one) =>
      one.fields.map((field) => fieldText({ ...field, from: field.to, to: field.from })),
    ),
  }
}

test('an endpoint inserted before others is shown alone, and the others are not shown as changed', () => {
  const [a, b] = [endpoint('a', [500], 's'), endpoint('b', [], 's')]

  const { plan } = shown({ endpoints: [a, b] }, { endpoints: [endpoint('new', [404], 't'), a, b] })

  expect(plan).toEqual([
    'endpoints[0]: none → {url: "https://new/", headers: {x-key: (secret)}, assertions: [{status: {not: 404}}]}',
  ])
})

test('an endpoint that moved is shown with its changes, its secret included, and a removed one as removed', () => {
  const before = { endpoints: [endpoint('a'), endpoint('b', [500], 'old')] }

  expect(shown(before, { endpoints: [endpoint('b', [500], 'new')] }).plan).toEqual([
    'endpoints[0].headers.x-key: secret changed',
    'endpoints[0]: {url: "https://a/"} → none',
  ])
})

test('reordered endpoints are shown as reordered', () => {
  const [a, b] = [endpoint('a', [], 's'), endpoint('b')]

  expect(shown({ endpoints: [a, b] }, { endpoints: [b, a] }).plan).toEqual([
    'endpoints: ["https://a/", "https://b/"] → ["https://b/", "https://a/"]',
  ])
})

test('an assertion inserted before others is shown alone', () => {
  expect(
    shown({ endpoints: [endpoint('a', [500, 501])] }, { endpoints: [endpoint('a', [404, 500, 501])] }).plan,
  ).toEqual(['endpoints[0].assertions[0]: none → {status: {not: 404}}'])
})

test('an endpoint whose address changed is the same endpoint if its index is unchanged', () => {
  expect(shown({ endpoints: [endpoint('a')] }, { endpoints: [endpoint('b')] }).plan).toEqual([
    'endpoints[0].url: "https://a/" → "https://b/"',
  ])
})

test('a field changed in git and manually is marked in the plan, and is drift from its applied value', () => {
  const endpoints = [endpoint('a')]
  const both = shown({ endpoints }, { endpoints, intervalSecs: 45 }, { endpoints, intervalSecs: 120 })

  expect([both.plan, both.reasons]).toEqual([['interval: 2m → 45s'], [['git', 60]]])
  expect(both.drift).toEqual(['interval: 1m → 2m'])
})

test('drift that is only reported stays drift while the manifest requests a pause', () => {
  const endpoints = [endpoint('a')]
  const report = shown({ endpoints }, { endpoints, paused: true }, { endpoints, intervalSecs: 120 }, 'report')

  expect([report.plan, report.drift]).toEqual([['paused: false → true'], ['interval: 1m → 2m']])
})

test('endpoints changed in git and manually are shown by index, without equal values', () => {
  const [a, b, c] = [endpoint('a'), endpoint('b'), endpoint('c')]
  const both = shown({ endpoints: [a, b] }, { endpoints: [a, c] }, { endpoints: [a, c, b] })

  expect(both.plan).toEqual(['endpoints[2]: {url: "https://b/"} → none'])
  expect(both.drift).toEqual(['endpoints[1]: none → {url: "https://c/"}'])
})
