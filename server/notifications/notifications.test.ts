import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import { OLD_SECRET_MS } from '../domain/notifications/channel.ts'
import { PAYLOADS } from '../domain/notifications/payload.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { defaultKeyFile } from '../secrets/keyring.ts'
import { rotateMasterKey } from '../secrets/rotateMasterKey.ts'
import { openDatabase } from '../store/sqlite/files/openDatabase.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { faultInjectorOf } from '../testing/faultInjector.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { type StartServerOptions, startServer, type TestServer } from '../testing/startServer.ts'
import { type ReceiverResponse, type Received, type Receiver, startReceiver } from './testing/receiver.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** How often a condition is looked at, for most with a command (milliseconds). */
const LOOK_MS = 100
const LOOPBACK = ['127.0.0.0/8']

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** How far the clock of the server is ahead (milliseconds). */
let aheadMs = 0
/** The time at which the clock of the server stands still (milliseconds). */
let stoppedMs: number | undefined
const nowMs = (): number => (stoppedMs ?? systemEnvironment.nowMs()) + aheadMs

/** Stops the clock of the server, so that a delivery becomes due only when the test advances the clock. */
function stopClock(): void {
  stoppedMs = systemEnvironment.nowMs()
}

async function start(options: StartServerOptions = {}) {
  aheadMs = 0
  stoppedMs = undefined
  const environment = { ...systemEnvironment, nowMs }
  const server = await startServer({
    ...{ environment, rateLimit: 'none', webhookRanges: LOOPBACK },
    ...options,
  })
  open.push(() => server.close())
  return server
}

async function receiving(respond?: (delivery: Received) => ReceiverResponse): Promise<Receiver> {
  const receiver = await startReceiver(respond)
  open.push(receiver.close)
  return receiver
}

/** Subcommands of `channel` that seal or open a secret. */
const WITH_KEY: ReadonlySet<string | undefined> = new Set(['create', 'update', 'show-secret', 'rotate'])

/** The flags with which a subcommand finds the data of the server, and its master key if it needs that. */
function flagsFor({ flags, dataDir }: TestServer, subcommand: string | undefined): readonly string[] {
  return WITH_KEY.has(subcommand) ? [...flags, '--master-key-file', defaultKeyFile(dataDir)] : flags
}

/** Runs a command about the server's data; what it prints. Rejects with the failure that it prints. */
async function admin(server: TestServer, ...args: readonly string[]) {
  const { stdout } = await runHere([...args, ...flagsFor(server, args[1]), '--json'])
  const printed = JSON.parse(stdout)
  if ('error' in printed) throw new Error(printed.error.message)
  return printed
}

function createChannel(server: TestServer, url: string, ...more: readonly string[]) {
  const given = ['--org', server.orgId, '--kind', 'webhook', '--name', 'ops', '--url', url]
  return admin(server, 'channel', 'create', ...given, ...more)
}

async function service(server: TestServer): Promise<string> {
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  return String(Object(json).id)
}

/** Opens an incident by the API; its id. */
async function incident(server: TestServer, serviceId: string, title = 'Errors'): Promise<string> {
  const body = { title, message: 'We look.', severity: 'major_outage', service_ids: [serviceId] }
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/incidents', body)
  return String(Object(json).id)
}

function update(server: TestServer, incidentId: string, status: string) {
  const path = `/v1/incidents/${incidentId}/updates`
  return apiClient(server.url, server.apiKey).post(path, { body: `Now ${status}.`, status })
}

