import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { UNKNOWN, type Unknown } from '../../protocol/values/value.ts'
import {
  responseTo,
  configurationOf,
  type ServiceConfiguration,
  serviceRequests,
} from '../../testing/serviceRequests.ts'
import { compileService } from '../compile/compileService.ts'
import { type ServiceState, toState } from '../read/toState.ts'
import type { EndpointConfig } from '../schema/config.ts'
import type { Comparison } from './fingerprint.ts'
import {
  asksForRegions,
  emptyNameWarnings,
  lostSecretWarnings,
  planCreate,
  planUpdate,
  regionProblems,
  replacesDefinition,
  revisionOf,
  type SecretsFound,
  secretsWarnings,
} from './planService.ts'

const request: ServiceRequest = {
  name: 'checkout',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    {
      url: 'https://example.com/',
      call: {
        Http: { method: 'GET', timeout: null, headers: { Authorization: { value: 'x', sensitive: true } } },
      },
      assertions: [],
    },
  ],
}

/** The state of the service that `made` creates. */
function stateOf(made: ServiceRequest): ServiceState {
  // True because toState returns every attribute but secrets_revision.
  return { ...toState(responseTo(made), undefined), secrets_revision: 1 } as ServiceState
}

/** What Terraform proposes for `configuration`: write-only values are null in it. */
function proposed(made: ServiceRequest, changes: Partial<ServiceConfiguration> = {}): ServiceConfiguration {
  // True because a state is a configuration that is wholly known.
  return { ...stateOf(made), paused: null, ...changes } as ServiceConfiguration
}

test('a service that should be active is planned as active, and one whose pause is unknown as unknown', () => {
  const planned = proposed(request)

  const active = planCreate({ ...configurationOf(request), paused: null }, planned)
  const asleep = planCreate({ ...configurationOf(request), paused: true }, planned)
  const unknown = planCreate({ ...configurationOf(request), paused: UNKNOWN }, planned)

  expect(active).toEqual({ secrets_revision: 1, paused: false, paused_at: null })
  expect(asleep).toEqual({ secrets_revision: 1 })
  expect(unknown).toEqual({ secrets_revision: 1 })
})

const found = (comparison: Comparison): SecretsFound => ({ comparison, overwritten: [] })

test('an unchanged configuration does not replace the definition', () => {
  fc.assert(
    fc.property(serviceRequests, (made) => {
      expect(replacesDefinition(proposed(made), stateOf(made))).toBe(false)
    }),
  )
})

test('a changed name replaces the definition', () => {
  expect(replacesDefinition(proposed(request, { name: 'other' }), stateOf(request))).toBe(true)
})

test('a pause alone does not change the definition or anything computed from it', () => {
  const prior = stateOf(request)
  const config = proposed(request, { paused: true })

  const planned = planUpdate(config, config, prior, found('same'))

  expect(planned).toEqual({
    created_by_email: null,
    auto_incident: prior.auto_incident,
    paused: true,
    paused_at: UNKNOWN,
    endpoint_ids: prior.endpoint_ids,
    endpoints_blocked: prior.endpoints_blocked,
    sealed_key_ids: prior.sealed_key_ids,
    secrets_revision: 1,
  })
})

test('a changed or unknown secret makes only the revision and the key ids unknown', () => {
  const prior = stateOf(request)
  const config = proposed(request)

  for (const comparison of ['changed', 'unknown'] as const) {
    const { secrets_revision, sealed_key_ids, endpoint_ids } = planUpdate(
      config,
      config,
      prior,
      found(comparison),
    )
    expect({ secrets_revision, sealed_key_ids, endpoint_ids }).toEqual({
      secrets_revision: UNKNOWN,
      sealed_key_ids: UNKNOWN,
      endpoint_ids: prior.endpoint_ids,
    })
  }
})

