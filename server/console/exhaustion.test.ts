import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startConsoleServer } from './testing/startConsoleServer.ts'

test('one person may have twelve requests in flight, and does not block others', async () => {
  const server = await startConsoleServer({ webhookRanges: ['127.0.0.0/8'] })
  onTestFinished(() => server.close())
  let isHeld = true
  const held: ServerResponse[] = []
  const receiver = createServer((_request, response) => {
    if (isHeld) held.push(response)
    else response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  // True because it listens on TCP.
  const { port } = receiver.address() as AddressInfo
  const [member, other] = [await server.signIn('member'), await server.signIn('viewer')]
  const url = `http://127.0.0.1:${port}/`
  const channel = { name: 'Slow', kind: 'webhook', url, events: 'incident.created' }
  await member.client.post(`${member.actions}/channels`, channel)
  const [{ id = '' } = {}] = await server.store.listChannels(server.orgId)
  const tests = Array.from({ length: 13 }, () => member.client.post(`${member.actions}/channels/${id}/test`))
  const refused = await Promise.race(tests)
  const ofOther = await other.client.get('/me')
  isHeld = false
  for (const response of held) response.end()
  const statuses = (await Promise.all(tests)).map(({ status }) => status)
  const later = await member.client.get('/me')

  expect([refused.status, refused.headers.get('retry-after'), ofOther.status]).toEqual([429, '1', 200])
  expect(refused.text).toContain('Reload this page to send your input again.')
  expect(statuses.sort()).toEqual([...Array.from({ length: 12 }, () => 303), 429])
  expect(later.status).toBe(200)
})
