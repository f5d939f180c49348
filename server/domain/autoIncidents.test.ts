import { expect, test } from 'vitest'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { fieldsOf } from './autoIncidentSettings.ts'
import {
  afterFailingRound,
  afterRecovery,
  afterSteadyTime,
  closingUpdate,
  type FailingFacts,
  isCounted,
  type OpenAutoIncident,
} from './autoIncidents.ts'
import type { FailingRound } from './autoIncidentTexts.ts'

const NOW_S = 1_800_000_030
/** The round at NOW_S, with an interval of a minute. */
const ROUND = 30_000_000
const at = { atS: NOW_S, nowS: NOW_S }

function endpoint(id: string, change: Partial<ServiceResponse['endpoints'][number]> = {}) {
  const call = { Http: { method: 'GET' as const, timeout: null } }
  return {
    id,
    url: 'https://shop.example/pay?token=s3cret#top',
    name: null,
    call,
    assertions: [],
    blocked: false,
    ...change,
  }
}

const service: ServiceResponse = {
  id: 'service',
  org_id: 'org',
  name: 'Checkout',
  interval_secs: 60,
  regions: ['eu-west-1', 'ap-northeast-1'],
  endpoints: [endpoint('a'), endpoint('b', { name: 'Cart' })],
  created_at: '2026-01-01T00:00:00.000Z',
  paused_at: null,
  created_by_email: null,
  ...fieldsOf({ threshold: 3, windowMinutes: 10 }),
}

function failing(change: Partial<FailingRound> = {}): FailingRound {
  return {
    ...{ endpoint_id: 'a', round: ROUND, interval_s: 60, mark: '1', down_count: 1, endpoint_count: 2 },
    regions: ['eu-west-1', 'ap-northeast-1'],
    is_everywhere: false,
    explained: [
      { endpoint_id: 'a', regions: ['eu-west-1', 'ap-northeast-1'], text: 'status 503, expected < 400' },
    ],
    ...change,
  }
}

function facts(change: Partial<FailingFacts> = {}): FailingFacts {
  return {
    ...{ service, open: undefined, rounds: [ROUND, ROUND - 1, ROUND - 2] },
    ...{ hasIncident: false, isMuted: false, maintenanceEndedS: 0 },
    ...change,
  }
}

function open(change: Partial<OpenAutoIncident> = {}): OpenAutoIncident {
  return {
    ...{
      incidentId: 'incident',
      status: 'investigating',
      isTakenOver: false,
      isFailing: true,
      updatesMade: 0,
    },
    ...{ investigatingAtS: NOW_S - 300, monitoringAtS: 0, reportedDown: '1' },
    ...change,
  }
}

test('failing rounds that reach the threshold within the window open an incident that says what, where and why', () => {
  const step = afterFailingRound(failing(), facts(), at)

  expect(step).toEqual({
    kind: 'open',
    request: {
      title: 'Checkout: https://shop.example/pay down from Dublin, Tokyo',
      message:
        'Checks fail: https://shop.example/pay down from Dublin, Tokyo.\n- https://shop.example/pay: status 503, expected < 400 (Dublin, Tokyo)',
      severity: 'partial_outage',
      service_ids: ['service'],
    },
    open: {
      ...{ isTakenOver: false, isFailing: true, updatesMade: 0 },
      ...{ investigatingAtS: NOW_S, monitoringAtS: 0, reportedDown: '1' },
    },
  })
})

test.each<[string, Partial<FailingFacts>]>([
  ['a round is missing', { rounds: [ROUND, ROUND - 1] }],
  ['a round was before the window', { rounds: [ROUND, ROUND - 1, ROUND - 10] }],
  ['maintenance ended since', { maintenanceEndedS: (ROUND - 2) * 60 + 1 }],
  ['an unresolved incident names the service', { hasIncident: true }],
  ['a person resolved it during the failure', { isMuted: true }],
  ['automatic incidents are off', { service: { ...service, ...fieldsOf(null) } }],
])('nothing opens when %s', (_, change) => {
  expect(afterFailingRound(failing(), facts(change), at)).toEqual({ kind: 'nothing' })
})

test('the first round in the window and the first after maintenance count', () => {
  const oldest = { rounds: [ROUND, ROUND - 1, ROUND - 9] }

  expect(afterFailingRound(failing(), facts(oldest), at).kind).toBe('open')
  expect(afterFailingRound(failing(), facts({ maintenanceEndedS: (ROUND - 2) * 60 }), at).kind).toBe('open')
})

test('an interval that grew later keeps the threshold within reach', () => {
  const slow = { ...service, interval_secs: 600 }
  const round = Math.floor(NOW_S / 600)

  const step = afterFailingRound(
    failing({ round, interval_s: 600 }),
    facts({ service: slow, rounds: [round, round - 1, round - 3] }),
    at,
  )

  expect(step.kind).toBe('open')
})

test('an outage of all endpoints in all regions is major; five endpoints are described', () => {
  const explained = Array.from({ length: 5 }, () => failing().explained[0]!)
  const everything = failing({ is_everywhere: true, down_count: 7, endpoint_count: 7, explained })

  const step = afterFailingRound(everything, facts(), at)

  expect(step).toMatchObject({
    request: { severity: 'major_outage', title: 'Checkout: 7 of 7 endpoints down from Dublin, Tokyo' },
  })
  expect(step.kind === 'open' && step.request.message.split('\n').slice(-1)).toEqual(['- and 2 more'])
})

