/**
 * Drives the whole lifecycle of a service and an incident with a client that is generated from docs/openapi.json, as
 * a consumer would write it. Called with the address of a server, a key and a region; prints one JSON document.
 */
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/schema.ts'

const [baseUrl = '', key = '', region = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } })

const seconds = (secs: number): components['schemas']['Duration'] => ({ secs, nanos: 0 })

/** One of everything that a definition can have. */
const definition: components['schemas']['ServiceRequest'] = {
  name: 'Checkout',
  interval_secs: 60,
  regions: [region],
  endpoints: [
    {
      url: 'https://example.com/',
      name: 'front',
      call: {
        Http: {
          method: 'POST',
          body: { value: 'ping' },
          headers: { Accept: { value: 'text/html' }, 'X-Token': { value: 'hush', sensitive: true } },
          max_redirects_to_follow: 3,
          with_dns: true,
          timeout: { secs: 1, nanos: 500_000_000 },
        },
      },
      assertions: [
        { StatusCode: { expected: { Between: [200, 299] } } },
        { StatusCode: { expected: { OneOf: [200, 204] } } },
        { Latency: { l_type: 'TotalLatency', expected: { Between: [seconds(0), seconds(2)] } } },
        { DnsResoltion: { expected: { LessThan: seconds(1) } } },
        { Header: { name: 'content-type', matcher: { StartsWith: 'text/' } } },
        { Body: { matcher: { Regex: '^ok' } } },
      ],
    },
  ],
}

/** The body of a response that has to be a success. */
function got<Data>(result: {
  data?: Data
  error?: components['schemas']['Error']
  response: Response
}): Data {
  if (result.data === undefined) throw new Error(`${result.response.status} ${result.error?.error ?? ''}`)
  return result.data
}

async function serviceLifecycle() {
  const created = got(await client.POST('/v1/services', { body: definition }))
  const params = { path: { service_id: created.id } }
  const read = got(await client.GET('/v1/services/{service_id}', { params }))
  const listed = got(await client.GET('/v1/services'))
  const replaced = got(
    await client.PATCH('/v1/services/{service_id}', { params, body: { ...definition, name: 'Cart' } }),
  )
  const paused = got(await client.POST('/v1/services/{service_id}/pause', { params }))
  const resumed = got(await client.POST('/v1/services/{service_id}/resume', { params }))
  const incident = await incidentLifecycle(created.id)
  const deleted = await client.DELETE('/v1/services/{service_id}', { params })
  const gone = await client.GET('/v1/services/{service_id}', { params })
  const [endpoint] = read.endpoints
  return {
    endpoint: { ...endpoint, id: 'an id' },
    listed: listed.map(({ id }) => id === created.id),
    names: [read.name, replaced.name],
    isPaused: [paused, resumed].map(({ paused_at }) => typeof paused_at === 'string'),
    incident,
    deleted: deleted.response.status,
    gone: [gone.response.status, gone.error?.error],
  }
}

async function incidentLifecycle(serviceId: string) {
  const created = got(
    await client.POST('/v1/incidents', {
      body: { title: 'Slow', message: 'We look.', severity: 'partial_outage', service_ids: [serviceId] },
    }),
  )
  const params = { path: { id: created.id } }
  const update = (body: components['schemas']['IncidentUpdateRequest']) =>
    client.POST('/v1/incidents/{id}/updates', { params, body })
  const identified = got(await update({ body: 'Found it.', status: 'identified', severity: 'major_outage' }))
  const resolved = got(await update({ body: 'Fixed.', status: 'resolved' }))
  const page = got(
    await client.GET('/v1/incidents', {
      params: { query: { section: 'resolved', service_id: [serviceId], severity: 'major_outage' } },
    }),
  )
  const read = got(await client.GET('/v1/incidents/{id}', { params }))
  return {
    statuses: [created, identified, resolved].map(({ status }) => status),
    found: page.items.map(({ id }) => id === created.id),
    updates: read.updates.map(({ body, status_at_update }) => [body, status_at_update]),
  }
}

const org = got(await client.GET('/v1/org'))
const regions = got(await client.GET('/v1/regions'))
const service = await serviceLifecycle()
process.stdout.write(
  JSON.stringify({ scope: org.scope, hasRegion: regions.some(({ code }) => code === region), service }),
)