test('a change that sends the secrets raises the revision whether or not they changed: the apply may have others than the plan', () => {
  const prior = stateOf(request)
  const renamed = proposed(request, { name: 'other' })
  const { headers: _, ...http } = request.endpoints[0]!.call.Http
  const open = { ...request, endpoints: [{ ...request.endpoints[0]!, call: { Http: http } }] }
  const unknown = proposed(request, { name: UNKNOWN })
  const revision = (config: ServiceConfiguration, of: ServiceState, comparison: 'same' | 'changed') =>
    planUpdate(config, config, of, found(comparison)).secrets_revision

  expect([revision(renamed, prior, 'same'), revision(renamed, prior, 'changed')]).toEqual([2, 2])
  expect(revision(proposed(open, { name: 'other' }), stateOf(open), 'same')).toBe(1)
  expect(revision(unknown, prior, 'same')).toBe(UNKNOWN)
  expect(planCreate(unknown, unknown).secrets_revision).toBe(UNKNOWN)
})

test('endpoints keep their ids while url, name and method stay', () => {
  const prior = stateOf(request)
  const moved = { ...request, endpoints: [{ ...request.endpoints[0]!, url: 'https://example.com/b' }] }

  const renamed = proposed(request, { name: 'other' })
  const elsewhere = proposed(moved)

  expect(planUpdate(renamed, renamed, prior, found('same')).endpoint_ids).toEqual(prior.endpoint_ids)
  expect(planUpdate(elsewhere, elsewhere, prior, found('same')).endpoint_ids).toBe(UNKNOWN)
})

test('the warning about a changed secret names its place and not its value', () => {
  const { secrets } = compileService(configurationOf(request))

  const [warning] = secretsWarnings(secrets, found('changed'))

  expect(warning?.detail).toContain('endpoints[0].http.headers["Authorization"].value_wo')
  expect(secretsWarnings(secrets, found('same'))).toEqual([])
  expect(secretsWarnings(secrets, found('unknown'))).toEqual([])
})

test('an unknown region is named together with the valid ones', () => {
  const regions = [{ code: 'eu-west-1', city: 'Dublin', country: 'Ireland' }]
  const config = configurationOf({ ...request, regions: ['eu-west-9'] })

  const [problem] = regionProblems(config, regions)

  expect(problem).toEqual({
    severity: 'error',
    summary: 'Unknown region',
    detail: 'There is no region eu-west-9. Regions are eu-west-1.',
    path: ['regions'],
  })
  expect(regionProblems({ ...config, regions: UNKNOWN }, regions)).toEqual([])
  expect(regionProblems({ ...config, regions: ['eu-west-1', UNKNOWN] }, regions)).toEqual([])
})

test('a removed sealed value causes a warning, and one that moved or became plain does not', () => {
  const prior = stateOf(request)
  const [endpoint] = request.endpoints
  const { Http } = endpoint!.call
  const without = { ...endpoint!, call: { Http: { ...Http, headers: null } } }
  const plain = { ...endpoint!, call: { Http: { ...Http, headers: { authorization: { value: 'plain' } } } } }
  const warningsOf = (...endpoints: ServiceRequest['endpoints']): readonly string[] =>
    lostSecretWarnings(configurationOf({ ...request, endpoints }), prior).map(({ detail }) => detail)

  expect(warningsOf(without)).toEqual([expect.stringContaining('0.headers.Authorization')])
  expect(warningsOf({ ...without, url: 'https://example.com/other' })).toHaveLength(1)
  expect(warningsOf(plain)).toEqual([])
  expect(warningsOf({ ...without, url: 'https://example.com/first' }, endpoint!)).toEqual([])
  expect(lostSecretWarnings({ ...configurationOf(request), endpoints: UNKNOWN }, prior)).toEqual([])
})

/** `request` with its endpoint changed. */
function withEndpoint(change: object, http: object = {}): ServiceRequest {
  const [endpoint] = request.endpoints
  return {
    ...request,
    endpoints: [{ ...endpoint!, call: { Http: { ...endpoint!.call.Http, ...http } }, ...change }],
  }
}

// True because a proposed service is wholly known.
const [proposedEndpoint] = proposed(request).endpoints as readonly [EndpointConfig]
const proposedHttp = proposedEndpoint.http as Exclude<EndpointConfig['http'], Unknown>

