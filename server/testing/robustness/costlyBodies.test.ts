import { afterAll, expect, test } from 'vitest'
import { apiClient } from '../apiClient.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
afterAll(() => server.close())

/** Distinct valid patterns that are large once compiled. */
const costly = Array.from({ length: 40 }, (_, index) => `(?i)${'\\pL{3}'.repeat(100)}${index}`)

test('a request whose patterns take long to compile does not keep others waiting', async () => {
  const api = apiClient(server.url, server.apiKey)
  const finished: string[] = []
  const assertions = costly.map((Regex) => ({ Body: { matcher: { Regex } } }))
  await api.get('/v1/org')

  const create = api
    .post('/v1/services', serviceBody({ endpoints: [endpointBody({ assertions })] }))
    .then(({ status }) => finished.push(`created ${status}`))
  const reads = [1, 2, 3].map(() => api.get('/v1/org').then(() => finished.push('read')))
  await Promise.all([create, ...reads])

  expect(finished).toEqual(['read', 'read', 'read', 'created 201'])
})

test('among very many endpoints, only those up to the first invalid one are validated', async () => {
  const api = apiClient(server.url, server.apiKey)
  const good = Array.from({ length: 100 }, () => endpointBody())
  const errorOf = async (endpoints: readonly unknown[]) =>
    (await api.post('/v1/services', { ...serviceBody(), name: '', endpoints })).json

  const crowd = await errorOf([...good, { ...endpointBody(), url: 7 }, ...Array(300_000).fill({})])
  const few = await errorOf([{}])

  expect(crowd).toEqual({ error: 'endpoints[100].url: must be a string' })
  expect(few).toEqual({ error: 'name: must not be empty' })
})

test('a list with more regions than exist is refused without validating each', async () => {
  const api = apiClient(server.url, server.apiKey)

  const { status, json } = await api.post('/v1/services', {
    ...serviceBody(),
    regions: Array(500_000).fill(1),
  })

  expect([status, json]).toEqual([400, { error: 'regions: must have at most 8 regions: there are no more' }])
})

test('a call with too many headers is refused without validating each', async () => {
  const api = apiClient(server.url, server.apiKey)
  const errorOf = async (count: number) => {
    const headers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`h${index}`, 0]))
    const endpoints = [endpointBody(), { ...endpointBody(), call: { Http: { headers } } }]
    return (await api.post('/v1/services', { ...serviceBody(), endpoints })).json
  }

  const errors = [await errorOf(10_000), await errorOf(80_000)]

  expect(errors).toEqual([
    { error: 'endpoints[1].call.Http.headers: must have at most 50 headers' },
    {
      error:
        'endpoints[1].call.Http.headers: must have at most 10000 members: send only the fields that the API documents',
    },
  ])
})

test('an incident with too many services is refused without validating each', async () => {
  const api = apiClient(server.url, server.apiKey)

  const { status, json } = await api.post('/v1/incidents', {
    title: 'x',
    message: 'x',
    severity: 'major_outage',
    service_ids: Array(250_000).fill(0),
  })

  expect([status, json]).toEqual([400, { error: 'service_ids: must name at most 100 services' }])
})

test('a query accepts some hundred services, and not more', async () => {
  const headers = { authorization: `Bearer ${server.apiKey}` }
  const statusOf = async (services: number) => {
    const filter = Array(services).fill(`service_id=${crypto.randomUUID()}`).join('&')
    return (await fetch(`${server.url}/v1/incidents?section=active&${filter}`, { headers })).status
  }

  expect([await statusOf(300), await statusOf(400)]).toEqual([200, 431])
})

test('a pattern that takes seconds to compile is refused without being compiled', async () => {
  const api = apiClient(server.url, server.apiKey)
  const assertions = [{ Body: { matcher: { Regex: `(?i)${'[a-\u{10ffff}]'.repeat(150)}` } } }]

  const { status, json } = await api.post(
    '/v1/services',
    serviceBody({ endpoints: [endpointBody({ assertions })] }),
  )

  expect([status, json]).toEqual([
    400,
    {
      error:
        'endpoints[0].assertions[0].Body.matcher.Regex: is too expensive: use fewer repetitions or classes',
    },
  ])
})

test('a request with too many sensitive values is refused before any is sealed', async () => {
  const api = apiClient(server.url, server.apiKey)
  const secrets = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`h${index}`, { value: 'x', sensitive: true }]),
    )
  const endpoint = (count: number) =>
    endpointBody({ call: { Http: { method: 'GET', timeout: null, headers: secrets(count) } } })
  const ten = Array.from({ length: 10 }, () => endpoint(50))

  const most = await api.post('/v1/services', serviceBody({ endpoints: ten }))
  const tooMany = await api.post('/v1/services', serviceBody({ endpoints: [...ten, endpoint(1)] }))

  expect(most.status).toBe(201)
  expect([tooMany.status, tooMany.json]).toEqual([
    400,
    { error: 'endpoints: must have at most 500 sensitive values together' },
  ])
})
