import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { Client } from '../../../api/client/client.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { type StartServerOptions, startServer } from '../../../server/testing/startServer.ts'
import { type RecordingProxy, startRecordingProxy } from '../../testing/recordingProxy.ts'
import { Session } from '../session.ts'
import { createOrAdopt } from './createOrAdopt.ts'
import { CreationGuard, idempotencyKeyOf } from './creationGuard.ts'
import type { TerraformRun } from './terraformRun.ts'

const signal = new AbortController().signal
const report = () => undefined
const request: ServiceRequest = {
  name: 'checkout',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

/** A run of the Terraform process `owner`, where only process 2 is still running. */
const running = (owner: string, workspace = 'here'): TerraformRun => ({
  owner,
  workspace,
  isRunning: (other) => other === '2',
  onOrderlyEnd: () => undefined,
})

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Scene {
  readonly proxy: RecordingProxy
  readonly session: Session
  /** The session of another run on the same machine. */
  readonly sessionOf: (run: TerraformRun, scope?: string) => Session
  readonly byHand: Client
}

async function scene(withoutHeaders: readonly string[], options: StartServerOptions = {}): Promise<Scene> {
  const server = await startServer({ rateLimit: 'none', ...options })
  const proxy = await startRecordingProxy(server.url, { withoutHeaders })
  const folder = mkdtempSync(join(tmpdir(), 'journal-'))
  const sessionOf = (run: TerraformRun, scope = ''): Session => {
    const guard = new CreationGuard({ folders: [folder], run, scope, warn: () => undefined })
    return new Session({ url: proxy.url, apiKey: server.apiKey, userAgent: 'test', guard })
  }
  const session = sessionOf(running('2'))
  const byHand = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
  closing.push(
    () => server.close(),
    () => proxy.close(),
    () => session.client.close(),
    async () => rmSync(folder, { recursive: true }),
    () => byHand.close(),
  )
  return { proxy, session, sessionOf, byHand }
}

describe.each([
  ['a server with idempotency keys', [], {}],
  ['a server that implements only the API document', ['idempotency-key'], { isPlain: true }],
] as const)('with %s', (_name, withoutHeaders, options) => {
  test.each([200, 502, 'closed'] as const)(
    'Scenario 53: a creation whose response is lost (%s) creates one service',
    async (how) => {
      const { proxy, session, byHand } = await scene(withoutHeaders, options)
      proxy.loseResponse('POST', /\/services$/, how)

      const created = await createOrAdopt({ session, request, signal, report })

      expect((await byHand.listServices()).services).toEqual([created])
    },
  )

  test.each([
    [500, 1],
    [502, 4],
  ])(
    'a creation that never arrived (%i) is searched for (%i times) and sent again',
    async (status, looks) => {
      const { proxy, session, byHand } = await scene(withoutHeaders, options)
      proxy.refuseNext('POST', /\/services$/, status, 'no')

      const created = await createOrAdopt({ session, request, signal, report })

      expect((await byHand.listServices()).services).toEqual([created])
      expect(proxy.requests()).toEqual([
        'GET /v1/services',
        'POST /v1/services',
        ...Array.from({ length: looks }, () => 'GET /v1/services'),
        'POST /v1/services',
      ])
    },
  )

  test('two services with the same definition stay two, each with its own response', async () => {
    const { proxy, session, byHand } = await scene(withoutHeaders, options)
    proxy.loseResponse('POST', /\/services$/, 502)

    const created = await Promise.all([
      createOrAdopt({ session, request, signal, report }),
      createOrAdopt({ session, request, signal, report }),
    ])

    const { services } = await byHand.listServices()
    expect(services.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort())
    expect(new Set(created.map(({ id }) => id)).size).toBe(2)
  })
})

test('two candidates are named, and neither is adopted', async () => {
  const { proxy, session, byHand } = await scene(['idempotency-key'])
  proxy.loseResponse('POST', /\/services$/, 502)
  await session.reads.preexisting(() => true, signal)
  const other = await byHand.createService(request, 'by-hand')

  const creating = createOrAdopt({ session, request, signal, report })

  await expect(creating).rejects.toMatchObject({
    diagnostics: [
      { summary: 'Cannot tell which service was created', detail: expect.stringContaining(other.id) },
    ],
  })
})

test('a creation that timed out and arrives later creates one service on a server without idempotency keys', async () => {
  const { proxy, session, byHand } = await scene(['idempotency-key'])
  proxy.refuseNext('POST', /\/services$/, 502, 'bad gateway')
  const lists = proxy.responded('GET', 2)

  const creating = createOrAdopt({ session, request, signal, report })
  await lists
  const late = await byHand.createService(request, 'late')

  expect((await creating).id).toBe(late.id)
  expect((await byHand.listServices()).services.length).toBe(1)
})

test('an error response is returned at once', async () => {
  const { proxy, session } = await scene([])

  const creating = createOrAdopt({ session, request: { ...request, interval_secs: 1 }, signal, report })

  await expect(creating).rejects.toMatchObject({ status: 403 })
  expect(proxy.requests()).toEqual(['GET /v1/services', 'POST /v1/services'])
})

test('Scenario 62: a service equal to one of unknown origin that was created recently is not created a second time', async () => {
  const { proxy, session, byHand } = await scene([])
  const lost = await byHand.createService(request, 'killed')

  const creating = createOrAdopt({ session, request, signal, report })

  await expect(creating).rejects.toMatchObject({
    diagnostics: [{ summary: 'Service "checkout" exists already', detail: expect.stringContaining(lost.id) }],
  })
  expect(proxy.requests()).toEqual(['GET /v1/services'])
})

const secret: ServiceRequest = {
  ...request,
  endpoints: [
    {
      url: 'https://example.com/',
      call: {
        Http: { method: 'GET', timeout: null, headers: { 'x-key': { value: 'old', sensitive: true } } },
      },
      assertions: [],
    },
  ],
}

test.each([
  ['a server with idempotency keys', []],
  ['a server without idempotency keys', ['idempotency-key']],
] as const)(
  'with %s a killed run is continued, whether its request arrived or not, and its secrets are sent again',
  async (_name, withoutHeaders) => {
    const { proxy, session, sessionOf, byHand } = await scene(withoutHeaders)
    const killed = sessionOf(running('1'))
    closing.push(() => killed.client.close())
    // Of the first the response was recorded, of the second it was not, and the third never left.
    const made = await createOrAdopt({ session: killed, request: secret, signal, report })
    const [unconfirmed, unsent] = ['unconfirmed', 'unsent'].map((name) => ({ ...request, name }))
    if (unconfirmed === undefined || unsent === undefined) throw new Error('two requests')
    killed.guard?.begin(unconfirmed)
    const arrived = await byHand.createService(unconfirmed, 'killed')
    killed.guard?.begin(unsent)
    proxy.requests()

    const ids = []
    for (const again of [secret, unconfirmed, unsent])
      ids.push((await createOrAdopt({ session, request: again, signal, report })).id)

    expect(ids.slice(0, 2)).toEqual([made.id, arrived.id])
    expect((await byHand.listServices()).services.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(proxy.requests().filter((line) => !line.startsWith('GET'))).toEqual([
      `PATCH /v1/services/${made.id}`,
      'POST /v1/services',
    ])
  },
)

test('a service with a recorded response is taken over through another address of the API, and one without is named', async () => {
  const { session, sessionOf, byHand } = await scene([])
  const killed = sessionOf(running('1'), 'another address')
  closing.push(() => killed.client.close())
  const made = await createOrAdopt({ session: killed, request, signal, report })
  const unconfirmed = { ...request, name: 'unconfirmed' }
  killed.guard?.begin(unconfirmed)
  const arrived = await byHand.createService(unconfirmed, 'killed')

  const created = await createOrAdopt({ session, request, signal, report })
  const creating = createOrAdopt({ session, request: unconfirmed, signal, report })

  expect(created.id).toBe(made.id)
  await expect(creating).rejects.toMatchObject({
    diagnostics: [
      { summary: 'Service "unconfirmed" exists already', detail: expect.stringContaining(arrived.id) },
    ],
  })
})

test('a request of a killed run that arrives after the list was read creates the same service, on a server with idempotency keys', async () => {
  const { session, sessionOf, byHand } = await scene([], { isPlain: false })
  const killed = sessionOf(running('1'))
  closing.push(() => killed.client.close())
  const intent = killed.guard?.begin(request)
  await session.reads.preexisting(() => true, signal)
  const late = await byHand.createService(request, idempotencyKeyOf(intent, request))

  const created = await createOrAdopt({ session, request, signal, report })

  expect(created.id).toBe(late.id)
  expect((await byHand.listServices()).services.length).toBe(1)
})

test('a service left by a killed run and deleted since by a person is created again', async () => {
  const { session, sessionOf, byHand } = await scene([])
  const killed = sessionOf(running('1'))
  closing.push(() => killed.client.close())
  const intent = killed.guard?.begin(request)
  const gone = await byHand.createService(request, idempotencyKeyOf(intent, request))
  await byHand.deleteService(gone.id)

  const created = await createOrAdopt({ session, request, signal, report })

  expect((await byHand.listServices()).services.map(({ id }) => id)).toEqual([created.id])
})

test('a service left by a killed run and imported since is created again for another resource', async () => {
  const { session, sessionOf, byHand } = await scene([])
  const killed = sessionOf(running('1'))
  closing.push(() => killed.client.close())
  const intent = killed.guard?.begin(request)
  const imported = await byHand.createService(request, idempotencyKeyOf(intent, request))
  sessionOf(running('3')).guard?.recordOwned(imported.id, imported.created_at)

  const created = await createOrAdopt({ session, request, signal, report })

  expect(created.id).not.toBe(imported.id)
  expect((await byHand.listServices()).services.length).toBe(2)
})

test('a creation that continues a killed run and is interrupted after its response returns the service', async () => {
  const { proxy, session, sessionOf, byHand } = await scene([])
  const killed = sessionOf(running('1'))
  closing.push(() => killed.client.close())
  killed.guard?.begin(request)
  proxy.misbehave({ path: /\/services\/[0-9a-f-]+$/, how: 'throttled' })
  const interruption = new AbortController()

  const creating = createOrAdopt({ session, request, signal: interruption.signal, report })
  await proxy.misbehaved()
  interruption.abort()
  proxy.misbehave(undefined)

  expect((await byHand.listServices()).services).toEqual([await creating])
})

test('a service equal to one that a run elsewhere created during this run is created', async () => {
  const { session, sessionOf, byHand } = await scene([])
  const other = sessionOf(running('2', 'elsewhere'))
  closing.push(() => other.client.close())
  session.guard?.recordOwned('01a20416-0000-7000-8000-000000000000', new Date().toISOString())
  await createOrAdopt({ session: other, request, signal, report })

  await createOrAdopt({ session, request, signal, report })

  expect((await byHand.listServices()).services.length).toBe(2)
})

test('foreign files in the journal folder are ignored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'))
  closing.push(async () => rmSync(folder, { recursive: true }))
  const elsewhere = join(folder, 'elsewhere.txt')
  writeFileSync(elsewhere, '')
  mkdirSync(join(folder, 'folder.jsonl'))
  symlinkSync(elsewhere, join(folder, 'link.jsonl'))
  writeFileSync(join(folder, 'damaged.jsonl'), 'null\n{"intent":1}\n\0')
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  // A week later everything that is read and says nothing is removed.
  const nowMs = () => Date.now() + 8 * 24 * 3_600_000
  const guard = new CreationGuard({ folders: [folder], run: running('2'), scope: '', warn, nowMs })

  const decision = guard.decide(request, [])

  expect(decision).toEqual({ kind: 'create', resumes: undefined })
  expect(warnings).toEqual([])
  expect(readdirSync(folder).sort()).toEqual(['elsewhere.txt', 'folder.jsonl', 'link.jsonl'])
})

