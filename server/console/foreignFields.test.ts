import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiClient } from '../testing/apiClient.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { type ConsoleServer, startConsoleServer } from './testing/startConsoleServer.ts'

const UNKNOWN = 'ffffffff-ffff-4fff-bfff-ffffffffffff'

let server: ConsoleServer
/** Of another organisation. */
let foreign: { readonly service: string; readonly incident: string; readonly page: string }
let own: typeof foreign

const incidentOf = (id: string) => ({
  ...{ title: 'Ours', message: 'x', severity: 'major_outage', service_ids: [id] },
})

/** Makes a service, an incident and a status page in an organisation. */
async function make(orgId: string, slug: string) {
  const api = apiClient(server.url, await server.createKey({ orgId }))
  const service: string = Object((await api.post('/v1/services', serviceBody({ name: slug }))).json).id
  const incident: string = Object((await api.post('/v1/incidents', incidentOf(service))).json).id
  const { client, actions } = await server.signIn('owner', { orgId })
  const page = { slug, title: slug, 'kind-0': 'component', 'name-0': 'x', 'service-0': service, do: 'save' }
  const { location } = await client.post(`${actions}/pages`, page)
  return { service, incident, page: location.split('/').at(-1) ?? '' }
}

beforeAll(async () => {
  server = await startConsoleServer()
  foreign = await make(await server.createOrg({ name: 'Other' }), 'foreign')
  own = await make(server.orgId, 'own')
})
afterAll(() => server.close())

type Field = (id: string) => { readonly path: string; readonly form: Readonly<Record<string, string>> }
const times = { from: '2090-01-01T00:00', to: '2090-01-02T00:00' }
const hook = { name: 'x', kind: 'webhook', url: 'https://hooks.example.org/', events: 'incident.created' }
const component = { 'kind-0': 'component', 'name-0': 'x', 'text-0': '' }

const FIELDS: readonly (readonly [string, 'service' | 'incident' | 'page', Field])[] = [
  [
    ...(['the services of a maintenance window', 'service'] as const),
    (id) => ({ path: '/maintenance', form: { title: 'x', services: id, ...times } }),
  ],
  [
    ...(['the services of an incident', 'service'] as const),
    (id) => ({ path: '/incidents', form: { ...incidentOf(id), service_ids: id } }),
  ],
  [
    ...(['the services of a channel', 'service'] as const),
    (id) => ({ path: '/channels', form: { ...hook, services: id } }),
  ],
  [
    ...(['the components of a status page', 'service'] as const),
    (id) => ({
      path: '/pages',
      form: { slug: 'new', title: 'x', ...component, 'service-0': id, do: 'save' },
    }),
  ],
  [
    ...(['the components of a changed status page', 'service'] as const),
    (id) => ({
      path: `/pages/${own.page}/save`,
      form: { slug: 'own', title: 'x', ...component, 'service-0': id, do: 'save' },
    }),
  ],
  [
    ...(['the service to add to a status page', 'service'] as const),
    (id) => ({ path: '/pages', form: { slug: 'new', title: 'x', added: id, do: 'service' } }),
  ],
  [
    ...(['the incident to hide', 'incident'] as const),
    (id) => ({ path: `/pages/${own.page}/hide-incident`, form: { incident: id } }),
  ],
  [
    ...(['the page to hide an incident on', 'page'] as const),
    (id) => ({ path: `/pages/${id}/hide-incident`, form: { incident: own.incident } }),
  ],
  [
    ...(['the page to show an incident on', 'page'] as const),
    (id) => ({ path: `/pages/${id}/show-incident`, form: { incident: own.incident } }),
  ],
]

test.each(FIELDS)(
  '%s: an id of another organisation gets the same response as an unknown one',
  async (_, kind, fieldOf) => {
    const { client, actions } = await server.signIn('owner')
    const ask = async (id: string) => {
      const { path, form } = fieldOf(id)
      const { generation } = await server.store.getStatusPage(own.page)
      const { status, text } = await client.post(`${actions}${path}`, {
        generation: `${generation}`,
        ...form,
      })
      return { status, text: text.replaceAll(id, 'ID') }
    }
    const before = [await server.store.listAudit(server.orgId, 1_000), await server.store.listOrgs()]
    const [asked, unknown] = [await ask(foreign[kind]), await ask(UNKNOWN)]

    expect(asked).toEqual(unknown)
    expect(asked.status === 404 || asked.status === 422 || fieldOf('').form.do === 'service').toBe(true)
    expect(asked.text).not.toContain('foreign')
    expect([await server.store.listAudit(server.orgId, 1_000), await server.store.listOrgs()]).toEqual(before)
    // With an id of its own, the same form does something.
    expect([200, 303]).toContain((await ask(own[kind])).status)
  },
)
