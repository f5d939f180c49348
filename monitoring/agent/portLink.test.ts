import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { LinkError } from './link.ts'
import { type PortRequest, portLink } from './portLink.ts'
import { IDLE_SYNC } from './testing/idleSync.ts'

function link() {
  const sent: PortRequest[] = []
  return { sent, ...portLink({ postMessage: (message: PortRequest) => sent.push(message) }) }
}

test("a request that got its response removes its listener from the caller's abort signal", async () => {
  const { sync, take } = link()
  const { signal } = new AbortController()
  const done = sync('eu-west-1', IDLE_SYNC, signal)

  const before = getEventListeners(signal, 'abort').length
  take({ id: 1, kind: 'response', body: {} })
  await done

  expect([before, getEventListeners(signal, 'abort').length]).toEqual([1, 0])
})

test('a message that the server does not understand is rejected with its status, so that the others are sent', async () => {
  const { results, take } = link()
  const body = { protocol: 1, store: 's', instance: 'i', batch: 1, sent_ms: 1 }
  const refused = results({ ...body, results: [], details: [], certificates: [] })

  take({ id: 1, kind: 'failed', reason: 'certificates[0].subject: is too long', status: 400 })

  await expect(refused).rejects.toEqual(new LinkError(400, 'certificates[0].subject: is too long'))
})
