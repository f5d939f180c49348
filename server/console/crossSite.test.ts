import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleRoutes } from './consoleRoutes.ts'
import type { Route } from './routing/route.ts'
import { type ConsoleServer, startConsoleServer, type TestPerson } from './testing/startConsoleServer.ts'

const UNKNOWN = 'ffffffff-ffff-4fff-bfff-ffffffffffff'

let server: ConsoleServer
let owner: TestPerson

beforeAll(async () => {
  server = await startConsoleServer()
  owner = await server.signIn('owner')
})
afterAll(() => server.close())

const pathOf = ({ path }: Route): string => path.replace(':org', server.orgId).replaceAll(/:\w+/g, UNKNOWN)
const routes = (method: Route['method']) =>
  consoleRoutes.filter((route) => route.method === method).map((route) => [route.path, route] as const)

const withoutUse = <Used extends { readonly seenAtMs: unknown }>(all: readonly Used[]) =>
  all.map(({ seenAtMs, ...rest }) => rest)

/** What a request could change, besides the time of the last use. */
const state = async () => [
  await server.store.listAudit(server.orgId, 10_000),
  withoutUse(await server.store.listMembers(server.orgId)),
  withoutUse(await server.store.sessionsOf(owner.id, Date.now())),
]

/** How a browser marks requests that no page of the console made; the last ones are of no browser. */
const foreignMarks = (): readonly Readonly<Record<string, string>>[] => {
  const origin = server.consoleUrl
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-user': '?1' }
  return [
    { 'sec-fetch-site': 'cross-site', ...navigation },
    { 'sec-fetch-site': 'same-site', ...navigation },
    { 'sec-fetch-site': 'none', ...navigation },
    { 'sec-fetch-site': 'cross-site', 'sec-purpose': 'prefetch' },
    { 'sec-fetch-site': 'same-site', origin },
    { 'sec-fetch-site': 'same-origin, cross-site', origin },
    { 'sec-fetch-site': '', origin },
    { origin: 'null' },
    { origin: 'http://localhost.evil.example' },
    { origin: origin.replace('http:', 'https:') },
    { origin: `${origin}0` },
    { referer: `${origin}/` },
    {},
  ]
}

test.each(routes('POST'))('POST %s is refused unless a page of the console sent it', async (_, route) => {
  const before = await state()
  const responses: number[] = []
  for (const marks of foreignMarks())
    responses.push((await owner.client.post(pathOf(route), {}, marks)).status)

  expect(responses).toEqual(foreignMarks().map(() => 403))
  expect(await state()).toEqual(before)
})

test.each(routes('GET'))(
  'GET %s changes nothing, is not cached, and has no secret in a comment',
  async (_, route) => {
    const before = await state()
    const marks = { 'sec-fetch-site': 'cross-site', 'sec-purpose': 'prefetch' }
    for (const client of [owner.client, server.visitor()]) {
      const { headers, text } = await client.get(pathOf(route), marks)
      const policy = headers.get('content-security-policy')
      expect([
        headers.get('cache-control'),
        policy?.startsWith("default-src 'none'; script-src 'self'"),
      ]).toEqual(['no-store', true])
      expect([text.includes('<!--'), headers.get('referrer-policy')]).toEqual([false, 'same-origin'])
    }

    expect(await state()).toEqual(before)
  },
)
