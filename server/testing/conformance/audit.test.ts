import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiClient, apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer, type TestServer } from '../startServer.ts'

let server: TestServer
let api: ApiClient
let readOnly: ApiClient
let orgId: string
let keyId: string

beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  orgId = await run('org', 'create', '--name', 'Example', '--plan', 'business')
  api = apiClient(server.url, await run('key', 'create', '--org', orgId))
  readOnly = apiClient(server.url, await run('key', 'create', '--org', orgId, '--scope', 'read_only'))
  keyId = (await server.store.listKeys(orgId))[0]?.id ?? ''
})
afterAll(() => server.close())

/** The output of a subcommand. */
async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...args, ...server.flags])
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}

const newest = async () => (await server.store.listAudit(orgId, 1))[0]
const count = async () => (await server.store.listAudit(orgId, 1_000)).length

/** The entries that `act` adds. */
async function entriesOf(act: () => Promise<unknown>): Promise<readonly (string | null)[][]> {
  const before = await count()
  await act()
  const added = (await count()) - before
  const entries = await server.store.listAudit(orgId, added)
  return entries.map(({ action, actorKind, actor }) => [action, actorKind, actor])
}

const idOf = (json: unknown): string => String(Object(json).id)

test('G53 each successful change over /v1 is recorded once, with its key', async () => {
  const byKey = (action: string) => [[action, 'key', keyId]]
  let id = ''
  let incident = ''
  const create = async (): Promise<void> => {
    id = idOf((await api.post('/v1/services', serviceBody({ name: 'shop' }))).json)
  }
  const update = { body: 'x', status: 'identified' }
  const report = async (): Promise<void> => {
    const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [id] }
    incident = idOf((await api.post('/v1/incidents', body)).json)
  }

  expect(await entriesOf(create)).toEqual(byKey('service.create'))
  expect(await newest()).toMatchObject({ targetKind: 'service', targetId: id, detail: { name: 'shop' } })
  expect(await entriesOf(() => api.patch(`/v1/services/${id}`, serviceBody()))).toEqual(
    byKey('service.replace'),
  )
  expect(await entriesOf(() => api.post(`/v1/services/${id}/pause`))).toEqual(byKey('service.pause'))
  expect(await entriesOf(() => api.post(`/v1/services/${id}/resume`))).toEqual(byKey('service.resume'))
  expect(await entriesOf(report)).toEqual(byKey('incident.create'))
  expect(await newest()).toMatchObject({ targetId: incident, detail: { display_id: 'INC-1' } })
  expect(await entriesOf(() => api.post(`/v1/incidents/${incident}/updates`, update))).toEqual(
    byKey('incident.update'),
  )
  expect(await entriesOf(() => api.delete(`/v1/services/${id}`))).toEqual(byKey('service.delete'))
})

test('G53 a request that changes nothing, or is refused, is not recorded', async () => {
  const key = { headers: { 'idempotency-key': 'once' } }
  const { json } = await api.post('/v1/services', serviceBody(), key)
  const id = idOf(json)
  await api.post(`/v1/services/${id}/pause`)

  const entries = await entriesOf(async () => {
    await api.post('/v1/services', serviceBody(), key)
    await api.post(`/v1/services/${id}/pause`)
    await api.post('/v1/services', { name: '' })
    await api.patch(`/v1/services/${crypto.randomUUID()}`, serviceBody())
    await api.patch(`/v1/services/${id}`, serviceBody(), { headers: { 'if-match': '"other"' } })
    await readOnly.delete(`/v1/services/${id}`)
    await api.get('/v1/services')
  })

  expect(entries).toEqual([])
})

test('G53 each change from the command line is recorded once', async () => {
  const { json } = await api.post('/v1/services', serviceBody())
  const id = idOf(json)
  const times = ['--starts-at', '2030-01-01T00:00:00Z', '--ends-at', '2030-01-01T01:00:00Z']
  const other = await run('key', 'create', '--org', orgId)
  const otherId = (await server.store.listKeys(orgId)).find(({ last4 }) => other.endsWith(last4))?.id ?? ''
  const commands: readonly (readonly [string, readonly string[]])[] = [
    ['organisation.set_plan', ['plan', 'set', '--org', orgId, '--plan', 'enterprise']],
    ['organisation.set_limits', ['plan', 'limits', '--org', orgId, '--services-max', '7']],
    ['service.set_auto_incidents', ['service', 'auto-incidents', '--org', orgId, '--service', id]],
    [
      'maintenance.create',
      ['maintenance', 'create', '--org', orgId, '--title', 'x', '--service', id, ...times],
    ],
    ['key.revoke', ['key', 'revoke', '--id', otherId]],
    ['region.set_mode', ['region', 'set', 'eu-west-1', '--mode', 'off']],
    ['agent_token.create', ['agent', 'create', '--region', 'us-east-1', '--name', 'x']],
  ]
  const found = []
  for (const [, args] of commands) found.push(await entriesOf(() => run(...args)))

  expect(found).toEqual(commands.map(([action]) => [[action, 'cli', null]]))
})
