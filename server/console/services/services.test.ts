import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { hourBar } from './hourBar.ts'
import { type ConsoleServer, startConsoleServer, type TestPerson } from '../testing/startConsoleServer.ts'

const CANARY = 'canary-7f3a91'

let server: ConsoleServer
let api: ReturnType<typeof apiClient>
let member: TestPerson
let viewer: TestPerson

beforeAll(async () => {
  server = await startConsoleServer()
  api = apiClient(server.url, server.apiKey)
  member = await server.signIn('member')
  viewer = await server.signIn('viewer')
})
afterAll(() => server.close())

async function create(
  changes: Partial<ServiceRequest> = {},
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  const { json, status, text } = await api.post('/v1/services', serviceBody(changes), { headers })
  if (status !== 201) throw new Error(text)
  // True because the response is a service.
  return json as ServiceResponse
}

const read = async (id: string): Promise<ServiceResponse> =>
  (await api.get(`/v1/services/${id}`)).json as ServiceResponse
const generationIn = (page: string): string => /name="generation" value="(\d+)"/.exec(page)?.[1] ?? ''
const definitionIn = (page: string): string =>
  (/<textarea id="f-definition"[^>]*>\n([^<]*)</.exec(page)?.[1] ?? '').replaceAll('&quot;', '"')

test('the list searches services by name and host, filters by state, and keeps both in its URL', async () => {
  const orgId = await server.createOrg({ name: 'Listed' })
  const own = apiClient(server.url, await server.createKey({ orgId }))
  const someone = await server.signIn('viewer', { orgId })
  const url = 'https://find.example.org/x?token=hidden'
  await own.post('/v1/services', serviceBody({ name: 'Checkout' }))
  await own.post('/v1/services', serviceBody({ name: 'Search', endpoints: [endpointBody({ url })] }))
  const { json: idle } = await own.post('/v1/services', serviceBody({ name: 'Idle' }))
  await own.post(`/v1/services/${Object(idle).id}/pause`)
  const names = async (query: string): Promise<string[]> => {
    const { text } = await someone.client.get(`${someone.root}/services${query}`)
    return [...text.matchAll(/<th scope="row"><a [^>]*><bdi>([^<]*)/g)].map(([, name = '']) => name)
  }

  expect(await names('?sort=name')).toEqual(['Checkout', 'Idle', 'Search'])
  expect(await names('?q=find.example')).toEqual(['Search'])
  expect(await names('?q=token')).toEqual([])
  expect(await names('?state=paused')).toEqual(['Idle'])
  expect(await names('')).toEqual(['Checkout', 'Search', 'Idle'])
  expect(await names('?page=9&sort=nonsense&state=nonsense')).toEqual(['Checkout', 'Search', 'Idle'])
})

test('open incidents determine states also when they have too many updates for one response', async () => {
  const orgId = await server.createOrg({ name: 'Long', plan: 'business' })
  const own = apiClient(server.url, await server.createKey({ orgId }))
  const someone = await server.signIn('viewer', { orgId })
  const { json } = await own.post('/v1/services', serviceBody({ name: 'Checkout' }))
  const open = async (severity: string) => {
    const text = { title: 'x', message: '\u{1f525}'.repeat(20_000), severity }
    const { status } = await own.post('/v1/incidents', { ...text, service_ids: [Object(json).id] })
    return status
  }
  const opened = [await open('major_outage')]
  for (let count = 0; count < 7; count += 1) opened.push(await open('degraded_performance'))

  const { text } = await someone.client.get(`${someone.root}/services`)

  expect(new Set(opened)).toEqual(new Set([201]))
  expect(text).toContain('1 <span class="label s-down">')
  expect(text).toContain('INC-8</a>')
})

test('the last 24 hours in words leave out those before the creation of the service', () => {
  const inWords = (hours: string): string | undefined =>
    /unseen">([^<]*)/.exec(hourBar(hours).toString())?.[1]

  expect(
    ['-'.repeat(24), `${'-'.repeat(23)}u`, `${'-'.repeat(20)}uddg`, 'u'.repeat(24)].map(inWords),
  ).toEqual([
    ...['not monitored in 24 hours', 'no problems in 1 hour'],
    ...['down in 2, degraded in 1 of 4 hours', 'no problems in 24 hours'],
  ])
})

