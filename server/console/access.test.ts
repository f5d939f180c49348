import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { isPermitted, ROLES, type Role } from '../domain/accounts/roles.ts'
import { defaultKeyFile } from '../secrets/keyring.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { consoleRoutes } from './consoleRoutes.ts'
import { isOrgRoute, type OrgRoute } from './routing/route.ts'
import type { ConsoleResponse, ConsoleClient } from './testing/consoleClient.ts'
import { type ConsoleServer, startConsoleServer, type TestPerson } from './testing/startConsoleServer.ts'

const ORG_ROUTES = consoleRoutes.filter(isOrgRoute)
const named = ({ method, path }: OrgRoute) => `${method} ${path}`
/** In place of an id that exists nowhere. */
const UNKNOWN = 'ffffffff-ffff-4fff-bfff-ffffffffffff'

let server: ConsoleServer
/** A person of each role: members of the organisation, and of the other one. */
let people: readonly (TestPerson & { readonly role: Role })[]
let strangers: typeof people
let otherOrg: string
/** Of another organisation, by the part of a path before the id. */
let foreignIds: Readonly<Record<string, string>>

/** Makes one of everything in another organisation. */
async function makeForeign(orgId: string): Promise<Readonly<Record<string, string>>> {
  const api = apiClient(server.url, await server.createKey({ orgId }))
  const services = idOf((await api.post('/v1/services', serviceBody())).json)
  const incident = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [services] }
  const incidents = idOf((await api.post('/v1/incidents', incident)).json)
  const admin = async (...args: readonly string[]) => {
    const { stdout } = await runHere([...args, '--org', orgId, '--json', ...server.flags])
    return idOf(JSON.parse(stdout))
  }
  const pages = await admin(
    'status-page',
    'create',
    '--slug',
    'foreign',
    '--title',
    'x',
    '--service',
    services,
  )
  const hook = ['--kind', 'webhook', '--name', 'x', '--url', 'https://hooks.example.org/x']
  const channels = await admin(
    'channel',
    'create',
    ...hook,
    '--master-key-file',
    defaultKeyFile(server.dataDir),
  )
  const deliveries = await server.store.testChannel({ id: channels }, Date.now())
  const maintenance = crypto.randomUUID()
  const window = { id: maintenance, orgId, title: 'x', serviceIds: [services] }
  const times = { startsAt: '2090-01-01T00:00:00.000Z', endsAt: '2090-01-02T00:00:00.000Z' }
  await server.store.createMaintenance({ ...window, ...times }, OPERATOR, Date.now())
  const { id: members } = await server.signIn('owner', { orgId })
  const tokenHash = Buffer.alloc(32, 7)
  const invited = { tokenHash, orgId, email: 'foreign@example.org', role: 'owner' } as const
  await server.store.invite({ ...invited, expiresAtMs: Date.now() + 3_600_000 }, OPERATOR, Date.now())
  const keys = (await server.store.listKeys(orgId))[0]?.id ?? ''
  const invitations = tokenHash.toString('hex')
  return { services, incidents, pages, channels, deliveries, maintenance, members, keys, invitations }
}

function idOf(json: unknown): string {
  // True because every creation returns the id of the new resource.
  return (json as { readonly id: string }).id
}

/** The path of a route in an organisation, with an id of another one or with one that exists nowhere. */
function pathFor({ path }: OrgRoute, orgId: string, ids: 'foreign' | 'unknown'): string {
  return path
    .replace(':org', orgId)
    .replaceAll(
      /([\w-]+)\/:\w+/g,
      (_, kind: string) => `${kind}/${ids === 'foreign' ? foreignIds[kind] : UNKNOWN}`,
    )
}

function ask(client: ConsoleClient, { method }: OrgRoute, path: string): Promise<ConsoleResponse> {
  return method === 'GET' ? client.get(path) : client.post(path)
}

const writes = () => server.store.listAudit(server.orgId, 10_000)

beforeAll(async () => {
  server = await startConsoleServer()
  otherOrg = await server.createOrg({ name: 'Other' })
  foreignIds = await makeForeign(otherOrg)
  const peopleOf = (orgId: string) =>
    Promise.all(ROLES.map(async (role) => ({ role, ...(await server.signIn(role, { orgId })) })))
  people = await peopleOf(server.orgId)
  strangers = await peopleOf(otherOrg)
})
afterAll(() => server.close())

