import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StateError } from '../../state/model/stateError.ts'
import type { HookConfig } from '../config/controllerSchema.ts'
import { type WrongRequests, wrongRequests } from './addressLimit.ts'
import { type ActionResult, addApiRoutes } from './apiRoutes.ts'
import { addHookRoute, type HookResult } from './hookRoute.ts'
import { type HttpServer, startHttpServer } from './httpServer.ts'

const SECRETS = ['the-first-secret', 'the-second-secret']
const TOKEN = 'the-token-of-the-api'
const AT = { host: '127.0.0.1', port: 0 }

let server: HttpServer
let triggered: string[]
let results: HookResult[]
let faults: unknown[]
let nowMs: number
let wrong: WrongRequests
let requests: unknown[]
let isStateUnavailable: boolean
beforeEach(async () => {
  triggered = []
  results = []
  faults = []
  requests = []
  isStateUnavailable = false
  nowMs = 0
  const kinds = ['github', 'gitlab', 'generic'] as const
  wrong = wrongRequests(() => nowMs)
  const noted = async (...request: readonly unknown[]): Promise<ActionResult> => {
    requests.push(request)
    return { done: { accepted: true } }
  }
  server = await startHttpServer(
    AT,
    (app) => {
      addHookRoute(app, {
        hooks: kinds.map((kind) => ({ source: kind, kind, secrets: SECRETS })),
        sets: [
          { name: 'shop', branch: 'main', addresses: ['git@git.example.com:shop/monitoring.git'] },
          { name: 'next', branch: 'next', addresses: ['https://git.example.com/shop/monitoring'] },
        ],
        trigger: async (set) => {
          if (isStateUnavailable) throw new StateError('the state is away')
          triggered.push(set)
        },
        wrong,
        onResult: (_source, result) => results.push(result),
      })
      addApiRoutes(app, {
        token: TOKEN,
        wrong,
        run: async (set) =>
          set === 'shop' ? { done: { set, queued: true } } : { status: 404, error: 'there is no such set' },
        approve: noted,
        suspend: noted,
        resume: noted,
        acknowledgeHistory: noted,
      })
      app.get('/fault', () => {
        throw new Error('unforeseen')
      })
      app.get<{ Params: { name: string } }>('/echo/:name', ({ params, url }) => ({ ...params, url }))
    },
    (error) => faults.push(error),
  )
})
afterEach(() => server.close())

function hmac(body: string | Buffer, secret = SECRETS[0] ?? ''): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

const PUSH = JSON.stringify({ ref: 'refs/heads/main', after: 'f'.repeat(40) })

async function hook(source: string, body: string | Buffer, headers: Record<string, string>) {
  const response = await fetch(`${server.url}/hooks/${source}`, { method: 'POST', body, headers })
  return { status: response.status, ...JSON.parse(await response.text()) }
}

function proof(
  kind: HookConfig['kind'],
  body: string | Buffer,
  secret = SECRETS[0] ?? '',
): Record<string, string> {
  switch (kind) {
    case 'github':
      return { 'X-Hub-Signature-256': `sha256=${hmac(body, secret)}`, 'X-GitHub-Event': 'push' }
    case 'gitlab':
      return { 'X-Gitlab-Token': secret }
    case 'generic':
      return { 'X-Signature': `sha256=${hmac(body, secret)}` }
  }
}

test('a push that could not be handed to the leader is refused, and accepted when it is sent again', async () => {
  const headers = { ...proof('github', PUSH), 'X-GitHub-Delivery': 'one' }
  isStateUnavailable = true
  expect(await hook('github', PUSH, headers)).toEqual({
    status: 503,
    error: 'the leading replica could not be notified: the state is away',
  })
  isStateUnavailable = false

  expect(await hook('github', PUSH, headers)).toMatchObject({ status: 202, queued: ['shop'] })
  expect(results).toEqual(['failed', 'queued'])
})

