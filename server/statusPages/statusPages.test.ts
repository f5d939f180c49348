import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { ResultsBusyError } from '../results/threads/resultsBusyError.ts'
import { type SampleSite, startSampleSite } from './testing/sampleSite.ts'

let site: SampleSite
beforeEach(async () => {
  site = await startSampleSite({ statusUrl: 'https://status.example.org' })
})
afterEach(() => site.close())

const HOST = { host: 'status.example.org' }

/** GET of `path` at `host`, which fetch would not let a test choose. */
async function get(path: string, headers: Record<string, string> = HOST) {
  const { request } = await import('undici')
  const { statusCode, headers: responseHeaders, body } = await request(`${site.url}${path}`, { headers })
  return { status: statusCode, headers: responseHeaders, text: await body.text() }
}

/**
 * All that the listener sends in response to `text` until it closes the connection: for requests that no client sends.
 */
async function exchange(text: string): Promise<string> {
  const socket = connect(Number(new URL(site.url).port), '127.0.0.1')
  socket.write(text)
  const chunks = await socket.toArray()
  return Buffer.concat(chunks).toString()
}

interface StatusDocument {
  readonly page: { readonly url: string }
  readonly state: string
  readonly as_of: string | null
  readonly sections: readonly {
    readonly name: string
    readonly components: readonly { readonly id: string; readonly name: string; readonly state: string }[]
  }[]
  readonly incidents: readonly { readonly display_id: string; readonly title: string }[]
}

async function statusOf(path = '/s/example'): Promise<StatusDocument> {
  return JSON.parse((await get(`${path}/status.json`)).text)
}

async function statesOf(): Promise<Record<string, string>> {
  const { sections } = await statusOf()
  return Object.fromEntries(
    sections.flatMap(({ components }) => components.map(({ name, state }) => [name, state])),
  )
}

/** A page with the service `id` as Checkout. */
const addPage = (id: string) =>
  site.addPage({
    ...{ slug: 'example', title: 'Example', incidentsShown: 'people' },
    sections: [{ name: '', components: [{ serviceId: id, name: 'Checkout' }] }],
  })

test('C120 pausing shows Paused everywhere, deleting removes the component in the same transaction', async () => {
  const checkout = await site.addService('svc-1')
  const search = await site.addService('svc-2', { state: 'degraded' })
  const components = [
    { serviceId: checkout, name: 'Checkout' },
    { serviceId: search, name: 'Search' },
  ]
  const id = await site.addPage({ slug: 'example', title: 'Example', sections: [{ name: '', components }] })
  const before = await statesOf()

  await site.pause(checkout)
  site.renew()
  const paused = await statesOf()
  const [one] = (await statusOf()).sections[0]?.components ?? []
  const badge = (await get(`/s/example/badge/${one?.id}.svg`)).text
  await site.remove(checkout)
  const stored = await site.store.getStatusPage(id)
  site.renew()

  expect([before, paused, await statesOf()]).toEqual([
    { Checkout: 'operational', Search: 'degraded' },
    { Checkout: 'paused', Search: 'degraded' },
    { Search: 'degraded' },
  ])
  expect(badge).toContain('aria-label="Checkout: paused"')
  expect(stored.sections.flatMap(({ components }) => components.map(({ name }) => name))).toEqual(['Search'])
  expect((await get(`/s/example/badge/${one?.id}.svg`)).status).toBe(404)
})

test('a change of state is on the page a second later, and an unchanged page keeps its ETag', async () => {
  const checkout = await site.addService('svc-1')
  await addPage(checkout)
  const first = (await get('/s/example')).headers.etag
  site.setResults(checkout, { state: 'down' })
  site.clock.monotonicMs += 999
  const early = await statesOf()
  site.clock.monotonicMs += 1
  const later = await statesOf()
  const second = (await get('/s/example')).headers.etag
  site.clock.monotonicMs += 1_000
  const third = (await get('/s/example')).headers.etag

  expect([early, later]).toEqual([{ Checkout: 'operational' }, { Checkout: 'down' }])
  expect([second === first, third === second]).toEqual([false, true])
})

test('an incident appears within a second on page, feed and document, and changes the state of its component', async () => {
  const checkout = await site.addService('svc-1')
  await addPage(checkout)
  const before = await statesOf()

  const displayId = await site.addIncident({
    ...{ title: 'Cards are refused', serviceIds: [checkout], severity: 'major_outage' },
    updates: [
      [5, 'investigating', 'We are looking.'],
      [1, 'identified', 'A disk is full.'],
    ],
  })
  site.clock.monotonicMs += 1_000

  expect([before, await statesOf()]).toEqual([{ Checkout: 'operational' }, { Checkout: 'down' }])
  for (const path of ['', '/feed.atom', '/status.json', `/incidents/${displayId}`, '/history']) {
    const { status, text } = await get(`/s/example${path}`)
    expect([path, status, text.includes('Cards are refused'), text.includes('A disk is full.')]).toEqual([
      ...[path, 200, true, true],
    ])
  }
})