/** Waits until `isTrue`, whatever `again` has to do meanwhile. */
async function until(
  isTrue: () => boolean | Promise<boolean>,
  again: () => unknown = () => {},
): Promise<void> {
  while (!(await isTrue())) {
    await again()
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

function deliveriesOf(server: TestServer, id: string) {
  return admin(server, 'channel', 'deliveries', '--id', id)
}

test('an incident and each update reach a channel once, in order, with a signature that the reference library accepts', async () => {
  const server = await start()
  const receiver = await receiving()
  const { id, secret } = await createChannel(server, receiver.url)
  const serviceId = await service(server)

  const incidentId = await incident(server, serviceId)
  await update(server, incidentId, 'identified')
  await update(server, incidentId, 'resolved')
  const received = await receiver.first(3)

  const payloads = received.map(({ body, headers }) => {
    // True because all headers of a signature are texts.
    const payload = new Webhook(secret).verify(body, headers as Record<string, string>)
    const type = Object(payload).type as keyof typeof PAYLOADS
    return PAYLOADS[type].strict().parse(payload)
  })
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(payloads).toMatchObject([
    {
      type: 'incident.created',
      sequence: 1,
      data: {
        org: { id: server.orgId, name: 'Acme' },
        incident: {
          ...{ id: incidentId, display_id: 'INC-1', title: 'Errors', status: 'investigating' },
          services: [{ id: serviceId, name: 'Checkout' }],
        },
        update: { body: 'We look.', status_at_update: 'investigating', truncated: false },
        url: null,
      },
    },
    { type: 'incident.updated', sequence: 2, data: { incident: { status: 'identified' } } },
    { type: 'incident.updated', sequence: 3, data: { update: { status_at_update: 'resolved' } } },
  ])
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
  expect(received[0]?.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'user-agent': expect.stringMatching(/^pharos\/\d/),
    'webhook-id': expect.stringMatching(/^msg_[0-9a-f]{32}$/),
  })
  await until(async () =>
    (await deliveriesOf(server, id)).every(({ state }: Received & { state: string }) => state === 'sent'),
  )
})

test('a flipped byte fails the verification', async () => {
  const server = await start()
  const receiver = await receiving()
  const { secret } = await createChannel(server, receiver.url)
  await incident(server, await service(server))

  const [delivery] = await receiver.first(1)

  const headers = delivery?.headers as Record<string, string>
  expect(() => new Webhook(secret).verify(`${delivery?.body} `, headers)).toThrow()
})

test('a failed delivery is retried with the same id; later events of its incident wait for it, and other channels do not', async () => {
  const server = await start()
  stopClock()
  let status = 500
  const failing = await receiving(() => ({ status }))
  const working = await receiving()
  const { id } = await createChannel(server, failing.url)
  await createChannel(server, working.url)
  const serviceId = await service(server)
  const incidentId = await incident(server, serviceId)
  await failing.first(1)
  await update(server, incidentId, 'identified')

  await working.first(2)
  await until(async () => (await deliveriesOf(server, id)).at(-1).attempts === 1)
  status = 204
  aheadMs += 5_500
  const received = await failing.first(3)

  expect(received[1]?.id).toBe(received[0]?.id)
  expect(received.map(({ body }) => JSON.parse(body).sequence)).toEqual([1, 1, 2])
  expect(received[1]?.headers['webhook-timestamp']).not.toBe(received[0]?.headers['webhook-timestamp'])
})

test('deliveries that wait when the clock is set back by a day are sent at once, in order', async () => {
  const server = await start()
  stopClock()
  aheadMs = DAY_MS
  let status = 500
  const receiver = await receiving(() => ({ status }))
  const { id } = await createChannel(server, receiver.url)
  const incidentId = await incident(server, await service(server))
  await until(async () => (await deliveriesOf(server, id))[0].attempts === 1)
  await update(server, incidentId, 'identified')

  status = 204
  aheadMs = 0
  const received = await receiver.first(3)

  expect(received.map(({ body }) => JSON.parse(body).sequence)).toEqual([1, 1, 2])
})

test('a delivery is given up after eleven attempts in three days, kept, and can be resent manually with its id', async () => {
  const server = await start()
  let status = 503
  const receiver = await receiving(() => ({ status }))
  const { id } = await createChannel(server, receiver.url)
  await incident(server, await service(server))
  const startedMs = nowMs()

  await until(
    async () => (await deliveriesOf(server, id))[0].state === 'failed',
    async () => {
      const [{ next_attempt_at }] = await deliveriesOf(server, id)
      if (next_attempt_at !== null) aheadMs += Math.max(0, Date.parse(next_attempt_at) - nowMs())
      await server.store.probeWrite(nowMs())
    },
  )
  const [dead] = await deliveriesOf(server, id)
  const tookHours = (nowMs() - startedMs) / 3_600_000
  status = 204
  const again = await admin(server, 'channel', 'resend', '--id', id, '--delivery', dead.id)
  const received = await receiver.first(12)

  expect(dead).toMatchObject({ state: 'failed', attempts: 11, last: { status: 503, error: null } })
  expect(tookHours).toBeGreaterThanOrEqual(75.5)
  expect(tookHours).toBeLessThan(75.6 * 1.1)
  expect(again).toEqual({ deliveries: 1 })
  expect(new Set(received.map(({ id: one }) => one)).size).toBe(1)
})

test('a 410 disables the channel: nothing more is sent until it is enabled, and then waiting deliveries can be sent', async () => {
  const server = await start()
  let status = 410
  const receiver = await receiving(() => ({ status }))
  const { id } = await createChannel(server, receiver.url)
  const serviceId = await service(server)

  await incident(server, serviceId)
  const listed = () => admin(server, 'channel', 'list', '--org', server.orgId)
  await until(async () => (await listed())[0].state === 'disabled')
  await incident(server, serviceId)
  const resend = ['channel', 'resend', '--id', id, '--since', new Date(0).toISOString()]
  const refused = admin(server, ...resend)
  await expect(refused).rejects.toThrow(
    'the channel is disabled (the receiver responded with 410): enable it first',
  )
  await expect(admin(server, 'channel', 'test', '--id', id)).rejects.toThrow('enable it first')
  status = 204
  await admin(server, 'channel', 'enable', '--id', id)
  const again = await admin(server, ...resend)
  const received = await receiver.first(2)

  expect(again).toEqual({ deliveries: 1 })
  expect(received[1]?.id).toBe(received[0]?.id)
  expect(server.logged()).toContain('a notification channel was disabled')
  const audit = await admin(server, 'audit', 'list', '--org', server.orgId)
  expect(audit.map(({ action, actor_kind }: Record<string, string>) => [action, actor_kind])).toEqual(
    expect.arrayContaining([
      ['channel.resend', 'cli'],
      ['channel.enable', 'cli'],
      ['channel.disable', 'system'],
      ['channel.create', 'cli'],
    ]),
  )
})

test('a command changes only the named settings of a channel, and shows the secret again', async () => {
  const server = await start()
  const receiver = await receiving(() => ({ status: 204 }))
  const { id, secret } = await createChannel(server, 'https://hooks.example.com/token-canary')
  const serviceId = await service(server)
  await admin(server, 'channel', 'update', '--id', id, '--service', serviceId, '--events', 'incident.created')
  await admin(server, 'channel', 'update', '--id', id, '--url', receiver.url)
  const [narrow] = await admin(server, 'channel', 'list', '--org', server.orgId)
  await incident(server, serviceId)
  await until(async () => (await deliveriesOf(server, id))[0]?.state === 'sent')
  await admin(server, 'channel', 'update', '--id', id, '--all-services', '--name', 'renamed')
  const [wide] = await admin(server, 'channel', 'list', '--org', server.orgId)
  const shown = await admin(server, 'channel', 'show-secret', '--id', id)
  const audit = await admin(server, 'audit', 'list', '--org', server.orgId)

  const events = ['incident.created']
  expect(narrow).toMatchObject({
    name: 'ops',
    events,
    service_ids: [serviceId],
    host: new URL(receiver.url).host,
  })
  expect(wide).toMatchObject({ name: 'renamed', events, service_ids: null })
  expect(shown).toEqual({ id, secret })
  expect(JSON.stringify(audit)).not.toContain('token-canary')
  await expect(admin(server, 'channel', 'update', '--id', id)).rejects.toThrow('name what to change')
  const foreign = ['--service', randomUUID()]
  await expect(admin(server, 'channel', 'update', '--id', id, ...foreign)).rejects.toThrow('has no service')
})

test('a waiting delivery whose channel was disabled shows that as its reason, until it is sent again', async () => {
  const server = await start()
  let status = 500
  const receiver = await receiving(() => ({ status }))
  const { id } = await createChannel(server, receiver.url)
  await incident(server, await service(server))
  await until(async () => (await deliveriesOf(server, id))[0].attempts > 0)

  await admin(server, 'channel', 'disable', '--id', id)
  const [failed] = await deliveriesOf(server, id)
  const { stdout } = await runHere(['channel', 'deliveries', '--id', id, ...server.flags])
  status = 204
  await admin(server, 'channel', 'enable', '--id', id)
  await admin(server, 'channel', 'resend', '--id', id, '--since', new Date(0).toISOString())
  await until(async () => (await deliveriesOf(server, id))[0].state === 'sent')

  const failedReason = 'channel disabled: disabled by hand'
  expect(failed).toMatchObject({ state: 'failed', failed_reason: failedReason, last: { status: 500 } })
  expect(stdout).toContain(`; ${failedReason}`)
  expect((await deliveriesOf(server, id))[0].failed_reason).toBeNull()
})

test.each([
  ['http://127.0.0.1:7180/canary', '127.0.0.1 is not a public address'],
  ['https://[fd00::1]/canary', '[fd00::1] is not a public address'],
  ['http://hooks.example/canary', 'without https deliveries to hooks.example fail'],
])('a channel to %s is created with a note that names --allow-webhook-ranges', async (url, problem) => {
  const server = await start()
  const given = ['--org', server.orgId, '--kind', 'slack', '--name', 'chat', '--url', url]
  const { code, stdout, stderr } = await runHere([
    ...['channel', 'create', ...flagsFor(server, 'create'), '--json'],
    ...given,
  ])

  expect([code, Object.keys(JSON.parse(stdout))]).toEqual([0, ['id', 'secret']])
  expect(stderr).toContain(problem)
  expect(stderr).toContain('--allow-webhook-ranges')
  expect(stderr).not.toContain('canary')
})

test('a delivery to a forbidden address names the flag that permits it', async () => {
  const server = await start({ webhookRanges: [] })
  const { id } = await createChannel(server, 'https://127.0.0.1:7180/')

  const tested = admin(server, 'channel', 'test', '--id', id)

  await expect(tested).rejects.toThrow('serve --allow-webhook-ranges permits private ranges')
})

test('a channel is disabled only after five days without success and ten failed deliveries', async () => {
  const server = await start()
  const receiver = await receiving(() => ({ status: 500 }))
  const { id } = await createChannel(server, receiver.url)
  const listed = async () => (await admin(server, 'channel', 'list', '--org', server.orgId))[0]
  const fail = async (count: number) => {
    for (let made = 0; made < count; made += 1) await server.store.testChannel({ id }, nowMs())
    await until(async () =>
      (await deliveriesOf(server, id)).every(({ state }: { state: string }) => state === 'failed'),
    )
  }

  await fail(9)
  aheadMs += 5 * DAY_MS
  const before = await listed()
  await fail(1)

  expect(before.state).toBe('active')
  expect(await listed()).toMatchObject({
    state: 'disabled',
    disabled_reason: 'no delivery succeeded for 5 days',
  })
})

test('a test shows the response of the receiver, and is not retried', async () => {
  const server = await start()
  let response: ReceiverResponse = { status: 500 }
  const receiver = await receiving(() => response)
  const { id } = await createChannel(server, receiver.url, '--events', 'certificate.expiring')

  await expect(admin(server, 'channel', 'test', '--id', id)).rejects.toThrow(
    /^the test failed: status 500 after \d+ ms$/,
  )
  response = { status: 204 }
  const delivered = await admin(server, 'channel', 'test', '--id', id, '--org', server.orgId)

  expect(delivered).toMatchObject({ type: 'channel.test', state: 'sent', last: { status: 204 } })
  expect(JSON.parse(receiver.received[1]?.body ?? '')).toMatchObject({
    data: { org: { name: 'Acme' }, channel: { id, name: 'ops' } },
  })
  const other = await server.createOrg()
  await expect(admin(server, 'channel', 'test', '--id', id, '--org', other)).rejects.toThrow('no channel')
})

test('a receiver that never responds delays no other channel', async () => {
  const server = await start()
  stopClock()
  const hanging = await receiving(() => 'none')
  const working = await receiving()
  await createChannel(server, hanging.url)
  await createChannel(server, working.url)
  const serviceId = await service(server)

  for (let count = 0; count < 5; count += 1) await incident(server, serviceId)
  await working.first(5)

  expect(hanging.received).toHaveLength(1)
  let metrics = ''
  await until(async () => {
    metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
    return metrics.includes('outcome="sent"} 5')
  })
  expect(metrics).toContain('pharos_deliveries_waiting 5')
  expect(metrics).toMatch(/pharos_deliveries_total\{kind="webhook",outcome="sent"\} 5/)
  expect(metrics).toMatch(/pharos_delivery_lag_seconds_count 5/)
  expect(metrics).toContain('pharos_channels_disabled 0')
})

test('forty receivers that fail, and then never respond, delay no other channel', async () => {
  const server = await start()
  stopClock()
  let response: ReceiverResponse = { status: 500 }
  const dead = await receiving(() => response)
  const working = await receiving()
  const [deadService, workingService] = [await service(server), await service(server)]
  for (let made = 0; made < 40; made += 1) await createChannel(server, dead.url, '--service', deadService)
  await createChannel(server, working.url, '--service', workingService)
  await incident(server, deadService)
  await dead.first(40)
  const metrics = async () => (await fetch(`${server.adminUrl}/metrics`)).text()
  await until(async () => (await metrics()).includes('outcome="again"} 40'))

  response = 'none'
  aheadMs += 5_500
  await dead.first(40 + 16)
  await incident(server, workingService)

  expect(await working.first(1)).toHaveLength(1)
})

test('an attempt that cannot be recorded is recorded later, and not repeated', async () => {
  const server = await start()
  const receiver = await receiving()
  const { id } = await createChannel(server, receiver.url)
  const injector = await faultInjectorOf(server)
  open.push(injector.close)
  await injector.breakWrites({ event: 'INSERT ON attempts' })

  await incident(server, await service(server))
  await until(() => server.logged().split('an attempt could not be recorded').length > 2)
  await injector.repair()
  await until(async () => (await deliveriesOf(server, id))[0].state === 'sent')

  expect(receiver.received).toHaveLength(1)
})

test('a dozen requests in flight cause no warning of Node', async () => {
  const warnings: string[] = []
  const listen = ({ name }: Error) => warnings.push(name)
  process.on('warning', listen)
  open.push(() => process.off('warning', listen))
  const server = await start()
  const hanging = await receiving(() => 'none')
  for (let made = 0; made < 12; made += 1) await createChannel(server, hanging.url)

  await incident(server, await service(server))
  await hanging.first(12)

  expect(warnings).not.toContain('MaxListenersExceededWarning')
})

test('a long Retry-After delays later events of the incident for ten minutes', async () => {
  const server = await start()
  const receiver = await receiving(({ body }) =>
    JSON.parse(body).sequence === 1 ? { status: 429, headers: { 'Retry-After': '86400' } } : { status: 204 },
  )
  const { id } = await createChannel(server, receiver.url)
  const incidentId = await incident(server, await service(server))
  await until(async () => (await deliveriesOf(server, id))[0].attempts === 1)
  await update(server, incidentId, 'identified')
  const heldBack = await server.store.dueDeliveries(nowMs(), (due) => due)

  aheadMs += 10 * 60_000
  const received = await receiver.first(2)

  expect(heldBack).toEqual([])
  expect(received.map(({ body }) => JSON.parse(body).sequence)).toEqual([1, 2])
})

test('a channel that another process deletes while its delivery is chosen is left out', async () => {
  // Only there it can happen between the two reads.
  const server = await start({ engine: 'sqlite' })
  const hanging = await receiving(() => 'none')
  const { id } = await createChannel(server, hanging.url)
  const { id: kept } = await createChannel(server, hanging.url)
  await incident(server, await service(server))
  const { writer, reader } = await openDatabase(server.dataDir)
  open.push(() => [writer, reader].map((database) => database.close()))

  const due = await server.store.dueDeliveries(nowMs(), (all) => {
    writer.prepare('DELETE FROM channels WHERE id = ?').run(id)
    return all
  })

  expect(due.map(({ channelId }) => channelId)).toEqual([kept])
})

test('waiting deliveries are sent one after another, without waiting for a timer', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  open.push(() => vi.useRealTimers())
  const server = await start()
  const receiver = await receiving()
  await createChannel(server, receiver.url)
  const serviceId = await service(server)

  await Promise.all(Array.from({ length: 20 }, () => incident(server, serviceId)))

  expect(await receiver.first(20)).toHaveLength(20)
})