test('a wall screen does not call paused services operational', async () => {
  const orgId = await server.createOrg({ name: 'Paused' })
  const own = apiClient(server.url, await server.createKey({ orgId }))
  const someone = await server.signIn('viewer', { orgId })
  const { json } = await own.post('/v1/services', serviceBody())
  await own.post(`/v1/services/${Object(json).id}/pause`)
  const { text } = await someone.client.get(`${someone.root}/services?look=wall`)

  expect(/<h1>([^<]*)/.exec(text)?.[1]).toBe('No service needs attention')
})

test('a service is found by a host with letters such as ü, however many URLs were parsed before', async () => {
  const orgId = await server.createOrg({ name: 'Letters' })
  const own = apiClient(server.url, await server.createKey({ orgId }))
  const someone = await server.signIn('viewer', { orgId })
  const url = 'https://für.example/'
  // Node 20 compiles URL.canParse after some ten thousand calls, and it refuses such hosts from then on.
  for (let call = 0; call < 100_000; call += 1) URL.canParse(url)
  await own.post('/v1/services', serviceBody({ name: 'Umlaut', endpoints: [endpointBody({ url })] }))

  const { text } = await someone.client.get(`${someone.root}/services?q=xn--fr-xka`)

  expect(text).toContain('<bdi>Umlaut')
})

test('a service is created from a few fields, and is the same in the API', async () => {
  const form = new URLSearchParams([
    ...[
      ['name', 'Short'] as [string, string],
      ['url', 'https://shop.example.org/health'] as [string, string],
    ],
    ...[['method', 'GET'] as [string, string], ['interval', '60'] as [string, string]],
    ...[['region', 'eu-west-1'] as [string, string], ['region', 'us-east-1'] as [string, string]],
    ...[['status', '204'] as [string, string], ['latency', '1500'] as [string, string]],
    ['contains', 'ready'] as [string, string],
  ])
  const { status, location } = await member.client.post(`${member.actions}/services`, form)
  const id = location.split('/').at(-1) ?? ''

  expect(status).toBe(303)
  expect(await read(id)).toMatchObject({
    name: 'Short',
    interval_secs: 60,
    regions: ['eu-west-1', 'us-east-1'],
    endpoints: [
      {
        url: 'https://shop.example.org/health',
        assertions: [
          { StatusCode: { expected: { Eq: 204 } } },
          { Latency: { expected: { LessThan: { secs: 1, nanos: 500_000_000 } } } },
          { Body: { matcher: { Contains: 'ready' } } },
        ],
      },
    ],
  })
  const [{ action, actorKind } = {}] = await server.store.listAudit(server.orgId, 1)
  expect([action, actorKind]).toEqual(['service.create', 'person'])
})

test.each([
  ['a field that is not a number', { interval: 'soon' }, 'id="e-interval">Must be a whole number'],
  ['an invalid URL', { url: 'shop' }, 'id="e-url">Must be an absolute'],
  ['no region', { region: '' }, 'id="e-region">Is not a region'],
  ['an interval below that of the plan', { interval: '1' }, 'id="e-interval">Must be at least 30'],
  ['a latency with a unit', { latency: '2 s' }, 'id="e-latency">Must be a whole number of milliseconds'],
])('%s is reported with the entered values, and nothing is created', async (_what, changes, message) => {
  const before = (await server.store.listServices(server.orgId)).length
  const form = {
    name: 'Kept',
    url: 'https://shop.example.org/',
    method: 'GET',
    interval: '60',
    region: 'eu-west-1',
  }
  const { status, text } = await member.client.post(`${member.actions}/services`, { ...form, ...changes })

  expect(status).toBe(422)
  expect(text).toContain(message)
  expect(text).toContain('value="Kept"')
  expect((await server.store.listServices(server.orgId)).length).toBe(before)
})