test.each([
  ['github', PUSH],
  ['gitlab', PUSH],
  ['generic', PUSH],
] as const)(
  'Scenario 25: a push reported by %s queues the sets of its branch, with either of two secrets and no other',
  async (kind, body) => {
    const [first = '', second = ''] = SECRETS
    expect(await hook(kind, body, proof(kind, body, first))).toEqual({
      status: 202,
      source: kind,
      queued: ['shop'],
    })
    expect((await hook(kind, body, proof(kind, body, second))).status).toBe(202)
    expect(triggered).toEqual(['shop', 'shop'])

    expect((await hook(kind, body, proof(kind, body, 'another-secret-yet'))).status).toBe(401)
    expect((await hook(kind, body, {})).status).toBe(401)
    if (kind !== 'gitlab') expect((await hook(kind, `${body} `, proof(kind, body))).status).toBe(401)
    expect([triggered.length, results]).toEqual([
      2,
      ['queued', 'queued', ...results.slice(2).map(() => 'refused')],
    ])
  },
)

test('Scenario 25: pushes of another branch, a tag, a replay and an unknown source queue nothing, and the response says why', async () => {
  const signed = (body: string) => ({ ...proof('github', body), 'X-GitHub-Delivery': hmac(body) })
  const tell = (ref: string) => {
    const body = JSON.stringify({ ref })
    return hook('github', body, signed(body))
  }
  expect(await tell('refs/heads/other')).toEqual({
    status: 200,
    source: 'github',
    queued: [],
    reason: 'no set follows a branch that was pushed to',
  })
  expect((await tell('refs/tags/main')).queued).toEqual([])
  expect((await tell('refs/heads/next')).queued).toEqual(['next'])
  expect(await tell('refs/heads/next')).toMatchObject({
    status: 200,
    queued: [],
    reason: 'this delivery was already processed',
  })
  expect(await hook('unknown', PUSH, {})).toMatchObject({ status: 404 })
  expect((await hook('generic', 'no json', proof('generic', 'no json'))).queued).toEqual(['shop', 'next'])
  expect((await hook('github', 'no json', proof('github', 'no json'))).queued).toEqual([])
})

test.each([
  ['github', { clone_url: 'https://git.example.com/shop/monitoring.git' }, ['shop']],
  ['github', { ssh_url: 'ssh://git@GIT.example.com:2222/Shop/monitoring' }, ['shop']],
  ['github', { html_url: 'https://git.example.com/shop/monitoring/' }, ['shop']],
  ['github', { clone_url: 'https://git.example.com/shop/other.git' }, []],
  ['github', { clone_url: 'https://git.example.org/shop/monitoring.git' }, []],
  ['github', { full_name: 'names/no-address' }, ['shop']],
  ['gitlab', { git_ssh_url: 'git@git.example.com:shop/monitoring.git' }, ['shop']],
  ['gitlab', { git_http_url: 'https://git.example.com/shop/monitoring-2.git' }, []],
  ['generic', 'https://git.example.com/shop/monitoring', ['shop']],
  ['generic', 'https://git.example.com/shop/other', []],
] as const)('a push event of %s for the repository %j queues %j', async (kind, repository, queued) => {
  const body = JSON.stringify({ ref: 'refs/heads/main', repository })

  const response = await hook(kind, body, proof(kind, body))

  expect([response.queued, triggered]).toEqual([queued, queued])
  expect(response.reason).toBe(
    queued.length > 0
      ? undefined
      : 'no set that follows this branch has this repository: add its address to "url" or "aliases" of the set',
  )
})

test('a push event of a GitLab project queues the sets of that repository', async () => {
  const gitlab = (url: string) => JSON.stringify({ ref: 'refs/heads/main', project: { git_http_url: url } })
  const tell = async (body: string) => (await hook('gitlab', body, proof('gitlab', body))).queued
  const [ours, other] = ['https://git.example.com/shop/monitoring', 'https://git.example.com/shop/other']

  expect(await tell(gitlab(ours))).toEqual(['shop'])
  expect(await tell(gitlab(other))).toEqual([])
})