test('after a rotation both secrets sign for a day, the new one first, and then the new one alone', async () => {
  const server = await start()
  const receiver = await receiving()
  const { id, secret: old } = await createChannel(server, receiver.url)
  const serviceId = await service(server)

  const { secret } = await admin(server, 'channel', 'rotate', '--id', id)
  await incident(server, serviceId)
  await receiver.first(1)
  aheadMs += OLD_SECRET_MS
  await incident(server, serviceId)
  const [during, after] = await receiver.first(2)

  const signatures = (delivery: Received | undefined) =>
    String(delivery?.headers['webhook-signature']).split(' ')
  const isSignedBy = (by: string, delivery: Received | undefined) => {
    const seconds = Number(delivery?.headers['webhook-timestamp'])
    return new Webhook(by).sign(delivery?.id ?? '', new Date(seconds * 1_000), delivery?.body ?? '')
  }
  expect(secret).not.toBe(old)
  expect(signatures(during)).toEqual([isSignedBy(secret, during), isSignedBy(old, during)])
  expect(signatures(after)).toEqual([isSignedBy(secret, after)])
})

test('channel secrets are rewrapped when the master key is rotated, and deliveries continue', async () => {
  const server = await start()
  const receiver = await receiving()
  const { secret } = await createChannel(server, receiver.url)
  const serviceId = await service(server)
  const { engine, store, dataDir } = server

  const rotation = await rotateMasterKey({
    ...{ store, engine, dataDir, environment: systemEnvironment, yieldTurn: async () => {} },
    source: { kind: 'file', file: defaultKeyFile(dataDir) },
  })
  await incident(server, serviceId)
  const [delivery] = await receiver.first(1)

  expect(rotation.rewrapped).toBe(2)
  expect(await store.masterKeyIds()).toEqual([rotation.activeId])
  expect(() =>
    new Webhook(secret).verify(delivery?.body ?? '', delivery?.headers as Record<string, string>),
  ).not.toThrow()
})

