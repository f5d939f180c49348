import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { startProcess } from '../testing/serverProcess.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startReceiver } from './testing/receiver.ts'

const CHANNELS = 5
const FLAGS = ['--allow-webhook-ranges', '127.0.0.0/8', '--monitor', 'off']

test('a server that is stopped during deliveries exits with 0, and sends them again with their ids', async () => {
  const folder = testFolder()
  const dataDir = join(folder, 'data')
  const orgId = await makeOrg(dataDir)
  const [key = ''] = await makeKeys(dataDir, orgId, 1)
  let isResponding = false
  const receiver = await startReceiver(() => (isResponding ? { status: 204 } : 'none'))
  const first = await startProcess(dataDir, FLAGS)
  for (let index = 0; index < CHANNELS; index += 1) {
    const given = ['--data-dir', dataDir, '--org', orgId, '--kind', 'webhook', '--name', `hook ${index}`]
    expect((await runHere(['channel', 'create', ...given, '--url', receiver.url])).code).toBe(0)
  }
  const api = apiClient(first.url, key)
  const service = await api.post('/v1/services', serviceBody())
  const text = { title: 'Errors', message: 'We look.', severity: 'major_outage' }
  await api.post('/v1/incidents', { ...text, service_ids: [String(Object(service.json).id)] })
  const ids = (await receiver.first(CHANNELS)).map(({ id }) => id)

  const code = await first.stop()
  const atStop = receiver.received.length
  isResponding = true
  const second = await startProcess(dataDir, FLAGS)
  const again = (await receiver.first(atStop + CHANNELS)).slice(atStop).map(({ id }) => id)
  await second.stop()
  receiver.close()

  expect(code).toBe(0)
  expect([new Set(ids).size, atStop]).toEqual([CHANNELS, CHANNELS])
  expect(again.toSorted()).toEqual(ids.toSorted())
})
