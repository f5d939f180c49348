import { expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { activationRefusal, creationRefusal, type OrgQuota, replacementRefusal } from './planLimits.ts'
import { quota } from './testing/quota.ts'

const endpoint: ServiceResponse['endpoints'][number] = {
  id: 'endpoint',
  url: 'https://example.com/',
  call: { Http: { method: 'GET', timeout: null } },
  assertions: [],
  blocked: false,
}

/** A service with `endpoints` endpoints that the limits of `quota` allow. */
function service(endpoints = 1, change: Partial<ServiceResponse> = {}): ServiceResponse {
  return {
    id: 'service',
    org_id: 'org',
    name: 'shop',
    interval_secs: 30,
    regions: ['eu-west-1'],
    endpoints: Array(endpoints).fill(endpoint),
    created_at: '2026-01-01T00:00:00.000Z',
    auto_incident_enabled: false,
    ...change,
  }
}

const STORED = 'plan limit: at most 20 services may be stored, paused ones included'
const ACTIVE = 'plan limit: at most 2 active services'
const ONE_SERVICE = 'plan limit: at most 3 endpoints in one service'
const ALL = 'plan limit: at most 5 endpoints in active services'
const INTERVAL = 'plan limit: interval_secs must be at least 30'
const REGIONS = 'plan limit: regions must be among eu-west-1, us-east-1'

const usage = (activeServices: number, activeEndpoints: number, storedServices: number): OrgQuota =>
  quota({}, { activeServices, activeEndpoints, storedServices })

test.each([
  [usage(0, 0, 0), service(), undefined],
  [usage(1, 4, 19), service(), undefined],
  [usage(0, 0, 20), service(), STORED],
  [usage(2, 2, 2), service(), ACTIVE],
  [usage(1, 5, 1), service(), ALL],
  [usage(1, 3, 1), service(2), undefined],
  [usage(1, 4, 1), service(2), ALL],
  [usage(0, 0, 0), service(3), undefined],
  [usage(0, 0, 0), service(4), ONE_SERVICE],
  [usage(0, 0, 0), service(1, { interval_secs: 29 }), INTERVAL],
  [usage(0, 0, 0), service(1, { regions: ['us-east-1', 'ap-northeast-1'] }), REGIONS],
  // When several limits are exceeded, the report follows a fixed order.
  [usage(2, 5, 20), service(4, { interval_secs: 1 }), STORED],
  [usage(2, 5, 2), service(4, { interval_secs: 1 }), INTERVAL],
  [usage(2, 5, 2), service(4), ONE_SERVICE],
  [usage(2, 5, 2), service(), ACTIVE],
])('a new service is refused at the limit of the plan and not before (%#)', (org, definition, refusal) => {
  expect(creationRefusal(org, definition)).toBe(refusal)
})

test('a plan without a list of regions allows every region', () => {
  const everywhere = quota({ regionsAllowed: null })

  expect(creationRefusal(everywhere, service(1, { regions: ['ap-northeast-1'] }))).toBeUndefined()
})

test('resuming a service does not count as another stored service', () => {
  expect([
    activationRefusal(usage(1, 4, 20), service()),
    activationRefusal(usage(2, 2, 20), service()),
  ]).toEqual([undefined, ACTIVE])
})

const paused = { paused_at: '2026-01-01T00:00:00.000Z' }

test.each([
  ['that keeps its size', usage(2, 5, 20), service(3), service(3), undefined],
  ['that stays larger than the plan allows', usage(9, 99, 99), service(9), service(9), undefined],
  ['that shrinks, but not enough', usage(9, 99, 99), service(9), service(8), undefined],
  ['that grows within the plan', usage(2, 4, 2), service(1), service(2), undefined],
  ['that grows beyond the endpoints of all', usage(2, 5, 2), service(1), service(2), ALL],
  ['that grows beyond the endpoints of one', usage(1, 3, 1), service(3), service(4), ONE_SERVICE],
  ['that is paused and grows', usage(2, 5, 2), service(1, paused), service(2), undefined],
  [
    'that is paused and grows beyond the endpoints of one',
    usage(0, 0, 1),
    service(3, paused),
    service(4),
    ONE_SERVICE,
  ],
  ['that is checked too often', usage(1, 1, 1), service(), service(1, { interval_secs: 29 }), INTERVAL],
  [
    'that grows and is checked too often',
    usage(1, 1, 1),
    service(),
    service(4, { interval_secs: 29 }),
    INTERVAL,
  ],
  ['in a region that is not allowed', usage(1, 1, 1), service(), service(1, { regions: ['x'] }), REGIONS],
])('replacing a service %s is checked against the plan', (_, org, current, definition, refusal) => {
  expect(replacementRefusal(org, current, definition)).toBe(refusal)
})
