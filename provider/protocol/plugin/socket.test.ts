import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect as connectTo, createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { credentials } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { connect, METHODS } from '../testing/providerClient.ts'
import { sampleProvider } from '../testing/sampleProvider.ts'
import { createCallTable } from './callTable.ts'
import { createCertificate, toPem } from './certificate.ts'
import { createLog } from './log.ts'
import { served } from './providerRpcs.ts'
import { createPluginServer } from './server.ts'
import { openSocket } from './socket.ts'

const certificate = createCertificate(Date.now())
const log = createLog('', undefined)

test.each([
  ['without TLS', { kind: 'open' } as const, undefined],
  [
    'over TLS',
    { kind: 'mutualTls', clientCertificate: certificate.certificatePem, own: certificate } as const,
    credentials.createSsl(
      Buffer.from(toPem(certificate.certificate)),
      Buffer.from(certificate.privateKeyPem),
      Buffer.from(certificate.certificatePem),
    ),
  ],
])(
  'a call %s that arrives before the server is loaded gets its response after that',
  async (_, access, security) => {
    const socket = await openSocket(undefined)
    const client = connect(`unix:${socket.address.address}`, security)
    onTestFinished(() => client.close())
    const early = client.call(METHODS.GetMetadata, {})
    // The client connects and sends everything that needs no response.
    for (let turns = 0; turns < 100; turns += 1) await turn()

    const plugin = createPluginServer({
      access,
      provider: async (ending) => served(sampleProvider())({ log, calls: createCallTable(), ending }),
      onShutdown: () => {},
    })
    socket.handOver(plugin.serve)
    const { resources } = await early
    const { resources: late } = await client.call(METHODS.GetMetadata, {})
    plugin.close()
    socket.close()

    expect([resources, late]).toEqual([[{ typeName: 'sample_note' }], [{ typeName: 'sample_note' }]])
    expect(existsSync(socket.address.address)).toBe(false)
  },
)

test('a connection that ends before the server is loaded disturbs no other', async () => {
  const socket = await openSocket(undefined)
  const gone = connectTo(socket.address.address)
  await once(gone, 'connect')
  gone.destroy()
  const client = connect(`unix:${socket.address.address}`)
  const early = client.call(METHODS.GetMetadata, {})
  for (let turns = 0; turns < 100; turns += 1) await turn()
  const plugin = createPluginServer({
    access: { kind: 'open' },
    provider: async (ending) => served(sampleProvider())({ log, calls: createCallTable(), ending }),
    onShutdown: () => {},
  })
  socket.handOver(plugin.serve)
  const { resources } = await early
  client.close()
  await new Promise<void>((resolve) => plugin.end(resolve))
  socket.close()

  expect(resources).toEqual([{ typeName: 'sample_note' }])
})

/** Longer than any path of a socket, as a temporary directory may be; Windows always listens on TCP. */
const TOO_LONG = '/x'.repeat(60)

test.each([
  ['path is too long', TOO_LONG],
  ['folder does not exist', '/nonexistent'],
])('TCP is served on the first free port of the range when the %s', async (_, folder) => {
  const occupied = createServer()
  await once(occupied.listen(0, '127.0.0.1'), 'listening')
  // True because the server listens on TCP.
  const { port: first } = occupied.address() as AddressInfo
  onTestFinished(() => void occupied.close())

  const socket = await openSocket(folder, { first, last: first + 100 })
  socket.close()
  const none = openSocket(folder, { first, last: first })

  expect(socket.address.network).toBe('tcp')
  const port = Number(socket.address.address.replace('127.0.0.1:', ''))
  expect(port).toBeGreaterThan(first)
  expect(port).toBeLessThanOrEqual(first + 100)
  await expect(none).rejects.toThrow('cannot listen on the loopback interface')
})
