import { afterEach, describe, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import type { ServiceRequest } from '../../api/contract/service.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { type RecordingProxy, startRecordingProxy } from '../testing/recordingProxy.ts'
import { createOnce } from './createOnce.ts'
import { Session } from './session.ts'

const signal = new AbortController().signal
const request: ServiceRequest = {
  name: 'checkout',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Scene {
  readonly proxy: RecordingProxy
  readonly session: Session
  readonly byHand: Client
}

async function scene(withoutHeaders: readonly string[]): Promise<Scene> {
  const server = await startServer({ rateLimit: 'none' })
  const proxy = await startRecordingProxy(server.url, { withoutHeaders })
  const session = new Session({ url: proxy.url, apiKey: server.apiKey, userAgent: 'test' })
  const byHand = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
  closing.push(
    () => server.close(),
    () => proxy.close(),
    () => session.client.close(),
    () => byHand.close(),
  )
  return { proxy, session, byHand }
}

describe.each([
  ['a server that knows idempotency keys', []],
  ['a server that does not', ['idempotency-key']],
] as const)('with %s', (_name, withoutHeaders) => {
  test.each([502, 'closed'] as const)(
    'Scenario 53: a creation whose answer is lost (%s) makes one service',
    async (how) => {
      const { proxy, session, byHand } = await scene(withoutHeaders)
      proxy.loseAnswer('POST', /\/services$/, how)

      const created = await createOnce(session, request, signal)

      expect((await byHand.listServices()).services).toEqual([created])
    },
  )

  test('a creation that never arrived is sent again', async () => {
    const { proxy, session, byHand } = await scene(withoutHeaders)
    proxy.refuseNext('POST', /\/services$/, 502, 'bad gateway')

    const created = await createOnce(session, request, signal)

    expect((await byHand.listServices()).services).toEqual([created])
    expect(proxy.requests()).toEqual([
      'GET /v1/services',
      'POST /v1/services',
      'GET /v1/services',
      'POST /v1/services',
    ])
  })

  test('two services of one definition stay two, each with its own answer', async () => {
    const { proxy, session, byHand } = await scene(withoutHeaders)
    proxy.loseAnswer('POST', /\/services$/, 502)

    const created = await Promise.all([
      createOnce(session, request, signal),
      createOnce(session, request, signal),
    ])

    const { services } = await byHand.listServices()
    expect(services.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort())
    expect(new Set(created.map(({ id }) => id)).size).toBe(2)
  })
})

test('two candidates are named rather than one of them taken', async () => {
  const { proxy, session, byHand } = await scene(['idempotency-key'])
  proxy.loseAnswer('POST', /\/services$/, 502)
  await session.reads.thereBefore(() => true, signal)
  const other = await byHand.createService(request, 'by-hand')

  const creating = createOnce(session, request, signal)

  await expect(creating).rejects.toMatchObject({
    diagnostics: [
      { summary: 'Cannot tell which service was created', detail: expect.stringContaining(other.id) },
    ],
  })
})

test('a refusal is passed on at once', async () => {
  const { proxy, session } = await scene([])

  const creating = createOnce(session, { ...request, interval_secs: 1 }, signal)

  await expect(creating).rejects.toMatchObject({ status: 403 })
  expect(proxy.requests()).toEqual(['GET /v1/services', 'POST /v1/services'])
})

test('Scenario 62: a service like one that a killed run left a moment ago is not made a second time', async () => {
  const { proxy, session, byHand } = await scene([])
  const lost = await byHand.createService(request, 'killed')

  const creating = createOnce(session, request, signal)

  await expect(creating).rejects.toMatchObject({
    diagnostics: [{ summary: 'Service "checkout" exists already', detail: expect.stringContaining(lost.id) }],
  })
  expect(proxy.requests()).toEqual(['GET /v1/services'])
})