test('an unwritable folder is skipped for the next one', () => {
  // Nothing can be created below it, not even by the superuser.
  const readOnly = '/proc/self/task'
  const folder = mkdtempSync(join(tmpdir(), 'journal-'))
  closing.push(async () => rmSync(folder, { recursive: true }))
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  const guard = new CreationGuard({ folders: [readOnly, folder], run: running('2'), scope: '', warn })

  guard.begin(request)

  expect(warnings).toEqual([])
  expect(readdirSync(folder).length).toBe(1)
})

test('of two equal services of which a killed run created one, the other is created', async () => {
  const { session, sessionOf, byHand } = await scene([])
  const killed = sessionOf(running('1'))
  closing.push(() => killed.client.close())
  killed.guard?.begin(request)
  const second = killed.guard?.begin(request)
  await byHand.createService(request, idempotencyKeyOf(second, request))

  const created = await Promise.all([
    createOrAdopt({ session, request, signal, report }),
    createOrAdopt({ session, request, signal, report }),
  ])

  const { services } = await byHand.listServices()
  expect(services.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort())
  expect(new Set(created.map(({ id }) => id)).size).toBe(2)
})

test.each<[string, (run: Scene['sessionOf']) => Promise<Session>]>([
  ['a run in progress created', async (sessionOf) => sessionOf(running('2', 'elsewhere'))],
  [
    'a plan read from its state',
    async (sessionOf) => {
      const killed = sessionOf(running('1'))
      const { id } = await createOrAdopt({ session: killed, request, signal, report })
      sessionOf(running('3')).guard?.recordOwned(id, null)
      return killed
    },
  ],
])('a service equal to one that %s is created', async (_name, before) => {
  const { session, sessionOf, byHand } = await scene([])
  const other = await before(sessionOf)
  closing.push(() => other.client.close())
  if ((await byHand.listServices()).services.length === 0)
    await createOrAdopt({ session: other, request, signal, report })

  await createOrAdopt({ session, request, signal, report })

  expect((await byHand.listServices()).services.length).toBe(2)
})