test('an open incident changes the state of its component although the page leaves it out, and says so', async () => {
  const checkout = await site.addService('svc-1')
  const search = await site.addService('svc-2')
  await site.addPage({
    ...{ slug: 'example', title: 'Example' },
    sections: [
      {
        name: '',
        components: [
          { serviceId: checkout, name: 'Checkout' },
          { serviceId: search, name: 'Search' },
        ],
      },
    ],
  })
  const open = (serviceId: string, severity: 'major_outage' | 'degraded_performance') =>
    site.addIncident({ title: 'x', serviceIds: [serviceId], severity, updates: [[1, 'investigating', 'x']] })
  await open(checkout, 'major_outage')
  for (let count = 0; count < 20; count += 1) await open(search, 'degraded_performance')

  const { incidents } = await statusOf()

  expect(incidents.map(({ display_id }) => display_id)).not.toContain('INC-1')
  expect(await statesOf()).toEqual({ Checkout: 'down', Search: 'degraded' })
  expect((await get('/s/example')).text).toContain('Older ones are in the <a href="/s/example/history">')
})

test('hidden incidents, those of other services and automatic ones are not shown, and change no component', async () => {
  const checkout = await site.addService('svc-1')
  const other = await site.addService('svc-2')
  const id = await addPage(checkout)
  const open = (title: string, serviceId: string) =>
    site.addIncident({
      ...{ title, serviceIds: [serviceId], severity: 'major_outage' },
      updates: [[1, 'investigating', 'x']],
    })
  const hidden = await open('To hide', checkout)
  const foreign = await open('Of another service', other)

  await site.store.changeStatusPage(id, { hide: [hidden] })
  site.renew()

  expect([(await statusOf()).incidents, await statesOf()]).toEqual([[], { Checkout: 'operational' }])
  expect((await get(`/s/example/incidents/${hidden}`)).status).toBe(404)
  expect((await get(`/s/example/incidents/${foreign}`)).status).toBe(404)
  await site.store.changeStatusPage(id, { show: [hidden] })
  site.renew()
  expect((await statusOf()).incidents.map(({ title }) => title)).toEqual(['To hide'])
  await site.store.changeStatusPage(id, { incidentsShown: 'none' })
  site.renew()
  expect((await statusOf()).incidents).toEqual([])
})

test.each([
  { incidentsShown: 'all', shown: ['by automation', 'by a person'] },
  { incidentsShown: 'people', shown: ['by a person'] },
  { incidentsShown: 'none', shown: [] },
] as const)(
  'a page set to show $incidentsShown names only those incidents in all its responses',
  async ({ incidentsShown, shown }) => {
    const checkout = await site.addService('svc-1')
    const id = await addPage(checkout)
    await site.store.changeStatusPage(id, { incidentsShown })
    const facts = { serviceIds: [checkout], severity: 'degraded_performance' } as const
    const displayIds = {
      'by automation': await site.addIncident({
        ...{ ...facts, title: 'Automatic', isAutomatic: true },
        updates: [[2, 'investigating', 'x']],
      }),
      'by a person': await site.addIncident({
        ...{ ...facts, title: 'Posted' },
        updates: [[1, 'investigating', 'y']],
      }),
    }
    site.clock.monotonicMs += 1_000

    const found = await Promise.all(
      ['', '/history', '/feed.atom', '/status.json'].map(async (path) => {
        const { text } = await get(`/s/example${path}`)
        return Object.entries(displayIds).flatMap(([by, displayId]) => (text.includes(displayId) ? [by] : []))
      }),
    )
    const single = await Promise.all(
      Object.entries(displayIds).map(async ([by, displayId]) => {
        const { status } = await get(`/s/example/incidents/${displayId}`)
        return status === 200 ? [by] : []
      }),
    )

    expect([...found, single.flat()]).toEqual(Array(5).fill(shown))
  },
)

test('a maintenance window begins and ends on the page on time, without a change in the store', async () => {
  const checkout = await site.addService('svc-1', { state: 'down' })
  await addPage(checkout)
  const at = (minutes: number) => new Date(site.clock.nowMs + minutes * 60_000).toISOString()
  const times = { startsAt: at(10), endsAt: at(20) }
  await site.store.createMaintenance(
    { id: crypto.randomUUID(), orgId: site.orgId, title: 'Move', serviceIds: [checkout], ...times },
    OPERATOR,
    site.clock.nowMs,
  )
  const states = [await statesOf()]
  for (const _ of [1, 2]) {
    site.clock.nowMs += 10 * 60_000
    site.clock.monotonicMs += 1_000
    states.push(await statesOf())
  }

  expect(states).toEqual([{ Checkout: 'down' }, { Checkout: 'maintenance' }, { Checkout: 'down' }])
})

