import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { UNKNOWN } from '../../protocol/values/value.ts'
import {
  answerTo,
  configurationOf,
  type ServiceConfiguration,
  serviceRequests,
} from '../../testing/serviceRequests.ts'
import { compileService } from '../compile/compileService.ts'
import { type ServiceState, toState } from '../read/toState.ts'
import type { Comparison } from './fingerprint.ts'
import {
  lostSecretWarnings,
  planCreate,
  planUpdate,
  regionProblems,
  replacesDefinition,
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

/** The state of the service that `made` makes. */
function stateOf(made: ServiceRequest): ServiceState {
  // True because toState answers every attribute but secrets_revision.
  return { ...toState(answerTo(made), undefined), secrets_revision: 1 } as ServiceState
}

/** What Terraform proposes for `configuration`: write-only values are null in it. */
function proposed(made: ServiceRequest, changes: Partial<ServiceConfiguration> = {}): ServiceConfiguration {
  // True because a state is a configuration that is wholly known.
  return { ...stateOf(made), paused: null, ...changes } as ServiceConfiguration
}

test('a service that is to be active is planned as active, one whose pause is not known as unknown', () => {
  const planned = proposed(request)

  const active = planCreate({ ...configurationOf(request), paused: null }, planned)
  const asleep = planCreate({ ...configurationOf(request), paused: true }, planned)
  const unknown = planCreate({ ...configurationOf(request), paused: UNKNOWN }, planned)

  expect(active).toEqual({ secrets_revision: 1, paused: false, paused_at: null })
  expect(asleep).toEqual({ secrets_revision: 1 })
  expect(unknown).toEqual({ secrets_revision: 1 })
})

const found = (comparison: Comparison): SecretsFound => ({ comparison, overwritten: [] })

test('nothing replaces the definition of a service that is configured as it is', () => {
  fc.assert(
    fc.property(serviceRequests, (made) => {
      expect(replacesDefinition(proposed(made), stateOf(made))).toBe(false)
    }),
  )
})

test('a changed name replaces the definition', () => {
  expect(replacesDefinition(proposed(request, { name: 'other' }), stateOf(request))).toBe(true)
})

test('a pause alone leaves the definition and everything computed from it as they are', () => {
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

test('a changed or not yet known secret makes the revision and the key ids unknown, and nothing else', () => {
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

test('a change that sends the secrets anyway counts whichever they are: the apply may have others than the plan', () => {
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

test('a region that there is not is named together with those that there are', () => {
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

test('a sealed value that is configured no more is warned of, one that moved or became plain is not', () => {
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
