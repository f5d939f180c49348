import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { masterKeyOf } from '../domain/seal.ts'
import { browserApp } from '../http/pages/browserApp.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { runHere } from '../testing/commandHere.ts'
import { startServer } from '../testing/startServer.ts'
import { buildConsole } from './consoleListener.ts'
import { PasswordHasher } from './credentials/passwordHasher.ts'
import { PasswordThrottle } from './credentials/passwordThrottle.ts'
import { IncidentWatch } from './live/incidentWatch.ts'
import { LiveStreams } from './live/liveStreams.ts'
import { ServiceIndex } from './live/serviceIndex.ts'
import { consoleAddress } from './routing/requestRules.ts'
import { QUICK_HASH, startConsoleServer } from './testing/startConsoleServer.ts'

const server = await startConsoleServer()
afterAll(() => server.close())

/** The first line and the headers of the response to a request with the lines `head`. */
function headOf(head: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.consoleUrl).port), '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('close', () => resolve(text.split('\r\n\r\n', 1)[0] ?? ''))
    socket.on('error', reject)
    socket.write(`${[...head, 'Connection: close', '', ''].join('\r\n')}`)
  })
}

const HARDENED = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types pharos",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
}

test('every response has the security headers, refusals and redirects included', async () => {
  const { client, root, actions } = await server.signIn('viewer')
  const visitor = server.visitor()
  const responses = [
    await visitor.get('/login'),
    await visitor.get('/nowhere'),
    await visitor.get('/invite/x'),
    await visitor.post('/api/sessions', {}, {}),
    await visitor.post('/api/sessions', { password: 'x'.repeat(70_000) }),
    await visitor.get('/assets/none.css'),
    await client.get(`${root}/settings/organisation`),
    await client.get(`${root}/settings/keys`),
    await client.get(root),
    await client.post(`${actions}/keys`),
    await client.get('/me%'),
  ]
  const found = responses.map(({ headers }) => Object.keys(HARDENED).map((name) => headers.get(name)))

  expect(responses.map(({ status }) => status)).toEqual([
    ...[200, 404, 410, 403, 413, 404, 200, 403, 303, 403, 400],
  ])
  expect(found).toEqual(responses.map(() => Object.values(HARDENED)))
})