test('a channel gets its selected events and services, and nothing while it is disabled or after it was deleted', async () => {
  const server = await start()
  const receiver = await receiving()
  const [one, other] = [await service(server), await service(server)]
  await createChannel(server, receiver.url, '--service', one, '--events', 'incident.created')
  const { id: disabled } = await createChannel(server, receiver.url)
  await admin(server, 'channel', 'disable', '--id', disabled)
  const { id: deleted } = await createChannel(server, receiver.url)
  await admin(server, 'channel', 'delete', '--id', deleted)

  await incident(server, other, 'Other')
  await update(server, await incident(server, one, 'Mine'), 'identified')
  await incident(server, one, 'Mine too')
  await receiver.first(2)

  const titles = receiver.received.map(({ body }) => JSON.parse(body).data.incident.title)
  expect(titles).toEqual(['Mine', 'Mine too'])
  expect(
    (await admin(server, 'channel', 'list', '--org', server.orgId)).map((each: { id: string }) => each.id),
  ).not.toContain(deleted)
})

test('a certificate that expires soon is announced once, with the endpoints that use it', async () => {
  const server = await start({ engine: 'sqlite' })
  const receiver = await receiving()
  await createChannel(server, receiver.url)
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  const { id: serviceId, endpoints } = Object(json)
  await server.store.numberEndpoints([{ id: endpoints[0].id, serviceId }])
  const notice = {
    ...{
      org_id: server.orgId,
      host: 'shop.example',
      port: 443,
      fingerprint: 'AB:CD',
      subject: 'CN=shop.example',
    },
    ...{ issuer: 'CN=ca', serial: '01', not_before_s: 1_000, not_after_s: 2_000, days_left: 13 },
    ...{ threshold_s: 14 * 24 * 60 * 60, endpoint_ids: [endpoints[0].id] },
  }
  const transition = { atS: 1_000, serviceId, kind: 'certificate.expiring', body: JSON.stringify(notice) }

  await server.store.applyTransition('results', 0, { ...transition, sequence: 1 })
  await server.store.applyTransition('results', 1, { ...transition, sequence: 2 })
  await incident(server, serviceId)
  const [first, second] = (await receiver.first(2)).map(({ body }) => JSON.parse(body))

  expect(PAYLOADS['certificate.expiring'].strict().parse(first).data).toMatchObject({
    ...{ host: 'shop.example', port: 443, days_left: 13, threshold_days: 14 },
    endpoints: [{ id: endpoints[0].id, service: { id: serviceId, name: 'Checkout' } }],
    certificate: { sha256: 'AB:CD', serial: '01', not_after: '1970-01-01T00:33:20.000Z' },
  })
  expect(second.type).toBe('incident.created')
})