test.each(['github', 'generic'] as const)(
  'a push event of %s in a form is read like one in JSON',
  async (kind) => {
    const form = (ref: string) => String(new URLSearchParams({ payload: JSON.stringify({ ref }) }))
    const [followed, other] = [form('refs/heads/main'), form('refs/heads/other')]
    expect((await hook(kind, followed, proof(kind, followed))).queued).toEqual(['shop'])
    expect((await hook(kind, other, proof(kind, other))).queued).toEqual([])
  },
)

test('a GitLab event caused by another event is no replay, and one that is sent again is', async () => {
  const tell = (key: string) =>
    hook('gitlab', PUSH, {
      ...proof('gitlab', PUSH),
      'X-Gitlab-Event-UUID': 'of both',
      'Idempotency-Key': key,
    })
  expect([(await tell('a')).queued, (await tell('b')).queued, (await tell('a')).queued]).toEqual([
    ['shop'],
    ['shop'],
    [],
  ])
})

test('Scenario 25: a body of 30 MB is refused before it is read', async () => {
  const huge = Buffer.alloc(30 * 1024 * 1024, 'x')

  const status = await new Promise((resolve, reject) => {
    const outgoing = request(
      `${server.url}/hooks/github`,
      { method: 'POST', headers: { ...proof('github', ''), 'Content-Length': huge.length } },
      (response) => resolve(response.statusCode),
    )
    outgoing.on('error', reject)
    outgoing.write(huge.subarray(0, 10))
  })

  expect(status).toBe(413)
})

test('Scenario 25: a body without a length is refused as soon as it is too large, and one within the limit is accepted', async () => {
  const send = (bytes: number) => {
    const body = Buffer.alloc(bytes, ' ')
    return new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...proof('generic', body), 'Transfer-Encoding': 'chunked' }
      const outgoing = request(`${server.url}/hooks/generic`, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  expect(await send(25 * 1024 * 1024)).toBe(202)
  expect(await send(25 * 1024 * 1024 + 1)).toBe(413)
})

test('Scenario 25: an address may send a burst of ten invalid requests, and ten a second', () => {
  let clockMs = 0
  const { count } = wrongRequests(() => clockMs)
  const passed = (address: string, times: number): number =>
    Array.from({ length: times }, () => count(address)).filter(Boolean).length

  expect([passed('garbage', 1_000), passed('another', 1)]).toEqual([10, 1])
  clockMs = 1_000
  expect(passed('garbage', 1_000)).toBe(10)
  clockMs = 0
  expect(passed('garbage', 1)).toBe(0)
})

test('valid requests are not refused because of invalid ones of others behind the same proxy', async () => {
  const garbage = () => hook('github', PUSH, proof('github', PUSH, 'another-secret-yet'))
  const statuses = []
  for (let sent = 0; sent < 12; sent += 1) statuses.push((await garbage()).status)
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
  expect((await hook('unknown', PUSH, {})).status).toBe(429)
  const run = async (token: string) =>
    (
      await fetch(`${server.url}/api/sets/shop/run`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
      })
    ).status

  expect((await hook('github', PUSH, proof('github', PUSH))).queued).toEqual(['shop'])
  expect([await run('wrong'), await run(TOKEN)]).toEqual([429, 202])
  // A large body is read to its end before it shows: that is not done for an address that only sent wrong ones.
  const large = Buffer.alloc(2 * 1024 * 1024, ' ')
  expect((await hook('generic', large, proof('generic', large))).status).toBe(429)
  nowMs = 1_000
  expect((await hook('generic', large, proof('generic', large))).status).toBe(202)
})