test('a form that was sent without a region is shown again without one', async () => {
  const form = { name: 'Nowhere', url: 'https://shop.example.org/', method: 'GET', interval: '60' }
  const { status, text } = await member.client.post(`${member.actions}/services`, form)

  expect(status).toBe(422)
  expect(text).toMatch(/<p class="fault" id="e-region">Must/)
  expect(text).not.toContain(' checked')
})

const containing = (operand: string): string =>
  JSON.stringify(
    serviceBody({
      endpoints: [endpointBody({ assertions: [{ Body: { matcher: { Contains: operand } } }] })],
    }),
  )

test.each([
  ['U+0000', { definition: containing('\u0000') }, 'must not contain U+0000 or lone surrogates'],
  ['a lone surrogate', { definition: containing('\ud800') }, 'must not contain U+0000 or lone surrogates'],
  [
    'U+0000 in a field',
    {
      name: 'a',
      url: 'https://a.example/',
      method: 'GET',
      interval: '60',
      region: 'eu-west-1',
      contains: 'a\0b',
    },
    'must not contain U+0000 or lone surrogates',
  ],
  ['deep nesting', { definition: `${'['.repeat(65)}${']'.repeat(65)}` }, 'must not be nested deeper than 64'],
])('a definition with %s is refused, as the API refuses it', async (_what, form, message) => {
  const { status, text } = await member.client.post(`${member.actions}/services`, form)

  expect([status, text]).toEqual([422, expect.stringContaining(message)])
})

test('a definition is replaced, and simultaneous edits of two people lose no change', async () => {
  const { id } = await create({ name: 'Before' })
  const { text: page } = await member.client.get(`${member.root}/services/${id}/edit`)
  const [definition, generation] = [definitionIn(page), generationIn(page)]
  const save = (name: string, used: string) =>
    member.client.post(`${member.actions}/services/${id}/replace`, {
      definition: definition.replace('Before', name),
      generation: used,
    })

  const first = await save('Mine', generation)
  const second = await save('Theirs', generation)
  const third = await save('Theirs', generationIn(second.text))

  expect([first.status, second.status, third.status]).toEqual([303, 409, 303])
  expect(second.text).toContain('&quot;name&quot;: &quot;Mine&quot;')
  expect(definitionIn(second.text)).toContain('"name": "Theirs"')
  expect((await read(id)).name).toBe('Theirs')
})

test('a definition with a mistake does not replace the change of another person once it is corrected', async () => {
  const { id } = await create({ name: 'Before' })
  const { text: page } = await member.client.get(`${member.root}/services/${id}/edit`)
  const definition = definitionIn(page)
  const save = (text: string, generation: string) =>
    member.client.post(`${member.actions}/services/${id}/replace`, { definition: text, generation })

  await save(definition.replace('Before', 'Theirs'), generationIn(page))
  const faulty = await save(`${definition},`, generationIn(page))
  const corrected = await save(definition, generationIn(faulty.text))

  expect([faulty.status, corrected.status]).toEqual([422, 409])
  expect((await read(id)).name).toBe('Theirs')
})

test('an edited definition is kept when code began to manage the service meanwhile', async () => {
  const { id } = await create({ name: 'Taken over' })
  const { text: page } = await member.client.get(`${member.root}/services/${id}/edit`)
  const headers = { 'user-agent': 'terraform-provider-pharos/0.1.0' }
  await api.patch(`/v1/services/${id}`, serviceBody({ name: 'Of code' }), { headers })
  const definition = definitionIn(page).replace('Taken over', 'Typed')
  const generation = generationIn(page)
  const save = (form: Record<string, string>) =>
    member.client.post(`${member.actions}/services/${id}/replace`, { definition, ...form })
  const refused = await save({ generation })
  const confirmed = await save({ generation: generationIn(refused.text), confirmed: 'yes' })

  expect([refused.status, confirmed.status]).toEqual([422, 409])
  expect(refused.text).toContain('Terraform manages this service')
  expect(refused.text).toContain('name="confirmed"')
  expect(definitionIn(refused.text)).toContain('"name": "Typed"')
})