test('a channel of kind slack gets the whole message with and without blocks, mentions nothing, and has no secret', async () => {
  const server = await start()
  const receiver = await receiving()
  const given = ['--org', server.orgId, '--kind', 'slack', '--name', 'chat', '--url', receiver.url]
  const { id, secret } = await admin(server, 'channel', 'create', ...given)
  await incident(server, await service(server), 'Errors <!channel> & @channel')

  const [delivery] = await receiver.first(1)

  expect(secret).toBeNull()
  const title = ':red_circle: INC-1 Errors &lt;!channel&gt; &amp; @\u200bchannel'
  const rest = 'Investigating · major outage · Checkout\nWe look.'
  expect(JSON.parse(delivery?.body ?? '')).toEqual({
    text: `${title}\n${rest}`,
    blocks: [
      {
        type: 'section',
        text: {
          ...{ type: 'mrkdwn', verbatim: true },
          text: `*${title}*\n${rest}`,
        },
      },
    ],
  })
  await expect(admin(server, 'channel', 'rotate', '--id', id)).rejects.toThrow(
    'kind slack has no signing secret',
  )
})

test('neither the path of a URL nor a secret is stored or logged in clear text', async () => {
  const server = await start({ engine: 'sqlite', logLevel: 'trace' })
  const receiver = await receiving(() => ({ status: 500 }))
  const { id, secret } = await createChannel(server, `${receiver.url}/canary-of-the-path`)
  await incident(server, await service(server))
  await receiver.first(1)

  await server.backUp(`${server.dataDir}/copy`)
  const texts = [server.logged(), readFileSync(`${server.dataDir}/copy`).toString('latin1')]
  texts.push(JSON.stringify(await deliveriesOf(server, id)))
  for (const text of texts) {
    expect(text).not.toContain('canary-of-the-path')
    expect(text).not.toContain(secret)
    expect(text).not.toContain('secret of the receiver')
  }
})

