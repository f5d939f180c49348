import { fastify } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpServer, startHttpServer } from '../controller/http/httpServer.ts'
import type { ControllerStatus, ServiceStatus, SetStatus } from '../controller/status/status.ts'
import { addDashboardRoutes, type DashboardOptions } from './dashboardRoutes.ts'
import { busyStatus } from './testing/busyStatus.ts'
import {
  SAMPLE_DRIFT,
  sampleCondition,
  sampleService,
  sampleSet,
  sampleStatus,
} from './testing/sampleStatus.ts'
import { writtenStatus } from './testing/writtenStatus.ts'

const OPTIONS: DashboardOptions = { publicUrl: null, hasApi: true, viewerOf: () => ({ kind: 'guest' }) }
const app = fastify()
let shown: ControllerStatus
addDashboardRoutes(app, () => shown, OPTIONS)
let server: HttpServer

beforeAll(async () => {
  server = await startHttpServer(
    { host: '127.0.0.1', port: 0 },
    (app) => addDashboardRoutes(app, busyStatus, OPTIONS),
    (error) => {
      throw error
    },
  )
})
afterAll(() => server.close())

/** Uses a new connection: during a long test the server closes an idle one, and the client notices that too late. */
async function fetched(path: string, method = 'GET'): Promise<Response> {
  const response = await fetch(`${server.url}${path}`, { method, headers: { connection: 'close' } })
  await response.arrayBuffer()
  return response
}

async function bodyOf(target: string, status: ControllerStatus): Promise<string> {
  shown = status
  return (await app.inject(target)).body
}

/** The tags of a page in order, with the names of their attributes and without their values. */
/** All tags but those that say only where a line may break, which depends on where addresses have slashes. */
function tagsOf(page: string): readonly string[] {
  return [...page.matchAll(/<[^>]*>/g)].flatMap(([tag]) =>
    tag === '<wbr>' ? [] : tag.replaceAll(/="[^"]*"/g, ''),
  )
}

/** The text of a page as a person reads it. */
function textOf(page: string): string {
  const text = page
    .replaceAll(/<(?:title|style)[\s\S]*?<\/(?:title|style)>|<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
  return text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => READ[entity] ?? entity)
}
const READ: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }

test('the page of a set shows its conditions, its differences, pending approvals and what to do', async () => {
  const page = textOf(await bodyOf('/sets/shop', busyStatus()))

  for (const said of [
    'Approval required since 5 minutes ago',
    '4 deletes are more than the 3 that one run may make',
    'The digest of these changes is a1b2c3d4e5f60718',
    'delete legacy-cart',
    '"$PHAROS_CONTROLLER/api/approve/a1b2c3d4e5f60718"',
    'Pharos-Approve: a1b2c3d4e5f60718',
    'services/invoices.yaml:14:9 spec.intervall is not a known field E_UNKNOWN_FIELD did you mean interval?',
    'interval 5m 30s changed outside git',
    'endpoints[0].headers.authorization (secret) (secret) replaced outside',
    '4f2c9d0e8b checkout: look every 30 seconds Ada , 20 minutes ago',
    'Last run 49 seconds ago on schedule: everything matches git 1 updated, 42 unchanged, 2 requests',
    'Next run in 12 seconds',
    '1 failed 1 drifted 4 pending 36 synced',
  ]) {
    expect(page).toContain(said)
  }
  const suspended = textOf(await bodyOf('/sets/search', busyStatus()))
  expect(suspended).toContain(
    'The whole set, since 1 day ago by ada : release week: nothing may move . It ends in 2 days ( 2026-01-16 10:00:00 UTC ).',
  )
  expect(suspended).toContain(
    'closed: allow "0 9 * * 1-5" for 8h, changes in 23 hours ( 2026-01-15 09:00:00 UTC )',
  )
})

