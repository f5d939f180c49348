import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { type ApiClient, apiClient } from '../../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../../testing/startServer.ts'

let server: TestServer
let api: ApiClient
let keyId: string | undefined
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  api = apiClient(server.url, server.apiKey)
  keyId = (await server.store.listKeys(server.orgId))[0]?.id
})
afterAll(() => server.close())

async function create(body = serviceBody(), headers: Record<string, string> = {}): Promise<ServiceResponse> {
  const { json, status } = await api.post('/v1/services', body, { headers })
  expect(status).toBe(201)
  // True because the response is a service.
  return json as ServiceResponse
}

test('each generation has its definition and its origin: tool, version, key, and the source given by the client', async () => {
  const agent = { 'user-agent': 'pharos/1.2.3 (linux)' }
  const source = {
    'pharos-origin': 'repository=https%3A%2F%2Fgit.example%2Fshop&commit=4f2a&path=a%2Fb.yaml',
  }
  const { id } = await create(serviceBody(), { ...agent, ...source })
  await api.post(`/v1/services/${id}/pause`, undefined, { headers: { 'user-agent': 'curl/8.5.0' } })
  await api.patch(`/v1/services/${id}`, serviceBody({ interval_secs: 120 }), { headers: agent })
  await api.delete(`/v1/services/${id}`, { headers: { 'user-agent': '(none)' } })

  const generations = await server.store.generationsOf(id)

  const known = { keyId, personId: null, at: expect.stringMatching(/^\d{4}-.*Z$/) }
  const unsaid = { repository: null, commit: null, path: null }
  const said = { repository: 'https://git.example/shop', commit: '4f2a', path: 'a/b.yaml' }
  expect(generations.map(({ origin }) => origin)).toEqual([
    { ...known, ...unsaid, tool: null, toolVersion: null },
    { ...known, ...unsaid, tool: 'pharos', toolVersion: '1.2.3' },
    // A pause keeps the definition, and therefore its origin.
    { ...known, ...said, tool: 'pharos', toolVersion: '1.2.3' },
    { ...known, ...said, tool: 'pharos', toolVersion: '1.2.3' },
  ])
  expect(
    generations.map(({ generation, definition }) => [
      generation,
      definition === null ? null : JSON.parse(definition).interval_secs,
    ]),
  ).toEqual([
    [4, null],
    [3, 120],
    [2, 60],
    [1, 60],
  ])
})

test('the history contains no value of a header, body or query, sealed or in clear text', async () => {
  const secrets = Array.from({ length: 8 }, (_, index) => `canary-${index}`)
  const [sealed = '', plain = '', sealedBody = '', plainBody = '', query = '', fragment = ''] = secrets
  const endpoint = (body: string, sensitive: boolean) =>
    endpointBody({
      url: `https://example.com/path?token=${query}#${fragment}`,
      call: {
        Http: {
          method: 'POST',
          timeout: null,
          headers: { 'X-Sealed': { value: sealed, sensitive: true }, 'X-Plain': { value: plain } },
          body: { value: body, sensitive },
        },
      },
    })
  const service = await create(
    serviceBody({ endpoints: [endpoint(sealedBody, true), endpoint(plainBody, false)] }),
  )
  await api.patch(`/v1/services/${service.id}`, serviceBody())
  await api.delete(`/v1/services/${service.id}`)

  const generations = await server.store.generationsOf(service.id)

  const text = JSON.stringify(generations)
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  const first = JSON.parse(generations.at(-1)?.definition ?? '').endpoints[0]
  const { headers } = service.endpoints[0]?.call.Http ?? {}
  expect(first).toMatchObject({
    url: 'https://example.com/path?…',
    call: {
      Http: { method: 'POST', headers: { 'X-Sealed': headers?.['X-Sealed'], 'X-Plain': { Plain: null } } },
    },
  })
})

test('a malformed Pharos-Origin is 400 and changes nothing, even on requests that create nothing', async () => {
  const { id } = await create()
  const headers = { 'pharos-origin': 'commit=a&commit=b' }

  const responses = [
    await api.post('/v1/services', serviceBody(), { headers }),
    await api.patch(`/v1/services/${id}`, serviceBody(), { headers }),
    await api.delete(`/v1/services/${id}`, { headers }),
    await api.post(`/v1/services/${id}/pause`, undefined, { headers }),
  ]

  expect(responses.map(({ status, json }) => [status, json])).toEqual(
    responses.map(() => [400, { error: 'Pharos-Origin: must name commit once' }]),
  )
  expect((await server.store.generationsOf(id)).length).toBe(1)
})
