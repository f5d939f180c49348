import { expect, onTestFinished, test } from 'vitest'
import { serveForReattach } from '../reattach.ts'
import { connect } from '../testing/providerClient.ts'
import { sampleProvider } from '../testing/sampleProvider.ts'
import { HEALTH, healthCheck } from '../wire/goplugin.ts'

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