test('a run with blocked changes does not claim that an approval would help', async () => {
  const set = sampleSet('shop', {
    conditions: [sampleCondition('ManifestsInvalid', 'the path does not exist')],
  })
  const { lastRun } = set
  if (lastRun === null) throw new Error('the sample has no run')
  const page = textOf(
    await bodyOf('/sets/shop', sampleStatus([{ ...set, lastRun: { ...lastRun, outcome: 'withheld' } }])),
  )

  expect(page).toContain('on schedule: some changes are blocked')
  expect(page).not.toContain('approv')
})

test('the overview lists the most urgent set first and sums up the status in one line', async () => {
  const page = await bodyOf('/', busyStatus())
  expect([...page.matchAll(/<section class="sheet" id="set-(\w+)"/g)].map(([, name]) => name)).toEqual([
    'shop',
    'search',
    'platform',
  ])
  expect(page).toContain('<title>1 of 3 sets needs attention · Pharos</title>')
  const stalled = sampleSet('shop', {
    conditions: [sampleCondition('Drifted', 'one'), sampleCondition('Stalled', 'x')],
  })
  const one = await bodyOf('/', sampleStatus([stalled]))
  expect(one).toContain('<title>shop needs attention · Pharos</title>')
  expect([...one.matchAll(/class="condition c-(\w+)"/g)].map(([, tone]) => tone)).toEqual(['bad', 'warn'])
  expect(await bodyOf('/', sampleStatus([sampleSet('shop')]))).toContain('<title>Every service matches git ·')
  expect(textOf(await bodyOf('/', sampleStatus([])))).toContain('There is no set in the configuration')
})

test('the first page of a replica claims nothing about sets that another one leads, or without a result', async () => {
  const titleOf = async (...sets: SetStatus[]): Promise<string | undefined> =>
    /<title>(.*) · Pharos</.exec(await bodyOf('/', sampleStatus(sets)))?.[1]
  const followed = (name: string) =>
    sampleSet(name, {
      ...{ role: 'follower', conditions: [sampleCondition('Following', 'green has the lease')] },
      ...{ services: [], commit: null, appliedCommit: null, lastRun: null, nextRunAt: null },
    })
  const starting = sampleSet('shop', {
    conditions: [sampleCondition('Reconciling', 'a run is in progress'), sampleCondition('Starting', 'x')],
  })
  const removing = sampleSet('shop', { services: [sampleService('old', { state: 'Removing' })] })

  expect([
    await titleOf(followed('shop')),
    await titleOf(followed('shop'), followed('search'), sampleSet('platform')),
    await titleOf(starting),
    await titleOf(starting, sampleSet('search')),
    await titleOf(removing),
  ]).toEqual([
    'shop is led by another replica',
    '2 of 3 sets are led by another replica',
    'shop has no result yet',
    '1 of 2 sets has no result yet',
    'Nothing is wrong; some changes wait',
  ])
  const table = textOf(await bodyOf('/', sampleStatus([followed('shop'), followed('search')])))
  expect(table).not.toMatch(/match git|none|not planned/)
  const page = textOf(await bodyOf('/sets/shop', sampleStatus([followed('shop')])))
  expect(page).toContain('Only the leader knows them.')
  expect(page).not.toMatch(/0 services|none read yet|not planned|since this program started/)
})

test('text from a manifest, a commit or a service is escaped on every page', async () => {
  for (const target of ['/', '/sets/shop', '/badge/shop.svg']) {
    const calm = tagsOf(await bodyOf(target, writtenStatus('x')))
    expect(calm.length).toBeGreaterThan(5)
    for (const text of [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      "' onmouseover='alert(1)",
      '</title></svg></style><h1>',
      '<!-- ]]> &lt;b&gt;',
      '\u202e\u0000\ud800',
    ]) {
      const page = await bodyOf(target, writtenStatus(text))
      expect(tagsOf(page)).toEqual(calm)
      expect(page).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cs}\u202e]/u)
    }
  }
  expect(textOf(await bodyOf('/', writtenStatus('<b>&amp;')))).toContain('<b>&amp;')
})