test('static files are cached by browsers for a year, under names that change with their content', async () => {
  const page = await server.visitor().get('/login')
  const names = [...page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  const files = await Promise.all([...new Set(names)].map((path) => server.visitor().get(path)))

  expect(files.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(files.map(({ headers }) => headers.get('cache-control'))).toEqual([
    ...['public, max-age=3600', 'public, max-age=31536000, immutable', 'public, max-age=31536000, immutable'],
  ])
})

test('a request for another host gets 421, whatever its path', async () => {
  const lines = ['evil.example', 'localhost', 'localhost:1', '127.0.0.1.evil.example']
  const heads = await Promise.all(lines.map((host) => headOf(['GET /login HTTP/1.1', `Host: ${host}`])))
  const own = await headOf(['GET /login HTTP/1.1', `Host: 127.0.0.1:${new URL(server.consoleUrl).port}`])

  expect(heads.map((head) => head.split('\r\n')[0])).toEqual(
    lines.map(() => 'HTTP/1.1 421 Misdirected Request'),
  )
  expect(own).toMatch(/^HTTP\/1\.1 200 /)
})

test('the console never reads the header Authorization, and the API never reads cookies', async () => {
  const { client } = await server.signIn('owner')
  const page = await server.visitor().get('/me', { authorization: `Bearer ${server.apiKey}` })
  const cookie = `__Host-pharos=${client.cookie('__Host-pharos')}`
  const api = await fetch(`${server.url}/v1/org`, { headers: { cookie } })

  expect([page.status, api.status]).toEqual([303, 401])
})

test("signing out ends the session in the database, and clears the browser's stored data", async () => {
  const { client, id } = await server.signIn('owner')
  const end = await client.post('/api/sessions/end')

  expect(end.headers.get('clear-site-data')).toBe('"cache"')
  expect(end.headers.getSetCookie()[0]).toBe(
    '__Host-pharos=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
  )
  expect(await server.store.sessionsOf(id, Date.now())).toEqual([])
})

test('a connection that requests more than sixteen pages without reading one is closed', async () => {
  const pagesReadOf = (count: number): Promise<number> =>
    new Promise((resolve) => {
      const { port } = new URL(server.consoleUrl)
      const socket = connect(Number(port), '127.0.0.1')
      const [ask, end] = [`GET /login HTTP/1.1\r\nHost: localhost:${port}\r\n`, 'Connection: close\r\n']
      let text = ''
      socket.on('data', (chunk) => {
        text += String(chunk)
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(text.split('HTTP/1.1 200').length - 1))
      socket.write(`${`${ask}\r\n`.repeat(count - 1)}${ask}${end}\r\n`)
    })

  expect(await pagesReadOf(16)).toBe(16)
  expect(await pagesReadOf(200)).toBeLessThan(200)
})

test('a form without a session gets its response before it is read, and slow clients have the timeouts of the API', async () => {
  const { port } = new URL(server.consoleUrl)
  const response = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('data', (chunk) => {
      resolve(String(chunk))
      socket.destroy()
    })
    socket.on('error', reject)
    const type = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n'
    const path = `/api/o/${server.orgId}/services`
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nSec-Fetch-Site: same-origin\r\n${type}\r\na=`,
    )
  })
  const app = browserApp(10, (reply) => reply)
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = app.server
  await app.close()

  expect(response).toMatch(/^HTTP\/1\.1 401 /)
  expect([headersTimeout, requestTimeout, keepAliveTimeout, timeout]).toEqual([
    10_000, 30_000, 72_000, 60_000,
  ])
})

test('a form with more fields than any page has is refused before they are parsed', async () => {
  const { client, actions } = await server.signIn('member')
  const fields = (count: number) => new URLSearchParams(Array(count).fill('a').join('&'))
  const responses = [await client.post(`${actions}/pages`, fields(3_000))]
  responses.push(await client.post(`${actions}/pages`, fields(3_001)))
  responses.push(await server.visitor().post('/api/sessions', fields(3_001)))

  expect(responses.map(({ status }) => status)).toEqual([422, 413, 413])
})

test('bodies that are not forms are refused', async () => {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const response = await fetch(`${server.consoleUrl}/api/sessions`, { method: 'POST', body: '{}', headers })

  expect(response.status).toBe(415)
})

test('a console that would be reachable without encryption does not start', async () => {
  await expect(startServer({ console: { url: 'http://console.example.org' } })).rejects.toThrow(
    'must be https',
  )
  const flags = ['--port', '0', '--console-port', '0', '--console-url', 'http://console.example.org']
  const run = await runHere(['serve', '--data-dir', `${server.dataDir}-other`, ...flags])

  expect([run.code, run.stderr.includes('must be https')]).toEqual([1, true])
})

test('behind https the responses require it, and the console responds only under its own name', async () => {
  const url = 'https://console.example.org'
  const { monotonicMs, environment } = { monotonicMs: () => 0, environment: systemEnvironment }
  const app = buildConsole({
    ...{ store: server.store, environment, monotonicMs, measurements: undefined, isBlocked: () => false },
    findMasterKey: () => masterKeyOf(Buffer.alloc(32)),
    passwords: new PasswordHasher(randomBytes, QUICK_HASH),
    throttle: new PasswordThrottle(monotonicMs),
    streams: new LiveStreams(),
    incidentWatch: new IncidentWatch({ store: server.store, environment }),
    index: new ServiceIndex({ store: server.store, measurements: undefined, monotonicMs }),
    consoleUrlOf: () => url,
    addressOf: () => consoleAddress(url, 0),
    ...{ proxies: 0, connectionsMax: 10, onError: () => {} },
  })
  const asked = async (host: string, path: string) =>
    app.inject({ method: 'GET', url: path, headers: { host } })
  const own = await asked('console.example.org', '/login')
  const local = await asked('localhost', '/login')
  await app.close()

  expect([own.statusCode, own.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
  expect(local.statusCode).toBe(421)
})