test('every route of an organisation names a permission, and its path begins with the organisation', () => {
  expect(ORG_ROUTES.filter(({ path }) => !/^(\/api)?\/o\/:org(\/|$)/.test(path)).map(named)).toEqual([])
  expect(consoleRoutes.filter((route) => route.path.includes(':org') && !isOrgRoute(route))).toEqual([])
  expect(
    ORG_ROUTES.filter(({ method, path }) => method === 'POST' && !path.startsWith('/api/')).map(named),
  ).toEqual([])
})

test('permissions of the roles agree with the table', () => {
  const rows = ORG_ROUTES.map((route) => [
    named(route),
    ROLES.filter((role) => isPermitted(role, route.access)).join(' '),
  ])

  expect(Object.fromEntries(rows)).toMatchObject({
    'GET /o/:org/settings/keys': 'owner',
    'POST /api/o/:org/keys': 'owner',
    'GET /o/:org/settings/members': 'owner',
    'GET /o/:org/settings/organisation': 'viewer member owner',
    'POST /api/o/:org/organisation': 'owner',
  })
})

describe.each(ORG_ROUTES.map((route) => [named(route), route] as const))('%s', (_, route) => {
  test('needs a session', async () => {
    const response = await ask(server.visitor(), route, pathFor(route, server.orgId, 'unknown'))

    if (route.path.startsWith('/api/')) expect(response.status).toBe(401)
    else expect([response.status, response.location.split('?')[0]]).toEqual([303, '/login'])
  })

  test('hides the organisation from people of other organisations, as if it did not exist', async () => {
    const before = await writes()
    for (const { role, client } of strangers) {
      const foreign = await ask(client, route, pathFor(route, server.orgId, 'unknown'))
      const unknown = await ask(client, route, pathFor(route, UNKNOWN, 'unknown'))

      expect([role, foreign.status, foreign.text]).toEqual([role, 404, unknown.text])
    }
    expect(await writes()).toEqual(before)
  })

  test('is allowed for the roles with its permission, and changes nothing for others', async () => {
    const refused = people.filter(({ role }) => !isPermitted(role, route.access))
    const before = await writes()
    for (const { client } of refused) {
      expect((await ask(client, route, pathFor(route, server.orgId, 'unknown'))).status).toBe(403)
    }
    expect(await writes()).toEqual(before)
    for (const { role, client } of people.filter((person) => !refused.includes(person))) {
      const { status } = await ask(client, route, pathFor(route, server.orgId, 'unknown'))

      expect([role, status]).not.toEqual([role, expect.toBeOneOf([401, 403, 500])])
    }
  })
})

test.each(
  ORG_ROUTES.filter(({ path }) => /:(?!org)/.test(path)).map((route) => [named(route), route] as const),
)('%s responds to an id of another organisation as to an unknown one', async (_, route) => {
  const client = people.find(({ role }) => role === 'owner')?.client ?? server.visitor()
  const foreignPath = pathFor(route, server.orgId, 'foreign')
  const before = await server.store.listAudit(otherOrg, 10_000)
  const foreign = await ask(client, route, foreignPath)
  const unknown = await ask(client, route, pathFor(route, server.orgId, 'unknown'))

  expect(foreignPath).not.toContain('undefined')
  expect(foreign.text).toBe(unknown.text)
  // A form that lacks a field is refused before its id is looked up.
  expect([404, 422]).toContain(foreign.status)
  expect(await server.store.listAudit(otherOrg, 10_000)).toEqual(before)
})

test.each(
  ORG_ROUTES.filter(({ needsPassword }) => needsPassword === true).map(
    (route) => [named(route), route] as const,
  ),
)('%s asks for the password when it was not confirmed recently', async (_, route) => {
  const { client } = await server.signIn('owner', { isElevated: false })
  const before = await writes()
  const response = await ask(client, route, pathFor(route, server.orgId, 'unknown'))

  expect([response.status, response.text.includes('your_password')]).toEqual([403, true])
  expect(await writes()).toEqual(before)
})
