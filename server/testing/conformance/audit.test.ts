import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../commandHere.ts'
import { type ApiClient, apiClient } from '../apiClient.ts'
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

/** What a subcommand prints. */
async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...args, '--data-dir', server.dataDir])
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

test('G53 what changes nothing, or is refused, is not recorded', async () => {
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

test('G53 each change by the command line is recorded once', async () => {
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

test('G53 each change of channels, status pages, tokens and people by the command line is recorded once', async () => {
  const org = ['--org', orgId]
  const found: (readonly [string, readonly (readonly (string | null)[])[]])[] = []
  const does = async (action: string, ...args: readonly string[]): Promise<Record<string, unknown>> => {
    let printed = ''
    const entries = await entriesOf(async () => {
      printed = await run(...args, '--json')
    })
    found.push([action, entries])
    return Object(JSON.parse(printed === '' ? '{}' : printed))
  }
  const channelOf = ['--url', 'https://example.com/hook', '--kind', 'webhook', '--name', 'ops']
  const channel = idOf(await does('channel.create', 'channel', 'create', ...org, ...channelOf))
  await does('channel.rotate', 'channel', 'rotate', '--id', channel)
  await does('channel.disable', 'channel', 'disable', '--id', channel)
  await does('channel.enable', 'channel', 'enable', '--id', channel)
  await does('channel.delete', 'channel', 'delete', '--id', channel)
  const { json } = await api.post('/v1/services', serviceBody())
  const pageOf = ['--slug', 'example', '--title', 'Example', '--service', `${idOf(json)}=Shop`]
  const page = idOf(await does('status_page.create', 'status-page', 'create', ...org, ...pageOf))
  await does('status_page.update', 'status-page', 'update', '--id', page, '--title', 'Other')
  await does(
    'status_page.bind_host',
    'status-page',
    'bind-host',
    '--id',
    page,
    '--host',
    'status.example.org',
  )
  await does(
    'status_page.unbind_host',
    'status-page',
    'unbind-host',
    '--id',
    page,
    '--host',
    'status.example.org',
  )
  await does('status_page.delete', 'status-page', 'delete', '--id', page)
  const token = idOf(
    await does('agent_token.create', 'agent', 'create', '--region', 'eu-west-1', '--name', 'x'),
  )
  await does('agent_token.revoke', 'agent', 'revoke', '--id', token)
  await does('invitation.create', 'owner', 'invite', ...org, '--email', 'ada@example.org')
  const rotated = await entriesOf(() => run('master-key', 'rotate'))

  expect(rotated.map(([action]) => action)).toEqual(['master_key.retire', 'master_key.activate'])
  expect(found).toEqual(found.map(([action]) => [action, [[action, 'cli', null]]]))
})

test('G53 a restore is recorded in the restored database', async () => {
  const backup = join(server.dataDir, 'backup')
  const restored = join(server.dataDir, 'restored')
  await run('backup', '--to', backup)
  await runHere(['restore', '--from', backup, '--data-dir', restored])

  const { stdout } = await runHere(['audit', 'list', '--org', orgId, '--data-dir', restored, '--json'])
  rmSync(restored, { recursive: true })

  expect(JSON.parse(stdout)[0]).toMatchObject({ action: 'database.restore', actor_kind: 'cli' })
})