test('names and reasons are truncated, and control characters are made visible', () => {
  const long = { ...service, endpoints: [endpoint('a', { name: 'x'.repeat(255) })] }
  const explained = [{ endpoint_id: 'a', regions: ['eu-west-1'], text: `\u001b[31m${'y'.repeat(600)}` }]

  const step = afterFailingRound(failing({ explained }), facts({ service: long }), at)

  const request = step.kind === 'open' ? step.request : undefined
  expect(request?.title).toBe(`Checkout: ${'x'.repeat(119)}… down from Dublin, Tokyo`)
  expect(request?.message).toContain(`: \\u001b[31m${'y'.repeat(289)}… (Dublin)`)
})

test.each<[string, Partial<OpenAutoIncident>, Partial<FailingRound>]>([
  ['nothing changed', {}, {}],
  ['the last update is less than five minutes old', { investigatingAtS: NOW_S - 299 }, { mark: '1,2' }],
  ['twenty updates were made', { updatesMade: 20 }, { mark: '1,2' }],
  ['a person took it over', { isTakenOver: true }, { mark: '1,2' }],
])('an open incident gets no update when %s', (_, change, round) => {
  const now = open({ isFailing: false, ...change })

  expect(afterFailingRound(failing(round), facts({ open: now }), at)).toEqual({
    kind: 'remember',
    open: { ...now, isFailing: true },
  })
})

test('an update of an open incident names the endpoints that are down now', () => {
  const now = open({ updatesMade: 3 })

  const step = afterFailingRound(
    failing({ mark: '1,2', down_count: 2, is_everywhere: true }),
    facts({ open: now }),
    at,
  )

  expect(step).toMatchObject({
    kind: 'update',
    request: {
      body: expect.stringMatching(/^Checks fail: 2 of 2 endpoints down/),
      status: 'investigating',
      severity: 'major_outage',
    },
    open: { ...now, updatesMade: 4, investigatingAtS: NOW_S, reportedDown: '1,2' },
  })
})

test('checks that fail again before the resolution set the same incident back to investigating', () => {
  const now = open({ status: 'monitoring', isFailing: false, monitoringAtS: NOW_S - 60 })

  const step = afterFailingRound(failing(), facts({ open: now }), at)

  expect(step).toMatchObject({
    kind: 'update',
    request: { status: 'investigating' },
    open: { isFailing: true },
  })
})

test('recovery is reported at most every five minutes, and not in an incident that a person took over', () => {
  const recovery = { since_s: NOW_S }
  const body = 'Checks pass again since 2027-01-15 08:00:30 UTC.'

  expect(afterRecovery(open(), recovery, NOW_S)).toEqual({
    kind: 'update',
    request: { body, status: 'monitoring' },
    open: open({ isFailing: false, updatesMade: 1, monitoringAtS: NOW_S }),
  })
  for (const change of [{ monitoringAtS: NOW_S - 299 }, { updatesMade: 20 }, { isTakenOver: true }]) {
    expect(afterRecovery(open(change), recovery, NOW_S)).toEqual({
      kind: 'remember',
      open: open({ ...change, isFailing: false }),
    })
  }
})

test('after the steady time an incident is resolved, and one taken over by a person says monitoring', () => {
  const recovery = { since_s: NOW_S }
  const body = 'Checks pass without a break since 2027-01-15 08:00:30 UTC.'

  expect(afterSteadyTime(open({ updatesMade: 20 }), recovery, NOW_S)).toEqual({
    kind: 'resolve',
    request: { body, status: 'resolved' },
  })
  expect(afterSteadyTime(open({ isTakenOver: true }), recovery, NOW_S)).toEqual({
    kind: 'update',
    request: { body, status: 'monitoring' },
    open: open({ isTakenOver: true, isFailing: false, updatesMade: 1, monitoringAtS: NOW_S }),
  })
  expect(afterSteadyTime(open({ isTakenOver: true, updatesMade: 20 }), recovery, NOW_S).kind).toBe('remember')
})

test('a pause, a delete and disabling automatic incidents resolve an incident with that reason, and other changes do not', () => {
  const paused = { ...service, paused_at: '2026-01-02T00:00:00.000Z' }
  const off = { ...service, ...fieldsOf(null) }

  expect(closingUpdate(service, paused)?.body).toBe('The service was paused and is no longer checked.')
  expect(closingUpdate(service, null)?.body).toBe('The service was deleted and is no longer checked.')
  expect(closingUpdate(service, off)?.body).toBe('Automatic incidents were switched off for the service.')
  expect(closingUpdate(service, { ...service, name: 'Other' })).toBeUndefined()
  expect(closingUpdate(paused, paused)).toBeUndefined()
})

test('rounds count only for the current definition', () => {
  expect(isCounted(service, failing())).toBe(true)
  expect(isCounted({ ...service, paused_at: '2026-01-02T00:00:00.000Z' }, failing())).toBe(false)
  expect(isCounted({ ...service, ...fieldsOf(null) }, failing())).toBe(false)
  expect(isCounted(service, failing({ interval_s: 30 }))).toBe(false)
  expect(isCounted(service, failing({ endpoint_id: 'gone' }))).toBe(false)
})
