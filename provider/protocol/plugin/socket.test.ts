import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
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
const log = createLog({ level: undefined, module: '', write: () => undefined, nowMs: () => 0 })

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
])('a call %s that comes before the server is loaded is answered once it is', async (_, access, security) => {
  const socket = await openSocket(undefined)
  const client = connect(`unix:${socket.address.address}`, security)
  onTestFinished(() => client.close())
  const early = client.call(METHODS.GetMetadata, {})
  // The client connects and sends what it can say before it has an answer.
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
})

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
