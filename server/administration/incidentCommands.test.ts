import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ApiClient, apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'

let server: TestServer
let api: ApiClient
beforeEach(async () => {
  server = await startServer({ plan: 'enterprise', rateLimit: 'none' })
  api = apiClient(server.url, server.apiKey)
})
afterEach(() => server.close())

const list = async (command: string, ...args: string[]) => {
  const { stdout, stderr } = await runHere([command, '--data-dir', server.dataDir, ...args])
  return stderr + stdout
}
const make = async (path: string, body: unknown) => Object((await api.post(path, body)).json)

test('incidents lists open incidents with their services, --all also the resolved ones, and states names them', async () => {
  const { id: org } = Object((await api.get('/v1/org')).json)
  const service = await make('/v1/services', serviceBody())
  const other = await make('/v1/services', serviceBody({ name: 'Search' }))
  const texts = { message: 'looking', severity: 'major_outage' }
  const first = await make('/v1/incidents', { title: 'Old', service_ids: [other.id], ...texts })
  await make(`/v1/incidents/${first.id}/updates`, { body: 'over', status: 'resolved' })
  const second = await make('/v1/incidents', { title: 'Slow', service_ids: [service.id, other.id], ...texts })
  await api.delete(`/v1/services/${other.id}`)

  const open = JSON.parse(await list('incidents', '--org', org, '--json'))
  const all = JSON.parse(await list('incidents', '--org', org, '--all', '--json'))
  const shown = await list('incidents', '--org', org)
  const states = await list('states', '--org', org)

  expect(open).toEqual([
    {
      ...{
        id: second.id,
        display_id: 'INC-2',
        title: 'Slow',
        status: 'investigating',
        severity: 'major_outage',
      },
      ...{ auto_managed: false, started_at: second.created_at, resolved_at: null },
      services: [
        { id: service.id, name: 'Checkout' },
        { id: other.id, name: null },
      ],
    },
  ])
  expect(all.map(({ display_id }: { display_id: string }) => display_id)).toEqual(['INC-2', 'INC-1'])
  expect(shown).toMatch(/INC-2 +investigating +major_outage +\S+ +Checkout, \S+ +Slow\n$/)
  expect(states).toMatch(/Checkout +unknown +\S+ +INC-2/)
})

test('incidents beyond one page are all listed', async () => {
  const { id: org } = Object((await api.get('/v1/org')).json)
  const { id } = await make('/v1/services', serviceBody())
  const body = { title: 'Slow', message: 'looking', severity: 'major_outage', service_ids: [id] }
  for (let made = 0; made < 101; made += 1) await make('/v1/incidents', body)

  const open = JSON.parse(await list('incidents', '--org', org, '--json'))

  expect(open).toHaveLength(101)
})

test('an organisation that does not exist is an error, not an empty list', async () => {
  expect(await list('incidents', '--org', 'x')).toContain('there is no organisation x')
})
