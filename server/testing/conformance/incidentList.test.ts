import { afterAll, beforeAll, expect, test } from 'vitest'
import { incidentPageSchema, incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { UNKNOWN_ID } from '../routes.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({
  rateLimit: 'none',
  // The same instant for all, so that the order cannot come from the clock.
  environment: { nowMs: () => Date.parse('2026-01-01T00:00:00Z') },
})
const api = apiClient(server.url, server.apiKey)
const services: string[] = []
afterAll(() => server.close())

async function createService(): Promise<string> {
  return serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json).id
}

async function open(title: string, severity: string, service_ids: readonly string[]): Promise<string> {
  const { json } = await api.post('/v1/incidents', { title, severity, service_ids, message: 'x' })
  return incidentSchema.parse(json).id
}

/** Titles on the page for `query`, newest first. */
async function titles(query: string): Promise<readonly string[]> {
  const { json } = await api.get(`/v1/incidents?${query}`)
  return incidentPageSchema
    .strict()
    .parse(json)
    .items.map(({ title }) => title)
}

beforeAll(async () => {
  services.push(await createService(), await createService(), await createService())
  const [a = '', b = '', c = ''] = services
  await open('Élan is down', 'major_outage', [a])
  await open('100% slow', 'partial_outage', [b])
  await open('snake_case', 'degraded_performance', [a, b])
  await open('snakeXcase', 'degraded_performance', [c])
  const resolved = await open('over', 'major_outage', [a])
  await api.post(`/v1/incidents/${resolved}/updates`, { body: 'done', status: 'resolved' })
})

test('C144 each incident is in section active or resolved, newest first', async () => {
  expect(await titles('section=active')).toEqual(['snakeXcase', 'snake_case', '100% slow', 'Élan is down'])
  expect(await titles('section=resolved')).toEqual(['over'])
})

test.each(['', 'section=', 'section=open', 'section=active&section=resolved'])(
  'C144 the query "%s" is 400',
  async (query) => {
    expect((await api.get(`/v1/incidents?${query}`)).status).toBe(400)
  },
)

test.each([
  ['SNAKE', ['snakeXcase', 'snake_case']],
  ['élan', ['Élan is down']],
  ['E%CC%81lan', ['Élan is down']],
  ['%25', ['100% slow']],
  ['e_c', ['snake_case']],
  ['inc-2', ['100% slow']],
  ['nowhere', []],
  ['', ['snakeXcase', 'snake_case', '100% slow', 'Élan is down']],
])('C145 q=%s finds titles and display ids, and special characters are literal', async (q, expected) => {
  expect(await titles(`section=active&q=${q}`)).toEqual(expected)
})

test('C146 a severity filters, and an unknown or empty one is 400', async () => {
  expect(await titles('section=active&severity=degraded_performance')).toEqual(['snakeXcase', 'snake_case'])
  expect((await api.get('/v1/incidents?section=active&severity=critical')).status).toBe(400)
  expect((await api.get('/v1/incidents?section=active&severity=')).status).toBe(400)
})

test('C147 service_id filters by any of its repeated values; an unknown one matches nothing', async () => {
  const [a = '', b = '', c = ''] = services

  expect(await titles(`section=active&service_id=${c}`)).toEqual(['snakeXcase'])
  expect(await titles(`section=active&service_id=${a}&service_id=${c.toUpperCase()}`)).toEqual([
    'snakeXcase',
    'snake_case',
    'Élan is down',
  ])
  expect(await titles(`section=active&service_id=${UNKNOWN_ID}`)).toEqual([])
  expect(await titles(`section=active&service_id[]=${b}`)).toHaveLength(4)
  expect((await api.get('/v1/incidents?section=active&service_id=x')).status).toBe(400)
})

test('C148 all filters apply together', async () => {
  const [a = ''] = services

  expect(await titles(`section=active&service_id=${a}&severity=major_outage&q=down`)).toEqual([
    'Élan is down',
  ])
  expect(await titles(`section=active&service_id=${a}&severity=partial_outage`)).toEqual([])
})

test('C149 pages are numbered from 1 and have 20 incidents by default, and at most 100', async () => {
  const pageOf = async (query: string) => {
    const { items, ...page } = incidentPageSchema.parse(
      (await api.get(`/v1/incidents?section=active${query}`)).json,
    )
    return { ...page, items: items.map(({ title }) => title) }
  }
  const all = ['snakeXcase', 'snake_case', '100% slow', 'Élan is down']

  expect(await pageOf('')).toEqual({ page: 1, limit: 20, total: 4, total_pages: 1, items: all })
  expect(await pageOf('&limit=1000')).toEqual({ page: 1, limit: 100, total: 4, total_pages: 1, items: all })
  expect(await pageOf('&limit=3&page=2')).toEqual({
    page: 2,
    limit: 3,
    total: 4,
    total_pages: 2,
    items: ['Élan is down'],
  })
  expect(await pageOf('&page=9')).toEqual({ page: 9, limit: 20, total: 4, total_pages: 1, items: [] })
})

test.each([
  'page=0',
  'page=-1',
  'page=abc',
  'page=1.5',
  'page=',
  'limit=0',
  'limit=x',
  'page=9223372036854775808',
  'page=1&page=2',
])('C149 C151 %s is 400', async (query) => {
  expect((await api.get(`/v1/incidents?section=active&${query}`)).status).toBe(400)
})

test('C151 the page with the largest number is empty', async () => {
  expect(await titles('section=active&page=9223372036854775807')).toEqual([])
})

test('C150 pages of simultaneous incidents repeat none and leave none out', async () => {
  const pages = [1, 2, 3, 4].map((page) => titles(`section=active&limit=1&page=${page}`))

  expect((await Promise.all(pages)).flat()).toEqual(['snakeXcase', 'snake_case', '100% slow', 'Élan is down'])
})
