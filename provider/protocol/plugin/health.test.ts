import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { serveForReattach } from '../reattach.ts'
import { connect } from '../testing/providerClient.ts'
import { sampleProvider } from '../testing/sampleProvider.ts'
import { HEALTH, healthCheck } from '../wire/goplugin.ts'
import { healthMethods } from './health.ts'
import { createPluginServer } from './server.ts'
import { openSocket } from './socket.ts'

const method = (name: string) => ({
  path: `/grpc.health.v1.Health/${name}`,
  requestSerialize: healthCheck.request.encode,
  responseDeserialize: healthCheck.response.decode,
})

test('a plugin is healthy, an unknown service is reported as such, and so in a watch', async () => {
  const served = await serveForReattach(sampleProvider(), ['pharos/sample'])
  const client = connect(served.target)
  onTestFinished(() => client.close())
  const plugin = await client.call(method('Check'), { service: 'plugin' })
  const other = await client.call(method('Check'), { service: 'other' })
  const watching = client.collect(method('Watch'), { service: 'plugin' })
  const lasting = await Promise.race([watching, client.call(method('Check'), { service: '' })])
  served.close()

  expect([plugin, other, lasting]).toEqual([
    { status: HEALTH.serving },
    { status: HEALTH.serviceUnknown },
    { status: HEALTH.serving },
  ])
  await expect(watching).rejects.toMatchObject({ code: expect.any(Number) })
})

test('a dozen streams may wait for the end of a plugin without a warning of Node', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error) => void warnings.push(name)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  let streamCount = () => 0
  const plugin = createPluginServer({
    access: { kind: 'open' },
    provider: async (ending) => {
      streamCount = () => getEventListeners(ending, 'abort').length
      return healthMethods(ending)
    },
    onShutdown: () => {},
  })
  const socket = await openSocket(undefined)
  socket.handOver(plugin.serve)
  const client = connect(`unix:${socket.address.address}`)
  onTestFinished(() => client.close())

  const watches = Array.from({ length: 12 }, () => client.collect(method('Watch'), { service: 'plugin' }))
  await expect.poll(() => streamCount()).toBe(12)
  plugin.end(() => {})
  await Promise.all(watches)
  socket.close()

  expect(warnings).not.toContain('MaxListenersExceededWarning')
})