test.each([
  ['a secret header', {}, 1],
  ['no headers', { headers: null }, 0],
  ['a secret body', { headers: null, body: { value: null, value_wo: null, value_wo_version: null } }, 1],
  ['a plain body', { headers: null, body: { value: 'x', value_wo: null, value_wo_version: null } }, 0],
  [
    'a plain header',
    { headers: new Map([['A', { value: 'x', value_wo: null, value_wo_version: null }]]) },
    0,
  ],
])('a new service with %s was sent its secrets %i times once it is there', (_, http, revision) => {
  const endpoint: EndpointConfig = { ...proposedEndpoint, http: { ...proposedHttp, ...(http as object) } }
  const planned = proposed(request, { endpoints: [endpoint] })

  expect(planCreate(planned, planned).secrets_revision).toBe(revision)
})

test.each([
  ['the endpoints', { endpoints: UNKNOWN }],
  ['an endpoint', { endpoints: [UNKNOWN] }],
  ['a call', { endpoints: [{ ...proposedEndpoint, http: UNKNOWN }] }],
  ['an address', { endpoints: [{ ...proposedEndpoint, url: UNKNOWN }] }],
  ['a name', { endpoints: [{ ...proposedEndpoint, name: UNKNOWN }] }],
  ['a method', { endpoints: [{ ...proposedEndpoint, http: { ...proposedHttp, method: UNKNOWN } }] }],
  ['a body', { endpoints: [{ ...proposedEndpoint, http: { ...proposedHttp, body: UNKNOWN } }] }],
  ['the headers', { endpoints: [{ ...proposedEndpoint, http: { ...proposedHttp, headers: UNKNOWN } }] }],
  [
    'a header',
    { endpoints: [{ ...proposedEndpoint, http: { ...proposedHttp, headers: new Map([['A', UNKNOWN]]) } }] },
  ],
])('while %s is unknown, the key ids of secrets are unknown too', (what, change) => {
  const prior = stateOf(request)
  // True because only unknown values differ from a configuration.
  const config = proposed(request, change as Partial<ServiceConfiguration>)
  const planned = planUpdate(config, config, prior, found('same'))

  const keepsIds = ['a body', 'the headers', 'a header'].includes(what)
  expect([planned.sealed_key_ids, planned.secrets_revision]).toEqual([UNKNOWN, UNKNOWN])
  expect([planned.endpoint_ids, planned.endpoints_blocked]).toEqual(
    keepsIds ? [prior.endpoint_ids, prior.endpoints_blocked] : [UNKNOWN, UNKNOWN],
  )
})

test('a definition without secrets has no key ids after a change', () => {
  const open = withEndpoint({}, { headers: null })
  const config = proposed(open, { name: 'other' })

  expect(planUpdate(config, config, stateOf(open), found('same')).sealed_key_ids).toEqual(new Map())
})

test.each([
  ['url', withEndpoint({ url: 'https://example.com/b' })],
  ['name', withEndpoint({ name: 'other' })],
  ['method', withEndpoint({}, { method: 'POST' })],
  ['number', { ...request, endpoints: [...request.endpoints, ...request.endpoints] }],
])('endpoints get other ids when their %s changes', (_, made) => {
  const config = proposed(made)
  const { endpoint_ids, endpoints_blocked } = planUpdate(config, config, stateOf(request), found('same'))

  expect([endpoint_ids, endpoints_blocked]).toEqual([UNKNOWN, UNKNOWN])
})

test.each([
  [null, null, null],
  [null, 'then', 'then'],
  [true, null, UNKNOWN],
  [true, 'then', 'then'],
  [false, null, null],
  [false, 'then', null],
])(
  'a service with paused = %s that was paused at %s is planned as paused at %s',
  (paused, pausedAt, planned) => {
    const prior = { ...stateOf(request), paused: pausedAt !== null, paused_at: pausedAt }
    const config = proposed(request, { paused })

    expect(planUpdate(config, config, prior, found('same'))).toMatchObject({
      paused: paused ?? prior.paused,
      paused_at: planned,
    })
  },
)

