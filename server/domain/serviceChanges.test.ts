import { expect, test } from 'vitest'
import { ApiError } from '../../api/contract/apiError.ts'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { masterKeyOf, sealValue } from './seal.ts'
import {
  createService,
  deleteService,
  pauseService,
  replaceService,
  resumeService,
  type Service,
  type ServiceDeps,
  setAutoIncidents,
} from './serviceChanges.ts'
import { fixedEnvironment } from './testing/fixedEnvironment.ts'
import { quota } from './testing/quota.ts'

const NOW_MS = Date.UTC(2026, 0, 2)

function deps(change: Partial<ServiceDeps> = {}): ServiceDeps {
  const environment = fixedEnvironment()
  const masterKey = masterKeyOf(Buffer.alloc(32))
  return {
    nowMs: NOW_MS,
    quota: quota(),
    uuid: environment.uuid,
    seal: (value, place) => sealValue(value, place, masterKey, environment),
    isBlocked: () => false,
    ...change,
  }
}

function request(change: Partial<ServiceRequest> = {}, secret?: string): ServiceRequest {
  const body = secret === undefined ? null : { value: secret, sensitive: true }
  return {
    name: 'shop',
    interval_secs: 60,
    regions: ['eu-west-1', 'us-east-1'],
    endpoints: [
      { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null, body } }, assertions: [] },
    ],
    ...change,
  }
}

const Http = { method: 'GET', headers: null, max_redirects_to_follow: null, with_dns: null, timeout: null }

const created = {
  id: 'uuid-1',
  org_id: 'org',
  name: 'shop',
  interval_secs: 60,
  regions: ['eu-west-1', 'us-east-1'],
  endpoints: [
    {
      id: 'uuid-2',
      url: 'https://example.com/',
      name: null,
      call: { Http: { ...Http, body: null } },
      assertions: [],
      blocked: false,
    },
  ],
  created_at: '2026-01-02T00:00:00.000Z',
  paused_at: null,
  created_by_email: null,
  auto_incident_failure_threshold: null,
  auto_incident_window_minutes: null,
  auto_incident_enabled: false,
}

const command = (type: string, region: string, generation: number) => ({
  type: `${type}ServiceMonitoring`,
  region,
  serviceId: 'uuid-1',
  generation,
})

/** The service of `created`, changed three times, published the second time. */
function stored(change: Partial<ServiceResponse> = {}): Service {
  const { service } = createService(request(), deps())
  return { response: { ...service!.response, ...change }, generation: 3, definitionGeneration: 2 }
}

const paused = { paused_at: '2026-01-03T00:00:00.000Z' }

test('a new service is active at once, in all of its regions', () => {
  const change = createService(request(), deps())

  expect(change).toEqual({
    action: 'create',
    service: { response: created, generation: 1, definitionGeneration: 1 },
    text: change.text,
    sealed: [],
    commands: [command('Start', 'eu-west-1', 1), command('Start', 'us-east-1', 1)],
  })
  expect(JSON.parse(change.text)).toEqual(created)
})

test('the secrets of a new service are sealed for it', () => {
  const { sealed } = createService(request({}, 's3cret'), deps())

  expect(sealed).toMatchObject([{ orgId: 'org', serviceId: 'uuid-1', endpointId: 'uuid-2', slot: 'body' }])
})

test('a service beyond the plan is neither created, replaced nor resumed', () => {
  const tooOften = { interval_secs: 1 }
  const refusal = new ApiError('forbidden', 'plan limit: interval_secs must be at least 30')

  expect(() => createService(request(tooOften), deps())).toThrow(refusal)
  expect(() => replaceService(stored(), request(tooOften), deps())).toThrow(refusal)
  expect(() => resumeService(stored({ ...tooOften, ...paused }), quota())).toThrow(refusal)
})