test('neither a secret nor its fingerprint is on a page or in the JSON', async () => {
  const secret: ServiceStatus['fields'][number] = {
    pointer: '/endpoints/0/call/Http/headers/authorization',
    from: { sealed: 'CANARY-key-id' },
    to: { sealed: 'CANARY-v1:hmac' },
    reason: 'secret',
  }
  const whole: ServiceStatus['fields'][number] = {
    pointer: '/endpoints/1',
    from: undefined,
    to: { call: { Http: { body: { sealed: 'CANARY-body' } } } },
    reason: 'git',
  }
  const status = sampleStatus([
    sampleSet('shop', {
      services: [sampleService('a', { state: 'Pending', fields: [secret, whole, SAMPLE_DRIFT] })],
    }),
  ])
  for (const target of ['/', '/sets/shop', '/status.json', '/badge/shop.svg'])
    expect(await bodyOf(target, status)).not.toContain('CANARY')
  expect(textOf(await bodyOf('/', status))).toContain('(secret) (secret) changed secret changed in git')
  expect(JSON.parse(await bodyOf('/status.json', status)).sets[0].services[0].fields[0]).toEqual({
    pointer: secret.pointer,
    path: 'endpoints[0].headers.authorization',
    from: { sealed: true },
    to: { sealed: true },
    reason: 'secret',
  })
})

test('the JSON is the complete status', async () => {
  const status = busyStatus()
  const document = JSON.parse(await bodyOf('/status.json', status))

  expect(Object.keys(document)).toEqual(Object.keys(status))
  expect(document.sets.map((set: object) => Object.keys(set))).toEqual(
    status.sets.map((set) => Object.keys(set)),
  )
  expect(document.sets[1].services).toHaveLength(42)
})

test('Scenario 54: ten thousand services make no larger page than a hundred, and each of them is reachable', async () => {
  const many = (count: number, over: Partial<ServiceStatus> = {}): ControllerStatus =>
    sampleStatus([
      sampleSet('shop', {
        services: Array.from({ length: count }, (_, index) => sampleService(`s-${index}`, over)),
      }),
    ])
  const healthy = many(10_000)
  expect(Buffer.byteLength(await bodyOf('/', healthy))).toBeLessThan(8_000)
  expect(Buffer.byteLength(await bodyOf('/sets/shop', healthy))).toBeLessThan(40_000)

  const fields = Array.from({ length: 60 }, () => ({
    pointer: `/endpoints/0/call/Http/headers/${'<'.repeat(1_000)}`,
    from: { plain: '<'.repeat(1_000) },
    to: null,
    reason: 'drift' as const,
  }))
  const broken = many(10_000, {
    state: 'Failed',
    message: '<'.repeat(10_000),
    todo: '<'.repeat(10_000),
    fields,
  })
  const worst = Buffer.byteLength(await bodyOf('/', broken))
  expect(worst).toBeLessThan(2_500_000)
  expect(
    Math.abs(worst - Buffer.byteLength(await bodyOf('/', many(200, broken.sets[0]?.services[0])))),
  ).toBeLessThan(2_000)

  const keysOn = async (page: number): Promise<readonly string[]> =>
    [...(await bodyOf(`/sets/shop?page=${page}`, healthy)).matchAll(/class="key">([^<]+)</g)].map(
      ([, key]) => key ?? '',
    )
  const all: string[] = []
  for (let page = 1; page <= 100; page += 1) all.push(...(await keysOn(page)))
  expect(new Set(all).size).toBe(10_000)
  expect(await keysOn(101)).toEqual(await keysOn(100))
  expect(await keysOn(-1)).toEqual(await keysOn(1))
})

