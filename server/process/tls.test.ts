import { X509Certificate } from 'node:crypto'
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Agent } from 'undici'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import {
  testAuthority,
  type ServerCertificate,
  type TestAuthority,
} from '../../monitoring/check/testing/certificates.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { freePort } from '../testing/freePort.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'

const WAIT = { timeout: 60_000, interval: 50 }

let authority: TestAuthority
const folder = suiteFolder()
let files: { readonly certFile: string; readonly keyFile: string }
let server: TestServer
let client: Agent
beforeAll(async () => {
  authority = testAuthority()
  files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
  put(authority.valid)
  const port = await freePort()
  server = await startServer({
    ...{ engine: 'sqlite', rateLimit: 'none', isPlain: false, isMonitoring: true, tls: files, status: {} },
    console: { url: `https://localhost:${port}`, port },
  })
  client = new Agent({ connect: { ca: authority.authorities } })
})
afterAll(async () => {
  await client.close()
  await server.close()
})

/** Replaces both files, each at once. */
function put({ cert, key }: ServerCertificate): void {
  for (const [file, text] of [
    [files.certFile, cert],
    [files.keyFile, key],
  ] as const) {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
}

const listeners = () => [server.url, server.adminUrl, server.agentUrl, server.statusUrl, server.consoleUrl]
const fingerprintOf = ({ cert }: ServerCertificate) => new X509Certificate(cert).fingerprint256

/** The certificate that a new connection gets. */
function shownBy(url: string): Promise<string | undefined> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}
const shown = async () => [...new Set(await Promise.all(listeners().map(shownBy)))]

test('each listener uses TLS with the certificate', async () => {
  const api = apiClient(server.url, server.apiKey)
  const response = await api.get('/v1/org', { dispatcher: client })
  const statuses = await Promise.all(
    [
      `${server.adminUrl}/healthz`,
      `${server.agentUrl}/`,
      `${server.statusUrl}/none`,
      `${server.consoleUrl}/login`,
    ].map(async (url) => {
      const found = await client.request({
        origin: new URL(url).origin,
        path: new URL(url).pathname,
        method: 'GET',
      })
      await found.body.dump()
      return found.statusCode
    }),
  )

  expect(response.status).toBe(200)
  expect(statuses).toEqual([200, 404, 404, 200])
  expect(listeners().every((url) => url.startsWith('https://'))).toBe(true)
  expect(await shown()).toEqual([fingerprintOf(authority.valid)])
})

test('a client without TLS gets no response, and does not disturb the listener', async () => {
  const { port } = new URL(server.url)
  const received = await new Promise<string>((resolve) => {
    let text = ''
    const socket = connectPlain(Number(port), '127.0.0.1', () =>
      socket.write('GET /v1/org HTTP/1.1\r\nHost: x\r\n\r\n'),
    )
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })

  expect(received).not.toContain('200 OK')
  const again = await apiClient(server.url, server.apiKey).get('/v1/org', { dispatcher: client })
  expect(again.status).toBe(200)
})

test('new certificate files are used at once, and invalid ones are not', async () => {
  const api = apiClient(server.url, server.apiKey)
  await api.get('/v1/org', { dispatcher: client })
  put(authority.incomplete)
  await vi.waitUntil(async () => (await shown()).join() === fingerprintOf(authority.incomplete), WAIT)
  // An earlier connection continues.
  const kept = await api.get('/v1/org', { dispatcher: client })
  const before = server.logged().length
  const complaints = () =>
    server.logged().slice(before).split('the new certificate cannot be used').length - 1
  writeFileSync(files.certFile, 'nothing')
  await vi.waitUntil(() => complaints() > 0, WAIT)
  const whileBroken = await shown()
  // Every listener has looked once more.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const complaintsMade = complaints()
  put(authority.valid)
  await vi.waitUntil(async () => (await shown()).join() === fingerprintOf(authority.valid), WAIT)

  expect(kept.status).toBe(200)
  expect(whileBroken).toEqual([fingerprintOf(authority.incomplete)])
  expect(complaintsMade).toBe(1)
  expect(server.logged()).not.toContain('PRIVATE KEY')
})

test.each([
  [['--admin-tls', 'on'], '--admin-tls on needs --tls-cert'],
  [['--tls-cert', 'CERT'], '--tls-cert and --tls-key belong together'],
  [['--tls-cert', 'CERT', '--tls-key', 'OTHER'], 'are not a certificate and its key'],
  [['--tls-cert', 'CERT', '--tls-key', 'missing'], 'there is no missing'],
  [['--tls-cert', 'CERT', '--tls-key', 'KEY', '--console-port', '0'], '--tls-cert needs --console-url'],
])('serve refuses %j', async (flags, problem) => {
  const own = mkdtempSync(join(folder, 'options-'))
  const named = { CERT: join(own, 'cert'), KEY: join(own, 'key'), OTHER: join(own, 'other') }
  writeFileSync(named.CERT, authority.valid.cert)
  writeFileSync(named.KEY, authority.valid.key)
  writeFileSync(named.OTHER, authority.early.key)
  const args = flags.map((flag) => (flag in named ? named[flag as keyof typeof named] : flag))

  const { code, stderr } = await runHere(['serve', '--data-dir', join(own, 'data'), '--port', '0', ...args])

  expect([code, stderr]).toEqual([1, expect.stringContaining(problem)])
})