test('a replace ends removed regions before it publishes the new definition in the others', () => {
  const { service, sealed, commands, text } = replaceService(
    stored(),
    request({ name: 'store', interval_secs: 30, regions: ['us-east-1'] }, 's3cret'),
    deps({ nowMs: NOW_MS + 1 }),
  )

  const keyId = sealed?.[0]?.keyId
  const response = {
    ...created,
    name: 'store',
    interval_secs: 30,
    regions: ['us-east-1'],
    endpoints: [
      { ...created.endpoints[0], call: { Http: { ...Http, body: { Sealed: { key_id: keyId } } } } },
    ],
  }
  expect(service).toEqual({ response, generation: 4, definitionGeneration: 4 })
  expect(JSON.parse(text)).toEqual(response)
  expect(sealed).toMatchObject([{ orgId: 'org', serviceId: 'uuid-1', endpointId: 'uuid-2', slot: 'body' }])
  expect(commands).toEqual([command('End', 'eu-west-1', 4), command('Start', 'us-east-1', 4)])
})

test('a paused service stays paused when it is replaced, and nothing is published', () => {
  const { service, commands } = replaceService(stored(paused), request({ name: 'store' }), deps())

  expect([service?.response.paused_at, service?.response.name]).toEqual([paused.paused_at, 'store'])
  expect([service?.generation, service?.definitionGeneration, commands]).toEqual([4, 2, []])
})

test('a pause ends all regions, and keeps the secrets', () => {
  const change = pauseService(stored(), NOW_MS + 1_000)

  const response = { ...created, paused_at: '2026-01-02T00:00:01.000Z' }
  expect(change).toEqual({
    action: 'pause',
    service: { response, generation: 4, definitionGeneration: 4 },
    text: JSON.stringify(change?.service?.response),
    sealed: null,
    commands: [command('End', 'eu-west-1', 4), command('End', 'us-east-1', 4)],
  })
})

test('a service is never paused before its creation, even if the clock was set back', () => {
  expect(pauseService(stored(), NOW_MS - 1_000)?.service?.response.paused_at).toBe(created.created_at)
})

test('a second pause changes nothing, and neither does resuming an active service', () => {
  expect([pauseService(stored(paused), NOW_MS), resumeService(stored(), quota())]).toEqual([null, null])
})

test('resuming starts all regions, and keeps the secrets', () => {
  const change = resumeService(stored(paused), quota())

  expect(change).toEqual({
    action: 'resume',
    service: { response: created, generation: 4, definitionGeneration: 4 },
    text: JSON.stringify(change?.service?.response),
    sealed: null,
    commands: [command('Start', 'eu-west-1', 4), command('Start', 'us-east-1', 4)],
  })
})

test('a change of automatic incidents sends no command to a region', () => {
  const settings = { threshold: 3, windowMinutes: 10 }
  const fields = {
    auto_incident_failure_threshold: 3,
    auto_incident_window_minutes: 10,
    auto_incident_enabled: true,
  }

  const change = setAutoIncidents(stored(), settings)

  expect(change).toEqual({
    action: 'set_auto_incidents',
    service: { response: { ...created, ...fields }, generation: 4, definitionGeneration: 2 },
    text: JSON.stringify(change?.service?.response),
    sealed: null,
    commands: [],
  })
  expect(setAutoIncidents(stored(fields), settings)).toBeNull()
  expect(setAutoIncidents(stored(fields), null)?.service?.response).toEqual(created)
  expect(setAutoIncidents(stored(), null)).toBeNull()
  expect(() => setAutoIncidents(stored(), { threshold: 11, windowMinutes: 10 })).toThrow(
    new ApiError(
      'invalid',
      'shop: 11 rounds of 60 s do not fit into a window of 10 min: choose a longer window or a lower threshold',
    ),
  )
})

test('a new service gets the automatic incidents of its organisation, and a replace keeps them', () => {
  const autoIncidents = { threshold: 5, windowMinutes: 15 }
  const { service } = createService(request(), deps({ quota: { ...quota(), autoIncidents } }))
  const replaced = replaceService(service!, request({ interval_secs: 300 }), deps())

  for (const { response } of [service!, replaced.service!]) {
    expect(response).toMatchObject({
      auto_incident_failure_threshold: 5,
      auto_incident_window_minutes: 15,
      auto_incident_enabled: true,
    })
  }
})

test('a delete ends all regions, even of a paused service, and returns its last definition', () => {
  const change = deleteService(stored(paused))

  expect(change).toEqual({
    action: 'delete',
    service: null,
    text: change.text,
    sealed: [],
    commands: [command('End', 'eu-west-1', 4), command('End', 'us-east-1', 4)],
  })
  expect(JSON.parse(change.text)).toEqual({ ...created, ...paused })
})
