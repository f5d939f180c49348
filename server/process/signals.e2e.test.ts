import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { serviceResponseSchema } from '../../api/contract/service.ts'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { PROGRAM, startProcess } from '../testing/serverProcess.ts'
import { serviceBody } from '../testing/serviceBodies.ts'

const folder = suiteFolder()
let dataDir = ''
let key = ''
let orgId = ''

beforeAll(async () => {
  dataDir = join(folder, 'data')
  orgId = await makeOrg(dataDir)
  key = (await makeKeys(dataDir, orgId, 1))[0] ?? ''
})

/** An unused port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Whether a program listens on it. */
async function isOpen(port: number, host = '127.0.0.1'): Promise<boolean> {
  const socket = connect({ port, host })
  const isConnected = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(
      () => false,
      () => false,
    ),
  ]).catch(() => false)
  socket.destroy()
  return isConnected
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s stops the server after the requests in flight',
  async (signal) => {
    const server = await startProcess(dataDir)
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    const head = `POST /v1/incidents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`
    let response = ''
    socket.on('data', (bytes) => {
      response += bytes.toString()
    })
    socket.write(head)
    // The request is under way once the server has asked for its body.
    await once(socket, 'data')

    server.child.kill(signal)
    while (await isOpen(Number(new URL(server.url).port))) {}
    socket.write('{}')
    await Promise.all([once(socket, 'close'), once(server.child, 'close')])

    expect(response).toContain('HTTP/1.1 400 Bad Request')
    expect([server.child.exitCode, server.child.signalCode, server.stderr()]).toEqual([0, null, ''])
  },
)

test('a stop ends in ten seconds while a client sends no body and a receiver of notifications does not respond', async () => {
  const receiver = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void receiver.close())
  await once(receiver, 'listening')
  const address = receiver.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const channel = [
    '--org',
    orgId,
    '--kind',
    'webhook',
    '--name',
    'Slow',
    '--url',
    `http://127.0.0.1:${port}/`,
  ]
  expect(await runHere(['channel', 'create', '--data-dir', dataDir, ...channel])).toMatchObject({ code: 0 })
  const server = await startProcess(dataDir, ['--allow-webhook-ranges', '127.0.0.0/8'])
  const api = apiClient(server.url, key)
  const received = once(receiver, 'connection')
  const service = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json)
  const incident = { title: 'Slow', service_ids: [service.id], message: 'Slow', severity: 'partial_outage' }
  expect((await api.post('/v1/incidents', incident)).status).toBe(201)
  const [delivery] = await received
  onTestFinished(() => delivery.destroy())
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `POST /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`,
  )
  await once(socket, 'data')
  const stoppedMs = performance.now()

  expect(await server.stop()).toBe(0)
  expect(performance.now() - stoppedMs).toBeLessThan(10_000)
})

test('SIGUSR1 opens no inspector, which would expose the master key', async () => {
  const port = await freePort()
  const environment = { NODE_OPTIONS: `--inspect-port=${port}` }
  const server = await startProcess(dataDir, [], { environment })
  const api = apiClient(server.url, key)

  server.child.kill('SIGUSR1')
  const statuses: number[] = []
  const isInspected: boolean[] = []
  // Without a handler the first signal opens the inspector.
  for (let asked = 0; asked < 10; asked += 1) {
    statuses.push((await api.get('/v1/org')).status)
    isInspected.push(await isOpen(port))
  }
  await server.stop()

  expect([new Set(statuses), new Set(isInspected), server.stderr()]).toEqual([
    new Set([200]),
    new Set([false]),
    '',
  ])
})

test.each(['pharos.js', 'pharos-server.js', 'pharos-provider.js', 'terraform-provider-pharos.cjs'])(
  '%s disables the inspector on SIGUSR1 before anything else runs',
  async (program) => {
    const text = await readFile(join(dirname(PROGRAM), program), 'utf8')

    expect(text.slice(0, 300)).toContain("process.on('SIGUSR1', () => {});")
  },
)

test('the admin listener is on loopback wherever the API listens', async () => {
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
  // All of 127.0.0.0/8 is this machine; an address of its own shows the same where there is one.
  const other = outside ?? '127.0.0.2'
  const server = await startProcess(dataDir, ['--host', '0.0.0.0', '--admin-port', '0'])
  const ports = [server.url, server.adminUrl() ?? ''].map((url) => Number(new URL(url).port))

  const isReached = await Promise.all(ports.map((port) => isOpen(port, other)))
  const adminHost = new URL(server.adminUrl() ?? '').hostname
  await server.stop()

  expect([isReached, adminHost]).toEqual([[true, false], '127.0.0.1'])
})

test('the admin listener can have its own address', async () => {
  const server = await startProcess(dataDir, ['--admin-host', '127.0.0.2', '--admin-port', '0'])

  const { status } = await fetch(`${server.adminUrl()}/readyz`)
  await server.stop()

  expect([new URL(server.adminUrl() ?? '').hostname, new URL(server.url).hostname, status]).toEqual([
    '127.0.0.2',
    '127.0.0.1',
    200,
  ])
})
