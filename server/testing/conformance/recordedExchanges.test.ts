import { request } from 'undici'
import { expect, test } from 'vitest'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { type StartServerOptions, startServer } from '../startServer.ts'

/** The transcript was recorded before the console and status pages existed. `npx vitest run -u` records it again. */
const TRANSCRIPT = './recordedExchanges.txt'
const NOW_MS = Date.parse('2026-11-20T12:00:00.000Z')
/** Headers that differ between responses. */
const PASSING = new Set(['date', 'x-request-id'])
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Sends valid and invalid requests to every route, and records the responses byte for byte. */
async function transcriptOf(options: StartServerOptions): Promise<string> {
  const server = await startServer({
    ...options,
    environment: { nowMs: () => NOW_MS },
    rateLimit: 'none',
  })
  const names = new Map<string, string>()
  const named = (text: string): string =>
    text.replaceAll(UUID, (id) => {
      const name = names.get(id) ?? `00000000-0000-7000-8000-${String(names.size + 1).padStart(12, '0')}`
      names.set(id, name)
      return name
    })
  const lines: string[] = []
  const send = async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT',
    path: string,
    { json, headers = {} }: { json?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Record<string, unknown>> => {
    const body = typeof json === 'string' ? json : json === undefined ? null : JSON.stringify(json)
    const response = await request(`${server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${server.apiKey}`,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body,
    })
    const text = await response.body.text()
    lines.push(named(`> ${method} ${path}${body === null ? '' : ` ${body}`}`))
    lines.push(`< ${response.statusCode}`)
    for (const [name, value] of Object.entries(response.headers)) {
      if (!PASSING.has(name)) lines.push(named(`< ${name}: ${String(value)}`))
    }
    lines.push(named(`< ${text}`), '')
    return text.startsWith('{') ? JSON.parse(text) : {}
  }

  await send('GET', '/v1/org')
  await send('GET', '/v1/regions')
  await send('GET', '/v1/services')
  const assertions = [{ StatusCode: { expected: { Eq: 200 } } }]
  const endpoints = [endpointBody({ assertions }), endpointBody({ url: 'https://shop.example/pay' })]
  const shop = serviceBody({ name: 'Shop', endpoints })
  const { id } = await send('POST', '/v1/services', { json: shop, headers: { 'idempotency-key': 'one' } })
  await send('POST', '/v1/services', { json: shop, headers: { 'idempotency-key': 'one' } })
  await send('POST', '/v1/services', {
    json: { ...shop, name: 'Other' },
    headers: { 'idempotency-key': 'one' },
  })
  await send('POST', '/v1/services', { json: { ...shop, name: 5, extra: true } })
  await send('POST', '/v1/services', { json: '{"name": ' })
  await send('POST', '/v1/services', { json: { ...shop, regions: ['nowhere-1'] } })
  await send('GET', '/v1/services')
  await send('GET', `/v1/services/${id}`)
  await send('GET', '/v1/services/no-id')
  await send('GET', '/v1/services/01900000-0000-7000-8000-000000000000')
  await send('PATCH', `/v1/services/${id}`, { json: { ...shop, name: 'Shop 2' } })
  await send('PATCH', `/v1/services/${id}`, { json: {} })
  await send('POST', `/v1/services/${id}/pause`)
  await send('POST', `/v1/services/${id}/pause`)
  await send('POST', `/v1/services/${id}/resume`)
  const text = { title: 'Shop is slow', message: 'We look into it.', severity: 'partial_outage' }
  const incident = await send('POST', '/v1/incidents', { json: { ...text, service_ids: [id] } })
  await send('POST', '/v1/incidents', { json: { ...text, severity: 'terrible', service_ids: [id] } })
  await send('POST', '/v1/incidents', {
    json: { ...text, service_ids: ['01900000-0000-7000-8000-000000000000'] },
  })
  await send('GET', '/v1/incidents?section=active')
  await send('GET', '/v1/incidents')
  await send('GET', '/v1/incidents?section=active&q=slow&limit=1')
  await send('GET', '/v1/incidents?section=nonsense')
  await send('GET', `/v1/incidents/${incident.id}`)
  await send('POST', `/v1/incidents/${incident.id}/updates`, {
    json: { status: 'identified', body: 'A disk.' },
  })
  await send('POST', `/v1/incidents/${incident.id}/updates`, {
    json: { status: 'resolved', body: 'Done.' },
  })
  await send('DELETE', `/v1/services/${id}`)
  await send('DELETE', `/v1/services/${id}`)
  await send('GET', '/v1/services', { headers: { authorization: 'Bearer wrong' } })
  await send('GET', '/v1/services', { headers: { authorization: '' } })
  await send('PUT', '/v1/services', { json: {} })
  await send('GET', '/v1/nothing')
  await send('GET', '/v2/services')
  await send('GET', '/')
  await send('POST', '/v1/services', { json: 'name=x', headers: { 'content-type': 'text/plain' } })
  await server.close()
  return `${lines.join('\n')}\n`
}

test('/v1 responds byte for byte as before there was a console', async () => {
  await expect(await transcriptOf({})).toMatchFileSnapshot(TRANSCRIPT)
})

test('/v1 responds the same with a console and status pages enabled', async () => {
  await expect(await transcriptOf({ console: {}, status: {} })).toMatchFileSnapshot(TRANSCRIPT)
})
