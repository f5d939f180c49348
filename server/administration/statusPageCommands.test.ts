import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StatusPage } from '../domain/statusPages/definition.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'

let server: TestServer
let checkout: string
let search: string

beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  const api = apiClient(server.url, server.apiKey)
  const create = async (name: string) =>
    String(Object((await api.post('/v1/services', serviceBody({ name }))).json).id)
  checkout = await create('svc-checkout')
  search = await create('svc-search')
  await api.post('/v1/incidents', {
    ...{ title: 'x', message: 'x', severity: 'major_outage', service_ids: [checkout] },
  })
})
afterAll(() => server.close())

const run = (...args: readonly string[]) => runHere(['status-page', ...args, ...server.flags])

async function json<Result>(...args: readonly string[]): Promise<Result> {
  const { stdout, stderr } = await run(...args, '--json')
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

async function create(slug: string, ...args: readonly string[]): Promise<string> {
  const given = ['--org', server.orgId, '--slug', slug, '--title', 'Example', ...args]
  return (await json<{ id: string }>('create', ...given)).id
}

const shownOf = ({ sections }: StatusPage) =>
  sections.map(({ name, components }) => [name, ...components.map((one) => [one.serviceId, one.name])])

test('a section contains the services after it; a service without a public name permanently gets its current name', async () => {
  const sections = ['--service', checkout, '--section', 'Find', '--service', `${search.toUpperCase()}=A=B`]
  const id = await create('first', ...sections)
  await server.store.getStatusPage(id)

  expect(shownOf(await json('show', '--id', id))).toEqual([
    ['', [checkout, 'svc-checkout']],
    ['Find', [search, 'A=B']],
  ])
})

test('text and uptime apply to the service before them, and an update keeps them', async () => {
  const settings = ['--service-text', 'Cards, vouchers', '--service-uptime', 'hidden']
  const id = await create('settings', '--service', checkout, ...settings, '--service', search)
  const after = await json<StatusPage>('update', '--id', id, '--service', search, '--service', checkout)
  const misplaced = await run('update', '--id', id, '--service-text', 'No service')

  expect(after.sections[0]?.components.map(({ text, showsUptime }) => [text, showsUptime])).toEqual([
    ['', true],
    ['Cards, vouchers', false],
  ])
  expect(misplaced.stderr).toContain('must follow the --service that it applies to')
})

test('an update keeps settings that it does not name, and the component of a service that stays', async () => {
  const id = await create('second', '--text', 'Hello', '--service', `${checkout}=Shop`)
  const before = await json<StatusPage>('show', '--id', id)

  const sections = ['--section', 'All', '--service', search, '--service', checkout]
  const options = ['--title', 'New', '--incidents', 'all', '--hide-incident', 'INC-1', ...sections]
  const after = await json<StatusPage>('update', '--id', id, ...options)

  const component = ({ sections }: StatusPage) =>
    sections.flatMap(({ components }) => components).find(({ serviceId }) => serviceId === checkout)
  expect(after).toMatchObject({
    ...{ slug: 'second', title: 'New', text: 'Hello', isPublic: true, incidentsShown: 'all' },
    ...{ generation: before.generation + 1, hiddenIncidents: ['INC-1'] },
  })
  expect(component(after)).toEqual(component(before))
  expect(shownOf(after)).toEqual([['All', [search, 'svc-search'], [checkout, 'Shop']]])
  const shown = await json<StatusPage>('update', '--id', id, '--show-incident', 'INC-1')
  expect([shown.hiddenIncidents, shownOf(shown)]).toEqual([[], shownOf(after)])
})

test('a host belongs to one page until it is unbound, and is deleted with its page', async () => {
  const [one, other] = [
    await create('third', '--service', checkout),
    await create('fourth', '--service', search),
  ]
  const bind = (id: string, host: string) => run('bind-host', '--id', id, '--host', host)
  await bind(one, 'Status.Example.org')

  expect((await bind(other, 'status.example.org')).stderr).toContain(`is bound to the page ${one}`)
  expect((await bind(one, 'status.example.org')).code).toBe(0)
  await run('unbind-host', '--id', one, '--host', 'status.example.org')
  expect((await bind(other, 'status.example.org')).code).toBe(0)
  await run('delete', '--id', other)
  expect((await bind(one, 'status.example.org')).code).toBe(0)
  const pages = await json<readonly StatusPage[]>('list', '--org', server.orgId)
  expect(pages.filter(({ hosts }) => hosts.length > 0).map(({ id }) => id)).toEqual([one])
  expect(pages.some(({ id }) => id === other)).toBe(false)
  const audit = (await server.store.listAudit(server.orgId, 100)).filter(({ targetId }) => targetId === other)
  expect(audit.map(({ action, actorKind, detail }) => [action, actorKind, detail]).reverse()).toEqual([
    ['status_page.create', 'cli', { slug: 'fourth' }],
    ['status_page.bind_host', 'cli', { host: 'status.example.org' }],
    ['status_page.delete', 'cli', { slug: 'fourth' }],
  ])
})

test('invalid settings are refused with the reason', async () => {
  const id = await create('fifth', '--service', checkout)
  const of = ['--org', server.orgId, '--title', 'x']
  const refusals: readonly (readonly [readonly string[], string])[] = [
    [['create', ...of, '--slug', 'fifth', '--service', checkout], 'the slug fifth is taken'],
    [['create', ...of, '--slug', 'A', '--service', checkout], 'must have 3 to 63 characters'],
    [['create', ...of, '--slug', 'assets', '--service', checkout], 'must not be assets'],
    [['create', ...of, '--slug', 'sixth'], '--service is missing'],
    [['create', ...of, '--slug', 'sixth', '--service', server.orgId], 'has no service'],
    [['create', ...of, '--slug', 'sixth', '--service', checkout, '--service', checkout], 'is listed twice'],
    [['create', ...of, '--slug', 'sixth', '--service', `${checkout}= `], 'must not be empty'],
    [['update', '--id', id], 'give at least one setting'],
    [['update', '--id', id, '--hide-incident', 'INC-99'], 'has no incident INC-99'],
    [['update', '--id', 'x', '--title', 'x'], 'there is no status page x'],
    [['update', '--id', id, '--title', 'a\u202eb'], 'the direction control'],
    [['bind-host', '--id', id, '--host', '127.0.0.1'], 'must be a name'],
    [['bind-host', '--id', id, '--host', 'a.example:80'], 'must be a name'],
    [['unbind-host', '--id', id, '--host', 'a.example'], 'is not bound'],
    [['list', '--org', id], 'there is no organisation'],
  ]

  const found = await Promise.all(
    refusals.map(async ([args, text]) => {
      const { code, stderr } = await run(...args)
      return [code, stderr.includes(text) ? text : stderr]
    }),
  )

  expect(found).toEqual(refusals.map(([, text]) => [1, text]))
  expect(shownOf(await json('show', '--id', id))).toEqual([['', [checkout, 'svc-checkout']]])
})

test('without --json a page is a table with the ids of its components', async () => {
  const id = await create('seventh', '--visibility', 'hidden', '--service', `${checkout}=Shop`)

  const { stdout } = await run('show', '--id', id)

  expect(stdout).toMatch(/^visibility +hidden$/m)
  expect(stdout).toMatch(new RegExp(`^[0-9a-f-]{36}  ${checkout}  -        Shop  shown   -$`, 'm'))
})