test.each([
  'https://hooks.example:22/canary',
  'ftp://hooks.example/canary',
  'https://me:canary@hooks.example/',
])('a refusal of the URL %s names only its host', async (url) => {
  const server = await start()
  const given = ['--org', server.orgId, '--kind', 'slack', '--name', 'chat', '--url', url]
  const { code, stdout, stderr } = await runHere([
    ...['channel', 'create', ...flagsFor(server, 'create'), '--json'],
    ...given,
  ])

  expect(code).toBe(1)
  expect(stdout + stderr).toContain('hooks.example')
  expect(stdout + stderr).not.toContain('canary')
})

test('a new channel whose services open no incidents automatically is reported, until one of them does', async () => {
  const server = await start()
  const id = await service(server)
  const create = async (...more: readonly string[]) => {
    const given = [
      '--org',
      server.orgId,
      '--kind',
      'slack',
      '--name',
      'chat',
      '--url',
      'https://chat.example/',
    ]
    return (await runHere(['channel', 'create', ...flagsFor(server, 'create'), ...given, ...more])).stderr
  }

  const quiet = await create()
  const certificates = await create('--events', 'certificate.expiring')
  await admin(server, 'service', 'auto-incidents', '--org', server.orgId, '--service', id)

  expect(quiet).toMatch(/^pharos-server: note: automatic incidents are off for all services of this channel/)
  expect([certificates, await create()]).toEqual(['', ''])
})

