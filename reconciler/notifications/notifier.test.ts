import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ChannelSettings } from '../controller/config/settings.ts'
import type { ControllerEvent } from '../controller/status/status.ts'
import { eventOf } from '../controller/view/eventsOf.ts'
import { sampleStatus } from '../dashboard/testing/sampleStatus.ts'
import { ATTEMPTS_MAX, WAITING_MAX } from './delivery/channel.ts'
import { slackRequest } from './slack/slackRequest.ts'
import { type Receiver, startReceiver } from './testing/receiver.ts'
import { type TestNotifications, testNotifications } from './testing/testNotifications.ts'

const SECRET = 'a-secret-of-the-receiver'
let slack: Receiver
let hook: Receiver
let notifications: TestNotifications

beforeEach(async () => {
  slack = await startReceiver()
  hook = await startReceiver()
})
afterEach(async () => {
  // Whatever a test left waiting ends with its receivers.
  await Promise.all([slack.close(), hook.close()])
})

function channel(
  kind: ChannelSettings['kind'],
  url: string,
  over: Partial<ChannelSettings> = {},
): ChannelSettings {
  return { name: kind, kind, url, severity: 'info', secret: kind === 'webhook' ? SECRET : undefined, ...over }
}

function opened(channels: readonly ChannelSettings[]): TestNotifications {
  return testNotifications(() => sampleStatus([]), { channels, forges: [] })
}

function event(message: string, over: Partial<ControllerEvent> = {}): ControllerEvent {
  const { set = 'shop', commit = null, ...told } = over
  const at = '2026-01-14T10:00:00.000Z'
  return eventOf({ type: 'Notice', severity: 'warning', message, ...told }, { at, set, commit, runId: null })
}