/** Announces a body of 20 MB and sends the first bytes of it; the status, or the error where the connection broke. */
function announced(url: string, first: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Length': 20e6 }
    const outgoing = request(url, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    outgoing.on('error', reject)
    outgoing.write(Buffer.alloc(first))
  })
}

function takesBodies(app: FastifyInstance): void {
  app.post('/', { bodyLimit: 25e6 }, ({ body }) => [Buffer.isBuffer(body) && body.length])
}

test('a slow sender of a large body does not block others, and at most four stalled large bodies are read', async () => {
  const slow = await startHttpServer(AT, takesBodies, (error) => faults.push(error))
  const dribbles = Array.from({ length: 8 }, () => announced(slow.url, 10).catch(() => 'cut'))
  const send = (bytes: number) => fetch(slow.url, { method: 'POST', body: Buffer.alloc(bytes) })

  const large = await send(20e6)
  expect([large.status, await large.json()]).toEqual([200, [20e6]])
  const stalled = Array.from({ length: 5 }, () => announced(slow.url, 2e6).catch(() => 'cut'))
  expect(await Promise.race(stalled)).toBe(503)

  await slow.close()
  expect(await Promise.all(dribbles)).toEqual(Array(8).fill('cut'))
  expect((await Promise.all(stalled)).sort()).toEqual([503, 'cut', 'cut', 'cut', 'cut'])
  expect(faults).toEqual([])
})

test('large bodies behind a pending response end with their connection, and block no others', async () => {
  let bytes = 0
  const bodies = await startHttpServer(
    AT,
    (app) => {
      takesBodies(app)
      app.get('/pending', () => new Promise(() => {}))
      const preParsing = async (_request: unknown, _reply: unknown, body: Readable) =>
        body.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
      app.post('/held', { bodyLimit: 25e6, preParsing }, () => ({}))
    },
    (error) => faults.push(error),
  )
  const pending = 'GET /pending HTTP/1.1\r\nHost: x\r\n\r\n'
  const held = 'POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n'
  const lost = Array.from({ length: 4 }, () => connect(Number(new URL(bodies.url).port)))
  for (const socket of lost) socket.write(`${pending}${held}${' '.repeat(2e6)}`)
  await expect.poll(() => bytes).toBe(8e6)
  const send = () => fetch(bodies.url, { method: 'POST', body: Buffer.alloc(2e6) })

  const before = await send()
  for (const socket of lost) socket.destroy()

  expect(before.status).toBe(503)
  await expect.poll(async () => (await send()).status).toBe(200)
  await bodies.close()
})

test('a request that does not arrive in time gets 408, and makes room for others', async () => {
  const timeouts = { requestMs: 1_000, checkMs: 50 }
  const slow = await startHttpServer(AT, takesBodies, (error) => faults.push(error), timeouts)
  const stalled = Array.from({ length: 4 }, () => announced(slow.url, 2e6))

  expect(await Promise.all([announced(slow.url, 10), ...stalled])).toEqual(Array(5).fill(408))
  await expect
    .poll(async () => (await fetch(slow.url, { method: 'POST', body: Buffer.alloc(2e6) })).status)
    .toBe(200)
  await slow.close()
})

test('a new connection takes the place of the oldest one when 256 are open', async () => {
  const { hostname, port } = new URL(server.url)
  const silent = Array.from({ length: 256 }, () => connect({ host: hostname, port: Number(port) }))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))

  const response = await fetch(`${server.url}/echo/a`)

  expect(response.status).toBe(200)
  await expect.poll(() => silent.filter(({ closed }) => closed)).toEqual([silent[0]])
  for (const socket of silent) socket.destroy()
})