test('a URL is read from a file, so that it is not in the process list', async () => {
  const server = await start()
  const receiver = await receiving()
  const file = `${server.dataDir}/url`
  writeFileSync(file, `${receiver.url}\n`)
  const given = ['--org', server.orgId, '--kind', 'slack', '--name', 'chat', '--url-file', file]
  const { id } = await admin(server, 'channel', 'create', ...given)

  await admin(server, 'channel', 'test', '--id', id)

  expect(receiver.received).toHaveLength(1)
  await expect(admin(server, 'channel', 'create', ...given, '--url', receiver.url)).rejects.toThrow(
    'name either --url or --url-file',
  )
  await expect(admin(server, 'channel', 'create', ...given.slice(0, -2))).rejects.toThrow('name either')
})

test('ended deliveries and their events are removed after their time', async () => {
  const server = await start()
  const receiver = await receiving()
  const { id } = await createChannel(server, receiver.url)
  await incident(server, await service(server))
  await until(async () => (await deliveriesOf(server, id))[0].state === 'sent')

  await server.store.tidy(nowMs() + 7 * DAY_MS - 60_000)
  const kept = await deliveriesOf(server, id)
  await server.store.tidy(nowMs() + 7 * DAY_MS + 1_000)

  expect(kept).toHaveLength(1)
  expect(await deliveriesOf(server, id)).toEqual([])
})

test('an organisation has at most fifty channels, and a URL is validated when it is set', async () => {
  const server = await start()
  const { orgId } = server
  const create = (...url: string[]) =>
    runHere([
      'channel',
      'create',
      ...flagsFor(server, 'create'),
      '--org',
      orgId,
      '--kind',
      'slack',
      '--name',
      'x',
      '--url',
      ...url,
    ])

  const wrong = await Promise.all(
    ['nothing', 'ftp://x.example/', 'https://me:secret@x.example/', 'https://x.example:22/'].map((url) =>
      create(url),
    ),
  )
  for (let count = 0; count < 50; count += 1) await create('https://hooks.example/x')
  const last = await create('https://hooks.example/x')

  expect(wrong.map(({ code }) => code)).toEqual([1, 1, 1, 1])
  expect(last.stderr).toContain('at most 50 channels')
})
