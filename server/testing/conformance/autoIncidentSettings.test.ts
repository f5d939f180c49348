import { afterAll, expect, test } from 'vitest'
import { type ServiceResponse, serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

async function create(orgKey = server.apiKey): Promise<ServiceResponse> {
  return serviceResponseSchema.parse((await api.post('/v1/services', serviceBody(), { key: orgKey })).json)
}

/** Runs a subcommand beside the running server. Resolves with its JSON, or rejects with its error. */
async function administer(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runHere([...args, ...server.flags, '--json'])
  if (code !== 0) throw new Error(stderr.replace(/^pharos-server: |\n$/g, ''))
  return JSON.parse(stdout)
}

const ON = {
  auto_incident_failure_threshold: 3,
  auto_incident_window_minutes: 10,
  auto_incident_enabled: true,
}
const OFF = {
  auto_incident_failure_threshold: null,
  auto_incident_window_minutes: null,
  auto_incident_enabled: false,
}

test('automatic incidents are set by administration, shown by the API and kept by a replace, without a command to a region', async () => {
  const service = await create()
  const path = `/v1/services/${service.id}`
  const tagBefore = (await api.get(path)).headers.etag
  const commandsBefore = (await server.commands()).length
  const one = ['service', 'auto-incidents', '--org', server.orgId, '--service', service.id]

  const set = await administer(...one, '--threshold', '3', '--window', '10')
  const shown = await api.get(path)
  const sent = await api.patch(path, { ...serviceBody({ name: 'Renamed' }), ...OFF })
  const listed = (await api.get('/v1/services')).json
  await administer(...one, '--off')

  expect(set).toEqual({ services: [{ id: service.id, name: service.name, ...ON }] })
  expect(shown.json).toEqual({ ...service, ...ON })
  expect(shown.headers.etag).not.toBe(tagBefore)
  expect(sent.json).toMatchObject({ name: 'Renamed', ...ON })
  expect(listed).toContainEqual(sent.json)
  expect((await api.get(path)).json).toMatchObject(OFF)
  // The start of the replace, and nothing of the settings.
  expect((await server.commands()).length).toBe(commandsBefore + service.regions.length)
})

test('settings for all services apply to each of them, and those of the organisation to services created later', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  const slow = serviceBody({ interval_secs: 14_400 })
  const before = [
    await create(key),
    serviceResponseSchema.parse((await api.post('/v1/services', slow, { key })).json),
  ]

  await administer('service', 'auto-incidents', '--org', orgId, '--all', '--threshold', '2', '--window', '5')
  const response = await administer(
    'org',
    'auto-incidents',
    '--org',
    orgId,
    '--threshold',
    '3',
    '--window',
    '10',
  )
  const later = await create(key)
  await administer('org', 'auto-incidents', '--org', orgId, '--off')
  const last = await create(key)

  // True because the response is a list of services.
  const all = (await api.get('/v1/services', { key })).json as readonly ServiceResponse[]
  expect(response).toEqual(ON)
  const settings = all.map(({ id, auto_incident_failure_threshold, auto_incident_window_minutes }) => [
    ...[id, auto_incident_failure_threshold, auto_incident_window_minutes],
  ])
  // A window of five minutes is too short for two rounds of four hours.
  expect(settings).toEqual([
    ...[
      [before[0]?.id, 2, 5],
      [before[1]?.id, 2, 720],
    ],
    ...[
      [later.id, 3, 10],
      [last.id, null, null],
    ],
  ])
})

test('invalid settings, and settings without a target, are refused with the reason, and change no service', async () => {
  const { id } = await create()
  const refused = (...args: string[]) => administer(...args).catch((error: Error) => error.message)
  const org = ['service', 'auto-incidents', '--org', server.orgId]

  expect([
    await refused(...org, '--service', id, '--threshold', '11', '--window', '10'),
    await refused(...org, '--service', id, '--threshold', '0'),
    await refused(...org, '--service', id, '--window', '1441'),
    await refused(...org, '--service', server.orgId),
    await refused(...org),
    await refused('service', 'auto-incidents', '--org', id, '--all'),
    await refused('org', 'auto-incidents', '--org', id),
  ]).toEqual([
    expect.stringContaining('11 rounds of 60 s do not fit into a window of 10 min'),
    'the threshold must be a whole number from 1 to 100',
    'the window must be a whole number of minutes from 1 to 1440',
    `the organisation has no service ${server.orgId}`,
    'name a service by --service, or all by --all',
    expect.stringContaining(`there is no organisation ${id}`),
    expect.stringContaining(`there is no organisation ${id}`),
  ])
  await expect(administer(...org, '--all', '--off', '--threshold', '3')).rejects.toThrow(
    'cannot be used with',
  )
  expect((await api.get(`/v1/services/${id}`)).json).toMatchObject(OFF)
})