test('of many sets, healthy ones appear only in the table, and the others are shown in full', async () => {
  const odd = sampleSet('odd', { conditions: [sampleCondition('Drifted', 'one was changed outside git')] })
  const sets = [...['a', 'b', 'c', 'd'].map((name) => sampleSet(name)), odd]
  const page = await bodyOf('/', sampleStatus(sets))

  expect([...page.matchAll(/<section class="sheet" id="set-(\w+)"/g)].map(([, name]) => name)).toEqual([
    'odd',
  ])
  expect(textOf(page)).toContain('The other 4 sets in the table have pages of their own.')
  expect(page).toContain('<a href="sets/a">')
  const few = await bodyOf('/', sampleStatus(sets.slice(2)))
  expect([...few.matchAll(/id="set-(\w+)"/g)].map(([, name]) => name)).toEqual(['odd', 'c', 'd'])
})

test('a page can be filtered by one state, and its automatic refresh can be stopped', async () => {
  const page = await bodyOf('/sets/shop?state=Drifted&refresh=off', busyStatus())
  expect([...page.matchAll(/class="key">([^<]+)</g)].map(([, key]) => key)).toEqual(['checkout'])
  expect(page).not.toContain('http-equiv="refresh"')
  expect(page).toContain('<a href="shop?state=Drifted">refresh again</a>')
  expect(await bodyOf('/sets/shop', busyStatus())).toContain('<meta http-equiv="refresh" content="30">')
})

test('every response forbids scripts, frames and content from other origins', async () => {
  for (const path of [
    '/',
    '/sets/shop',
    '/style.css',
    '/favicon.svg',
    '/status.json',
    '/badge/shop.svg',
    '/badge/no.svg',
  ]) {
    const { headers } = await fetched(path)
    expect([path, headers.get('content-security-policy')]).toEqual([
      path,
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    // A form of a page without any referrer would be sent with `Origin: null`.
    const isPage = headers.get('content-type')?.startsWith('text/html') === true
    expect(headers.get('referrer-policy')).toBe(isPage ? 'same-origin' : 'no-referrer')
  }
})

test('an unknown page or badge is 404, and only GET and HEAD are accepted', async () => {
  const status = async (path: string, method = 'GET') => {
    const response = await fetched(path, method)
    return [response.status, response.headers.get('content-type')]
  }
  expect(await status('/sets/shop')).toEqual([200, 'text/html; charset=utf-8'])
  expect(await status('/sets/shop', 'HEAD')).toEqual([200, 'text/html; charset=utf-8'])
  expect(await status('/sets/%73hop')).toEqual([200, 'text/html; charset=utf-8'])
  expect(await status('/badge/shop.svg')).toEqual([200, 'image/svg+xml; charset=utf-8'])
  expect(await status('/badge/no.svg')).toEqual([404, 'image/svg+xml; charset=utf-8'])
  expect(await status('/badge/shop')).toEqual([404, 'application/json; charset=utf-8'])
  expect(await status('/sets/no')).toEqual([404, 'text/html; charset=utf-8'])
  expect(await bodyOf('/sets/no', busyStatus())).toContain('<a href="../">All sets</a>')
  expect(await status('/', 'POST')).toEqual([405, 'application/json; charset=utf-8'])
  expect(await status('/metrics')).toEqual([404, 'application/json; charset=utf-8'])
  expect(await status('/sets/%E0')).toEqual([404, 'application/json; charset=utf-8'])
})

test('a service links to its manifest on a known git host, and names it otherwise', async () => {
  const set = sampleSet('shop', { services: [sampleService('checkout')] })
  const hosted = { ...set, source: { ...set.source, repository: 'git@github.com:example/shop.git' } }
  const link = `<a href="https://github.com/example/shop/blob/${set.commit?.sha}/services/checkout.yaml" rel="noreferrer">`

  expect(await bodyOf('/sets/shop', sampleStatus([hosted]))).toContain(
    `${link}<bdi>services/checkout.yaml</bdi></a>`,
  )
  expect(await bodyOf('/sets/shop', sampleStatus([set]))).toContain(
    'mono"><bdi>services/checkout.yaml</bdi></span>',
  )
})
