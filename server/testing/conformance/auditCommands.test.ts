import type { Command } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandLine } from '../../administration/commandLine.ts'
import { startReceiver } from '../../notifications/testing/receiver.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer, type TestServer } from '../startServer.ts'

let server: TestServer
let orgId: string
beforeAll(async () => {
  // Channels, status pages and people exist only in data folders.
  server = await startServer({ engine: 'sqlite', rateLimit: 'none', webhookRanges: ['127.0.0.0/8'] })
  orgId = server.orgId
})
afterAll(() => server.close())

/** Commands that change nothing recorded: they read, run a server, or copy a folder. */
const UNRECORDED = [
  ...[
    'serve',
    'dev',
    'backup',
    'migrate',
    'doctor',
    'commands',
    'states',
    'results',
    'generations',
    'incidents',
    'audit list',
  ],
  ...['org list', 'member list', 'plan list', 'key list', 'maintenance list', 'region list', 'agent list'],
  ...['channel list', 'channel deliveries', 'status-page list', 'status-page show'],
]

/** Commands whose entries are checked in audit.test.ts, restores.test.ts and accountCommands.test.ts. */
const RECORDED_ELSEWHERE = [
  ...['plan set', 'plan limits', 'service auto-incidents', 'maintenance create', 'key revoke', 'region set'],
  ...['member remove', 'person reset', 'session end-all', 'restore'],
]

/** Names of the commands below `command`, whose own names are `path`. */
function namesOf({ commands }: Command, path: readonly string[] = []): readonly string[] {
  if (commands.length === 0) return [path.join(' ')]
  return commands.flatMap((command) => namesOf(command, [...path, command.name()]))
}

/** The output of a subcommand. */
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

test('G53 each command that changes something is recorded once, and no command is missing here', async () => {
  const org = ['--org', orgId]
  const found: (readonly [string, readonly (readonly (string | null)[])[]])[] = []
  const walked: string[] = ['master-key rotate']
  const does = async (action: string, ...args: readonly string[]): Promise<Record<string, unknown>> => {
    let printed = ''
    const entries = await entriesOf(async () => {
      printed = await run(...args, '--json')
    })
    walked.push(args.slice(0, 2).join(' '))
    found.push([action, entries])
    return Object(JSON.parse(printed === '' ? '{}' : printed))
  }
  const made = idOf(JSON.parse(await run('org', 'create', '--name', 'Other', '--json')))
  walked.push('org create')
  const madeEntries = (await server.store.listAudit(made, 10)).map(({ action, actorKind }) => [
    action,
    actorKind,
  ])
  await does('organisation.set_auto_incidents', 'org', 'auto-incidents', ...org, '--off')
  await does('key.create', 'key', 'create', ...org)
  const receiver = await startReceiver()
  const channelOf = ['--url', receiver.url, '--kind', 'webhook', '--name', 'ops']
  const channel = idOf(await does('channel.create', 'channel', 'create', ...org, ...channelOf))
  const sent = idOf(await does('channel.test', 'channel', 'test', '--id', channel))
  await does('channel.resend', 'channel', 'resend', '--id', channel, '--delivery', sent)
  await does('channel.update', 'channel', 'update', '--id', channel, '--name', 'renamed')
  await does('channel.show_secret', 'channel', 'show-secret', '--id', channel)
  await does('channel.rotate', 'channel', 'rotate', '--id', channel)
  await does('channel.disable', 'channel', 'disable', '--id', channel)
  await does('channel.enable', 'channel', 'enable', '--id', channel)
  await does('channel.delete', 'channel', 'delete', '--id', channel)
  receiver.close()
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

  const program = commandLine({ write: () => {}, writeError: () => {}, environment: {} })
  const known = [...walked, ...UNRECORDED, ...RECORDED_ELSEWHERE]

  expect(namesOf(program).toSorted()).toEqual(known.toSorted())
  expect(madeEntries).toEqual([['organisation.create', 'cli']])
  expect(rotated.map(([action]) => action)).toEqual(['master_key.retire', 'master_key.activate'])
  expect(found).toEqual(found.map(([action]) => [action, [[action, 'cli', null]]]))
})
