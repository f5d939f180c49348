import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer, type TestServer } from '../startServer.ts'

let server: TestServer
let orgId: string
beforeAll(async () => {
  // Channels, status pages and people are in data folders only.
  server = await startServer({ engine: 'sqlite', rateLimit: 'none' })
  orgId = server.orgId
})
afterAll(() => server.close())

/** What a subcommand prints. */
async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...args, ...server.flags])
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}

/** The entries that `act` adds. */
async function entriesOf(act: () => Promise<unknown>): Promise<readonly (readonly (string | null)[])[]> {
  const count = async () => (await server.store.listAudit(orgId, 1_000)).length
  const before = await count()
  await act()
  const entries = await server.store.listAudit(orgId, (await count()) - before)
  return entries.map(({ action, actorKind, actor }) => [action, actorKind, actor])
}

const idOf = (json: unknown): string => String(Object(json).id)

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
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
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