test('the API accepts only the configured token, and reports a missing one', async () => {
  const post = async (path: string, body: string, token = TOKEN) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      body,
      headers: { Authorization: `Bearer ${token}` },
    })
    return [response.status, await response.json()]
  }
  expect(await post('/api/sets/shop/run', '', 'wrong')).toEqual([
    401,
    { error: 'Authorization: Bearer TOKEN is missing or wrong' },
  ])
  expect(await post('/api/sets/shop/run', '')).toEqual([202, { set: 'shop', queued: true }])
  expect(await post('/api/sets/shp/run', '')).toEqual([404, { error: 'there is no such set' }])
  expect((await post('/api/sets/shop/suspend', '{}'))[0]).toBe(400)
  expect((await post('/api/sets/shop/suspend', '{"reason": "release", "for": "soon"}'))[0]).toBe(400)
  expect((await post('/api/sets/shop/suspend', '{"reason": "release", "for": "9999999999h"}'))[0]).toBe(400)
  expect((await post('/api/sets/shop/suspend', '[]'))[0]).toBe(400)
  expect(await post('/api/sets/shop/suspend', '{"reason": "release", "until": "2h"}')).toEqual([
    400,
    { error: 'until is not a known field: known are reason, actor and for' },
  ])
  expect(
    (await post('/api/sets/shop/suspend', '{"reason": "release", "actor": "ada", "for": "2h"}'))[0],
  ).toBe(202)
  await post('/api/approve/0123456789abcdef', '{"actor": "ada"}')
  await post('/api/sets/shop/resume', '')
  await post('/api/sets/shop/acknowledge-history', '')
  expect(requests).toEqual([
    ['shop', 'release', 'ada', 7_200_000],
    ['0123456789abcdef', 'ada'],
    ['shop', 'api'],
    ['shop', 'api'],
  ])
})

test('a request in flight when the listener closes gets a response', async () => {
  let asked = (): void => {}
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  let respond = (): void => {}
  const mayRespond = new Promise<void>((resolve) => {
    respond = resolve
  })
  const closing = await startHttpServer(
    AT,
    (app) =>
      app.get('/metrics', async () => {
        asked()
        await mayRespond
        return {}
      }),
    (error) => faults.push(error),
  )
  const scraped = fetch(`${closing.url}/metrics`)
  await isAsked

  const closed = closing.close()
  respond()

  expect((await scraped).status).toBe(200)
  await closed
  await expect(fetch(`${closing.url}/metrics`)).rejects.toThrow()
})

test('a browser gets a refusal as a page, with a link to the first page that works below any path', async () => {
  const get = async (path: string) => {
    const response = await fetch(`${server.url}${path}`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    const text = await response.text()
    const found = /<h1>(.*?)<\/h1>.*<a href="(.*?)">/s.exec(text)?.slice(1)
    return [response.status, response.headers.get('content-type'), found]
  }
  const type = 'text/html; charset=utf-8'

  expect(await get('/nowhere?q=/')).toEqual([404, type, ['Not found', './']])
  expect(await get('/echo/%E0')).toEqual([404, type, ['Not found', '../']])
  expect(await get('/api/sets/shop/run')).toEqual([405, type, ['Method not allowed', '../../../']])
})

test('paths, methods and names are matched exactly, and an unexpected error reveals nothing', async () => {
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`${server.url}${path}`, { method })
    return [response.status, response.headers.get('allow'), await response.text()]
  }
  expect(await get('/echo/a%2Fb?q=1')).toEqual([200, null, '{"name":"a/b","url":"/echo/a%2Fb?q=1"}\n'])
  expect(await get('/echo/a', 'HEAD')).toEqual([200, null, ''])
  expect((await fetch(`${server.url}/echo/a`)).headers.get('connection')).toBe('keep-alive')
  expect(await get('/echo/%E0')).toEqual([404, null, '{"error":"not found"}\n'])
  expect(await get('/echo')).toEqual([404, null, '{"error":"not found"}\n'])
  expect(await get('/hooks/github')).toEqual([405, 'POST', '{"error":"method not allowed"}\n'])
  expect(await get('/fault')).toEqual([500, null, '{"error":"internal error"}\n'])
  expect(faults).toHaveLength(1)
})