test('the feed dates a maintenance window by its last change, so that readers notice new times', async () => {
  const checkout = await site.addService('svc-1')
  await addPage(checkout)
  const { nowMs } = site.clock
  const window = { id: crypto.randomUUID(), orgId: site.orgId, title: 'Move', serviceIds: [checkout] }
  const times = { startsAt: '2026-12-01T10:00:00.000Z', endsAt: '2026-12-01T11:00:00.000Z' }
  await site.store.createMaintenance({ ...window, ...times }, OPERATOR, nowMs)
  const later = { ...times, endsAt: '2026-12-01T12:00:00.000Z' }
  await site.store.changeMaintenance({ ...window, ...later }, OPERATOR, nowMs + 60_000)
  const { text } = await get('/s/example/feed.atom')

  expect(text.match(/<updated>[^<]*/g)).toEqual(Array(2).fill('<updated>2026-11-22T05:01:30.000Z'))
  expect(text).toContain('to 2026-12-01T12:00:00.000Z')
})

test('states stay for a minute while results are unavailable, and are unknown after that', async () => {
  const checkout = await site.addService('svc-1')
  await addPage(checkout)
  const states = [await statesOf()]
  site.breakResults = new ResultsBusyError('the thread ended')
  for (const ms of [20_000, 20_000, 20_000]) {
    site.clock.monotonicMs += ms
    states.push(await statesOf())
  }

  expect(states.map(({ Checkout }) => Checkout)).toEqual([
    ...['operational', 'operational', 'operational', 'unknown'],
  ])
})

test('a page is served at its slug and at its hosts, and hidden and unknown pages and hosts get the same response', async () => {
  const checkout = await site.addService('svc-1')
  const id = await addPage(checkout)
  await site.store.bindStatusHost(id, 'status.shop.example')
  const shop = { host: 'status.shop.example:443' }

  const bound = await get('/', shop)
  const found = [
    ...[bound, await get('/history', shop), await get('/s/example'), await get('/s/example/')],
    ...[await get('/s/example', shop), await get('/'), await get('/', { host: 'evil.example' })],
  ].map(({ status }) => status)
  await site.store.changeStatusPage(id, { isPublic: false })
  site.renew()
  const [hidden, unknown] = [await get('/s/example'), await get('/s/exampl3')]

  expect(found).toEqual([200, 200, 200, 200, 404, 404, 421])
  expect(bound.text).toContain('href="/history"')
  expect([hidden.status, hidden.text]).toEqual([404, unknown.text])
  expect((await get('/', shop)).status).toBe(421)
})

test('without a public address every host serves pages by slug alone', async () => {
  const plain = await startSampleSite()
  const id = await plain.addPage({ slug: 'example', title: 'Example', sections: [] })
  await plain.store.bindStatusHost(id, 'status.shop.example')
  const { request } = await import('undici')
  const statusAt = async (path: string) =>
    (await request(`${plain.url}${path}`, { headers: { host: 'status.shop.example' } })).statusCode

  expect([await statusAt('/s/example'), await statusAt('/')]).toEqual([200, 404])
  await plain.close()
})

test('responses are compressed, have an ETag, and are 304 for clients that have them', async () => {
  await addPage(await site.addService('svc-1'))
  const accepting = (encoding: string) => get('/s/example', { ...HOST, 'accept-encoding': encoding })
  const encodings = await Promise.all(
    ['gzip, br', 'gzip', 'br;q=0, gzip', 'identity'].map(
      async (encoding) => (await accepting(encoding)).headers['content-encoding'],
    ),
  )
  const { headers } = await accepting('br')
  const etag = String(headers.etag)
  const again = await get('/s/example', { ...HOST, 'if-none-match': `"x", ${etag}` })

  expect(encodings).toEqual(['br', 'gzip', 'gzip', undefined])
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
  expect(headers).toMatchObject({
    vary: 'accept-encoding',
    'cache-control': 'public, max-age=15, stale-while-revalidate=60, stale-if-error=300',
  })
})

test('only theme and month change a response, and a theme only that of pages and badges', async () => {
  await addPage(await site.addService('svc-1'))
  const textOf = async (path: string) => (await get(`/s/example${path}`)).text
  const plain = await textOf('')

  expect([await textOf('?theme=x&a=b'), (await textOf('?theme=dark')) === plain]).toEqual([plain, false])
  expect(await textOf('?theme=dark')).toContain('href="/s/example/history?theme=dark"')
  expect(await textOf('/badge.svg?theme=light')).not.toBe(await textOf('/badge.svg'))
  expect(await textOf('/status.json?theme=dark')).toBe(await textOf('/status.json'))
  const months = ['2026-11', '2026-12', '2026-10', '2026-13', 'x', '']
  const statuses = await Promise.all(months.map((month) => get(`/s/example/history?month=${month}`)))
  expect(statuses.map(({ status }) => status)).toEqual([200, 404, 404, 404, 404, 404])
})