test('a sealed value that was overwritten elsewhere is sent again, and reported with its place', () => {
  const prior = stateOf(request)
  const config = proposed(request)
  const overwritten = { comparison: 'same', overwritten: ['0.body', '1.body'] } as const

  expect(planUpdate(config, config, prior, overwritten)).toMatchObject({
    secrets_revision: UNKNOWN,
    sealed_key_ids: UNKNOWN,
  })
  expect(secretsWarnings([], overwritten)).toEqual([
    {
      severity: 'warning',
      summary: 'A secret was overwritten',
      detail:
        'The sealed value at 0.body, 1.body of the endpoints was written by another client, or by an update whose response ' +
        'was lost. All secrets of the service are sent again.',
      path: ['secrets_revision'],
    },
  ])
})

test('a changed secret is reported with the places of all secrets', () => {
  const secrets = [
    { path: ['a'], value: 'x' },
    { path: ['b'], value: 'y' },
  ]

  expect(secretsWarnings(secrets, found('changed'))).toEqual([
    {
      severity: 'warning',
      summary: 'A secret changed',
      detail:
        'At least one of a, b differs from what was last sent. All secrets of the service are sent again.',
      path: ['secrets_revision'],
    },
  ])
})

test('an unknown revision replaces the definition', () => {
  expect(replacesDefinition(proposed(request, { secrets_revision: UNKNOWN }), stateOf(request))).toBe(true)
})

test('the list of regions is requested for a new service and for changed regions', () => {
  const prior = stateOf(request)
  const updated = (regions: readonly string[]) =>
    asksForRegions({ action: 'update', planned: proposed(request, { regions: [...regions] }), prior })

  expect([asksForRegions({ action: 'create' }), updated(['eu-west-1']), updated(['us-east-1'])]).toEqual([
    true,
    false,
    true,
  ])
})

test('a state of an earlier version, without a revision, has revision 0', () => {
  expect([null, 3].map((count) => revisionOf({ ...stateOf(request), secrets_revision: count }))).toEqual([
    0, 3,
  ])
})

test('a name that changes from none to empty, or back, is reported', () => {
  const named = (name: string | null) => withEndpoint({ name })
  const warnings = (from: string | null, to: string | null) =>
    emptyNameWarnings(configurationOf(named(to)), stateOf(named(from)))
  const expected = (change: string) => [
    {
      severity: 'warning',
      summary: 'The name of an endpoint changes',
      detail: `endpoints[0].name changes from ${change}, which the plan does not show. To the API these are two names, and an endpoint of another name is a new one.`,
      path: ['endpoints', 0, 'name'],
    },
  ]

  expect([warnings(null, ''), warnings('', null)]).toEqual([
    expected('none to an empty string'),
    expected('an empty string to none'),
  ])
  expect([warnings(null, null), warnings('', ''), warnings('a', ''), warnings(null, 'a')]).toEqual([
    [],
    [],
    [],
    [],
  ])
  const config = configurationOf(named(''))
  const prior = stateOf(named(null))
  expect([
    emptyNameWarnings({ ...config, endpoints: UNKNOWN }, prior),
    emptyNameWarnings({ ...config, endpoints: [UNKNOWN] }, prior),
    emptyNameWarnings(config, { ...prior, endpoints: [] }),
  ]).toEqual([[], [], []])
})

test('a removed sealed value is reported with its place', () => {
  expect(lostSecretWarnings(configurationOf(withEndpoint({}, { headers: null })), stateOf(request))).toEqual([
    {
      severity: 'warning',
      summary: 'A sealed value will be lost',
      detail:
        'The API keeps a sealed value at 0.headers.Authorization of the endpoints, which this change removes. It cannot be read back.',
      path: ['endpoints'],
    },
  ])
})

test('a removed sealed body is reported, and a kept one is not', () => {
  const sealed = withEndpoint({}, { headers: null, body: { value: 'x', sensitive: true } })
  const lost = (made: ServiceRequest) => lostSecretWarnings(configurationOf(made), stateOf(sealed)).length

  expect([lost(sealed), lost(withEndpoint({}, { headers: null })), lost(withEndpoint({}))]).toEqual([0, 1, 1])
})

test('all unknown regions are named in one message', () => {
  const regions = ['a', 'b'].map((code) => ({ code, city: '', country: '' }))

  expect(regionProblems(configurationOf({ ...request, regions: ['x', 'a', 'y'] }), regions)).toMatchObject([
    { detail: 'There is no region x, y. Regions are a, b.' },
  ])
})
