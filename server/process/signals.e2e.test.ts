import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { apiClient } from '../testing/apiClient.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { PROGRAM, startProcess } from '../testing/serverProcess.ts'

const folder = suiteFolder()
let dataDir = ''
let key = ''

beforeAll(async () => {
  dataDir = join(folder, 'data')
  key = (await makeKeys(dataDir, await makeOrg(dataDir), 1))[0] ?? ''
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