test('every response has the security policy, only GET and HEAD are accepted, and no cookie is set', async () => {
  await addPage(await site.addService('svc-1'))
  const { request } = await import('undici')
  const paths = [
    '/s/example',
    '/s/example/feed.atom',
    '/s/example/badge.svg',
    '/nothing',
    '/assets/favicon.svg',
  ]
  const responses = await Promise.all([
    ...[...paths, '/%'].map((path) => get(path, { ...HOST, cookie: 'a=b' })),
    ...(['POST', 'DELETE', 'OPTIONS'] as const).map(async (method) => {
      const { statusCode, headers, body } = await request(`${site.url}/s/example`, {
        ...{ method, headers: HOST, body: method === 'POST' ? 'x'.repeat(100) : null },
      })
      return { status: statusCode, headers, text: await body.text() }
    }),
  ])

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 404, 200, 400, 405, 405, 405])
  for (const { headers } of responses) {
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    })
    expect(headers['set-cookie']).toBe(undefined)
  }
  const head = await request(`${site.url}/s/example`, { method: 'HEAD', headers: HOST })
  expect([head.statusCode, await head.body.text()]).toEqual([200, ''])
})

test('an unknown Expect gets 417 and the end of the connection', async () => {
  const request = 'GET /s/example HTTP/1.1\r\nHost: status.example.org\r\nExpect: cake\r\n\r\n'

  const response = await exchange(request)

  expect(response.split('\r\n').filter((line) => /^HTTP|^connection:/i.test(line))).toEqual([
    ...['HTTP/1.1 417 Expectation Failed', 'connection: close'],
  ])
})

test('a proxy may send the origin in the request line, and a host may end with a dot', async () => {
  await site.store.bindStatusHost(await addPage(await site.addService('svc-1')), 'status.shop.example')
  const statusOf = async (target: string, host: string) => {
    const response = await exchange(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    return response.split(' ', 2)[1]
  }

  expect([
    await statusOf('http://status.example.org/s/example', 'status.example.org'),
    await statusOf('http://status.shop.example', 'status.shop.example'),
    await statusOf('http://status.example.org/assets/favicon.svg', 'status.example.org'),
    await statusOf('/s/example', 'status.example.org.'),
    await statusOf('http://evil.example/s/example', 'status.example.org'),
  ]).toEqual(['200', '200', '200', '200', '421'])
})

test('a request with two hosts is malformed', async () => {
  await addPage(await site.addService('svc-1'))
  const response = await exchange(
    'GET /s/example HTTP/1.1\r\nHost: one.example\r\nHost: two.example\r\nConnection: close\r\n\r\n',
  )

  expect(response.split(' ', 2)[1]).toBe('400')
})

test('uptime is the same value on the page and in the document', async () => {
  const checkout = await site.addService('svc-1', {
    state: 'up',
    problems: { 0: { down: 720 }, 5: { down: 3_600 } },
  })
  await addPage(checkout)

  const document = JSON.parse((await get('/s/example/status.json')).text)
  expect(document.sections[0].components[0].uptime_90d).toBe(99.94)
  expect((await get('/s/example')).text).toContain('99.94 %')
})

test('uptime names its days while a component is young, and can be hidden with its days', async () => {
  const young = await site.addService('svc-1', { state: 'up', days: 2, problems: { 0: { down: 720 } } })
  const secret = await site.addService('svc-2', { state: 'down', problems: { 3: { down: 3_600 } } })
  const sections = [
    {
      name: '',
      components: [
        { serviceId: young, name: 'Checkout', text: 'Cards & <vouchers>' },
        { serviceId: secret, name: 'Search', showsUptime: false },
      ],
    },
  ]
  await site.addPage({ slug: 'example', title: 'Example', sections })
  const { text } = await get('/s/example')
  const [first, second] = JSON.parse((await get('/s/example/status.json')).text).sections[0].components

  expect(text).toContain('99.58 %<span class="wide"> uptime</span> over 2 days')
  expect(text).toContain('Cards &amp; &lt;vouchers&gt;')
  expect(text.match(/class="bar"/g)).toHaveLength(1)
  expect([first.text, first.uptime_90d, first.uptime_days]).toEqual(['Cards & <vouchers>', 99.58, 2])
  expect(second).toEqual({
    ...{ id: second.id, name: 'Search', text: '', state: 'down' },
    ...{ uptime_90d: null, uptime_days: 0, days: [] },
  })
})