/** Lets `clock` go on, a step at a time, until `receiver` has `count` requests in all. */
async function received(receiver: Receiver, count: number): Promise<void> {
  while (receiver.received.length < count) {
    const stepMs = notifications.clock.nextTimerMs()
    if (stepMs !== null) notifications.clock.advance(stepMs)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Waits until what is said of a channel in the metrics contains `line`. */
async function metric(line: string): Promise<void> {
  while (!(await notifications.registry.metrics()).includes(line))
    await new Promise((resolve) => setImmediate(resolve))
}

function messagesOf(receiver: Receiver): readonly string[][] {
  return receiver.received.map(({ body }) =>
    JSON.parse(body).events.map(({ message }: ControllerEvent) => message),
  )
}

test('Scenario 52: an unreachable Slack delays no run, no other channel, and not the exit of the program', async () => {
  slack.responses.push('hang', 'hang')
  notifications = opened([channel('slack', `${slack.url}/services/T/B/x`), channel('webhook', hook.url)])
  notifications.onEvent(event('first'))
  await received(hook, 1)
  notifications.onEvent(event('second'))
  await received(hook, 2)
  await metric('pharos_notifications_total{channel="webhook",result="sent"} 2')

  expect(messagesOf(hook)).toEqual([['first'], ['second']])
  expect(slack.received).toHaveLength(1)
  const closed = notifications.close()
  notifications.clock.advance(5_000)
  await closed
  const lost = 'the channel slack does not accept messages (AbortError): 1 event lost'
  expect(notifications.problems).toEqual([lost, lost])
})

test('related events are sent in one message, whose signature covers the raw body with its time', async () => {
  notifications = opened([channel('webhook', `${hook.url}/pharos?team=shop`)])
  notifications.onEvent(event('one', { set: null }))
  notifications.onEvent(event('two'))
  await received(hook, 1)

  const [request] = hook.received
  expect(request?.path).toBe('/pharos?team=shop')
  expect(request?.headers['x-pharos-signature']).toBe(
    `sha256=${createHmac('sha256', SECRET)
      .update(request?.body ?? '')
      .digest('hex')}`,
  )
  expect(request?.headers['x-pharos-delivery']).toBe('delivery-1')
  const { events, ...rest } = JSON.parse(request?.body ?? '')
  expect(rest).toEqual({
    version: 1,
    delivery: 'delivery-1',
    sentAt: '2026-01-14T10:00:02.000Z',
    controller: { version: '0.1.0', replica: 'pharos-0' },
    dropped: 0,
  })
  expect(events).toEqual([event('one', { set: null }), event('two')])
})

test('a delivery to an unreachable receiver is retried with the same id, with growing delays that respect Retry-After', async () => {
  notifications = opened([channel('webhook', hook.url)])
  hook.responses.push(503, 'reset', { status: 429, headers: { 'Retry-After': '30' } }, 500)
  notifications.onEvent(event('delivered in the end'))
  await received(hook, 5)

  const tries = hook.received.map(({ body }) => JSON.parse(body))
  expect(new Set(tries.map(({ delivery }) => delivery))).toEqual(new Set(['delivery-1']))
  const times = tries.map(
    ({ sentAt }) => (Date.parse(sentAt) - Date.parse('2026-01-14T10:00:02.000Z')) / 1_000,
  )
  // A second, then two, each with a quarter less by chance; then what was asked for; then eight.
  expect(times).toEqual([0, 0.75, 2.25, 32.25, 38.25])
  await metric('pharos_notifications_total{channel="webhook",result="sent"} 1')
  expect(notifications.problems).toEqual([
    'the channel webhook does not accept messages (status 503): retrying',
  ])
})

test('a Retry-After of none, or before the time of this machine, does not make retries quicker', async () => {
  notifications = opened([channel('webhook', hook.url)])
  const past = 'Mon, 12 Jan 2026 10:00:00 GMT'
  hook.responses.push({ status: 429, headers: { 'Retry-After': '0' } })
  hook.responses.push({ status: 429, headers: { 'Retry-After': past } })
  notifications.onEvent(event('delivered in the end'))
  await received(hook, 3)

  const times = hook.received.map(({ body }) => Date.parse(JSON.parse(body).sentAt))
  expect(times.map((at) => at - (times[0] ?? 0))).toEqual([0, 750, 2_250])
})

test('a delivery that a receiver refuses permanently is reported without its URL, and does not delay later ones', async () => {
  notifications = opened([channel('slack', `${slack.url}/services/SECRET-PATH`)])
  slack.responses.push(404)
  notifications.onEvent(event('lost'))
  await received(slack, 1)
  await metric('pharos_notifications_total{channel="slack",result="refused"} 1')
  notifications.onEvent(event('next'))
  await received(slack, 2)

  expect(JSON.parse(slack.received[1]?.body ?? '').text).toBe('shop: next')
  expect(notifications.problems).toEqual([
    'the channel slack does not accept messages (status 404): 1 event lost',
  ])
})

test('each message to a receiver that never recovers is given up after a while', async () => {
  notifications = opened([channel('webhook', 'http://127.0.0.1:9')])
  notifications.onEvent(event('lost'))
  let attempts = 0
  while (notifications.problems.length < 2) {
    const stepMs = notifications.clock.nextTimerMs()
    if (stepMs !== null) {
      notifications.clock.advance(stepMs)
      attempts += 1
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(attempts).toBe(ATTEMPTS_MAX)
  expect(notifications.problems[1]).toMatch(
    /^the channel webhook does not accept messages \([A-Z_]+\): 1 event lost$/,
  )
})

test('an unchanged condition is sent once, and again when it returns', async () => {
  notifications = opened([channel('webhook', hook.url)])
  const raised = event('Degraded: 2 services', { type: 'ConditionRaised', condition: 'Degraded' })
  const cleared = event('Degraded no longer holds', { type: 'ConditionCleared', condition: 'Degraded' })
  for (const one of [raised, raised, cleared, cleared, raised]) notifications.onEvent(one)
  await received(hook, 1)
  notifications.clock.advance(13 * 3_600_000)
  notifications.onEvent(raised)
  await received(hook, 2)

  expect(messagesOf(hook)).toEqual([
    ['Degraded: 2 services', 'Degraded no longer holds', 'Degraded: 2 services'],
    ['Degraded: 2 services'],
  ])
  await metric('pharos_notifications_total{channel="webhook",result="duplicate"} 2')
})

test('the queue is limited: the least severe events are dropped first, and their number is reported', async () => {
  notifications = opened([channel('webhook', hook.url)])
  for (let index = 0; index < 10_000; index += 1)
    notifications.onEvent(event(`event ${index}`, { severity: index % 100 === 0 ? 'error' : 'info' }))
  expect(await notifications.registry.metrics()).toContain(
    `pharos_notifications_waiting{channel="webhook"} ${WAITING_MAX}`,
  )
  await received(hook, WAITING_MAX / 20)

  const bodies = hook.received.map(({ body }) => JSON.parse(body))
  expect(bodies.map(({ dropped }) => dropped)).toEqual([9_500, ...Array.from({ length: 24 }, () => 0)])
  const severities = bodies.flatMap(({ events }) => events.map(({ severity }: ControllerEvent) => severity))
  expect(severities.filter((severity) => severity === 'error')).toHaveLength(100)
})

test('a channel gets only events of its sets, severities and types', async () => {
  notifications = opened([
    channel('webhook', hook.url, { sets: ['shop'], severity: 'warning', events: ['Notice', 'RunFailed'] }),
  ])
  notifications.onEvent(event('other set', { set: 'search' }))
  notifications.onEvent(event('no set', { set: null }))
  notifications.onEvent(event('too mild', { severity: 'info' }))
  notifications.onEvent(event('other type', { type: 'DriftFound' }))
  notifications.onEvent(event('this one', { severity: 'error' }))
  await received(hook, 1)

  expect(messagesOf(hook)).toEqual([['this one']])
})

test('external text is escaped for Slack, and truncated to the limit of Slack', () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.constantFrom('<!channel>', '<@U123>', '<https://evil.example|click>', '&lt;', '|>'),
    fc.integer({ min: 1, max: 20_000 }).map((count) => '<&>'.repeat(count)),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(nasty, nasty, nasty), { minLength: 1, maxLength: 20 }), (texts) => {
      const events = texts.map(([message, todo, set]) => event(message, { todo, set, commit: message }))
      const message = { events, dropped: 3, delivery: 'd', sentAt: 't' }
      const { body } = slackRequest('http://slack', message, 'https://pharos.example.com/')
      const { text, blocks } = JSON.parse(body ?? '')
      expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
      expect(blocks.length).toBeLessThanOrEqual(50)
      for (const block of blocks) {
        expect(block.text.text.length).toBeLessThanOrEqual(3_000)
        const withoutOurs = block.text.text.replaceAll(
          /<https:\/\/pharos\.example\.com\/sets\/[^<>|]*\|[^<>|]*>/g,
          '',
        )
        expect(withoutOurs).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
      }
    }),
  )
  const one = { events: [event('1 < 2 & so on', { todo: 'look' })], dropped: 0, delivery: 'd', sentAt: 't' }
  expect(JSON.parse(slackRequest('http://slack', one, null).body ?? '')).toEqual({
    text: 'shop: 1 &lt; 2 &amp; so on',
    blocks: [
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: ':warning: *shop* warning: 1 &lt; 2 &amp; so on\n→ look',
          verbatim: true,
        },
      },
    ],
  })
})

test('Scenario 53: notification metrics have a series for each channel and result, and none for a service', async () => {
  notifications = opened([channel('webhook', hook.url)])
  const lines = async (): Promise<number> => (await notifications.registry.metrics()).split('\n').length
  notifications.onEvent(event('failed', { type: 'ServiceFailed', keys: ['a'] }))
  await received(hook, 1)
  await metric('result="sent"} 1')
  const before = await lines()
  for (let index = 0; index < 400; index += 1)
    notifications.onEvent(event(`failed ${index}`, { type: 'ServiceFailed', keys: [`service-${index}`] }))
  await received(hook, 21)
  await metric('result="sent"} 401')
  expect(await lines()).toBe(before)
})