test('a sealed value is never shown, and is kept only while the URL is unchanged', async () => {
  const headers = { authorization: { value: CANARY, sensitive: true } }
  const endpoint = endpointBody({ url: 'https://shop.example.org/a' })
  endpoint.call.Http.headers = headers
  const { id } = await create({ name: 'Sealed', endpoints: [endpoint] })
  const { text: page } = await member.client.get(`${member.root}/services/${id}/edit`)
  const definition = definitionIn(page)
  const save = (text: string, used = generationIn(page)) =>
    member.client.post(`${member.actions}/services/${id}/replace`, { definition: text, generation: used })

  const moved = await save(definition.replace('shop.example.org', 'evil.example.org'))
  const kept = await save(definition.replace('"name": "Sealed"', '"name": "Renamed"'))
  const [value] = await server.store.sealedValues(id)
  const shown = await member.client.get(`${member.root}/services/${id}`)

  expect(definition).toContain('"Sealed"')
  expect([moved.status, kept.status]).toEqual([422, 303])
  expect(moved.text).toContain('endpoints[0].call.Http.headers: a sealed value stays')
  expect(value).toBeDefined()
  expect((await read(id)).name).toBe('Renamed')
  expect([page, moved.text, shown.text].filter((text) => text.includes(CANARY))).toEqual([])
})

test('pause, resume, automatic incidents and delete do what the API does', async () => {
  const { id } = await create({ name: 'Acted' })
  const act = (name: string, form: Record<string, string> = {}) =>
    member.client.post(`${member.actions}/services/${id}/${name}`, form)

  const statuses = [
    await act('pause'),
    await act('auto-incident', { threshold: '2', window: '10', on: 'yes' }),
  ]
  const paused = await read(id)
  statuses.push(await act('resume'), await act('auto-incident', { threshold: '0', window: '10', on: 'yes' }))
  statuses.push(await act('delete'), await act('pause'))

  expect(statuses.map(({ status }) => status)).toEqual([303, 303, 303, 422, 303, 404])
  expect([paused.paused_at !== null, paused.auto_incident_failure_threshold]).toEqual([true, 2])
  expect((await api.get(`/v1/services/${id}`)).status).toBe(404)
})

test('refused settings of automatic incidents stay in their form, with the reason at its field', async () => {
  const { id } = await create({ name: 'Settings', interval_secs: 60 })
  const send = (threshold: string, window: string) =>
    member.client.post(`${member.actions}/services/${id}/auto-incident`, { threshold, window, on: 'yes' })
  const faultOf = ({ text }: { readonly text: string }) =>
    /<input id="f-(\w+)"[^>]*aria-invalid[^>]*>\s*<p class="fault"[^>]*>(.*?)<\/p>/.exec(text)?.slice(1)

  const unclear = await send('many', '30')
  const short = await send('11', '10')

  expect([unclear.status, short.status]).toEqual([422, 422])
  expect(faultOf(unclear)).toEqual(['threshold', 'The threshold must be a whole number from 1 to 100'])
  expect(faultOf(short)).toEqual([
    'window',
    '11 rounds of 60 s do not fit into a window of 10 min: choose a longer window or a lower threshold',
  ])
  expect([unclear.text.includes('value="many"'), unclear.text.includes('value="30"')]).toEqual([true, true])
})

test('a service managed by code is changed only after confirmation with a checkbox', async () => {
  const { id } = await create({ name: 'Coded' }, { 'user-agent': 'terraform-provider-pharos/0.1.0' })
  const pause = (form: Record<string, string>) =>
    member.client.post(`${member.actions}/services/${id}/pause`, form)

  const { text } = await member.client.get(`${member.root}/services/${id}`)
  const refused = await pause({})
  const done = await pause({ confirmed: 'yes' })

  expect(text).toContain('Managed by Terraform (terraform-provider-pharos 0.1.0)')
  expect([refused.status, done.status]).toEqual([422, 303])
})

test('a viewer sees no buttons, and changes are refused', async () => {
  const { id } = await create({ name: 'Watched' })
  const { text } = await viewer.client.get(`${viewer.root}/services/${id}`)
  const { status } = await viewer.client.post(`${viewer.actions}/services/${id}/pause`)

  expect(text).not.toContain('<button formaction')
  expect(status).toBe(403)
  expect((await read(id)).paused_at).toBeNull()
})
