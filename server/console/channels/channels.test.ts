import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Receiver, startReceiver } from '../../notifications/testing/receiver.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { runHere } from '../../testing/commandHere.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { type ConsoleServer, startConsoleServer } from '../testing/startConsoleServer.ts'

let server: ConsoleServer
let receiver: Receiver
let serviceId: string
let status = 200

beforeAll(async () => {
  server = await startConsoleServer({ webhookRanges: ['127.0.0.0/8'], status: {} })
  receiver = await startReceiver(() => ({ status }))
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  serviceId = String(Object(json).id)
})
afterAll(async () => {
  await server.close()
  await receiver.close()
})

const channelForm = (name: string) =>
  new URLSearchParams(
    `events=incident.created&events=incident.updated&kind=webhook&${new URLSearchParams({
      ...{ name, url: `${receiver.url}?secret-part`, services: serviceId },
    })}`,
  )

const seenIn = (page: string): string => /name="seen" value="([^"]+)"/.exec(page)?.[1] ?? ''

const channelOf = async (name: string) =>
  (await server.store.listChannels(server.orgId)).find((channel) => channel.name === name)

const channelIds = async () => (await server.store.listChannels(server.orgId)).map(({ id }) => id)

test('an incident posted in the console reaches a webhook, verified with the secret shown once, and the status page', async () => {
  status = 200
  const { client, actions, root } = await server.signIn('member')
  const created = await client.post(`${actions}/channels`, channelForm('story'))
  const secret = /whsec_[\w+/=]+/.exec(created.text)?.[0] ?? ''
  const channel = await channelOf('story')
  const page = ['--org', server.orgId, '--slug', 'story', '--title', 'Story', '--service', serviceId]
  await runHere(['status-page', 'create', ...page, ...server.flags])
  const title = 'Payments <fail>'
  const incident = new URLSearchParams({
    title,
    message: 'We look.',
    severity: 'major_outage',
    service_ids: serviceId,
  })
  const opened = await client.post(`${actions}/incidents`, incident)
  const [delivery] = await server.store.listDeliveries({ id: channel?.id ?? '' }, { countMax: 1 })
  const arrived = () => receiver.received.find(({ id }) => id === delivery?.webhookId)
  await vi.waitFor(() => expect(arrived()).toBeDefined(), { timeout: 30_000 })
  const first = arrived()
  await vi.waitFor(
    async () => {
      const shown = await (await fetch(`${server.statusUrl}/s/story`)).text()
      expect(shown).toContain('Payments &lt;fail&gt;')
    },
    { timeout: 30_000 },
  )
  const view = await client.get(`${root}/channels/${channel?.id}`)

  expect([created.status, opened.status]).toEqual([200, 303])
  // Throws when the signature is wrong.
  new Webhook(secret).verify(first?.body ?? '', Object(first?.headers))
  expect(JSON.parse(first?.body ?? '')).toMatchObject({
    type: 'incident.created',
    data: { incident: { title } },
  })
  const { id, display_id } = JSON.parse(first?.body ?? '').data.incident
  expect(view.text).toContain(`incident.created <a href="${root}/incidents/${id}">${display_id}</a>`)
  expect(view.text).not.toContain(secret)
  expect(view.text).not.toContain('secret-part')
})

test('the form of a channel says which incidents it gets', async () => {
  const { client, root } = await server.signIn('member')

  const form = await client.get(`${root}/channels/new`)

  expect(form.text).toContain('aria-describedby="h-events"')
  expect(form.text).toContain(
    'Services without automatic incidents, which are off by default, only have those',
  )
})

test('a test shows the response of the receiver, and a failed delivery is shown with its attempts and sent again', async () => {
  const { client, actions, root, id } = await server.signIn('member')
  await client.post(`${actions}/channels`, channelForm('tests'))
  const channel = await channelOf('tests')
  const at = `${actions}/channels/${channel?.id}`
  status = 200
  const good = await client.post(`${at}/test`)
  const goodPage = await client.get(good.location)
  status = 503
  const bad = await client.post(`${at}/test`)
  await client.post(`${at}/disable`)
  const [failed] = await server.store.listDeliveries({ id: channel?.id ?? '' }, { countMax: 10 })
  const refused = await client.post(`${at}/test`)
  await client.post(`${at}/enable`)
  const delivery = await client.get(`${root}/channels/${channel?.id}/deliveries/${failed?.webhookId}`)
  status = 200
  const all = await client.post(`${at}/again`, { since: '2020-01-01T00:00' })
  await vi.waitFor(
    async () => {
      const [again] = await server.store.listDeliveries({ id: channel?.id ?? '' }, { countMax: 10 })
      expect(again).toMatchObject({ state: 'sent', webhookId: failed?.webhookId })
    },
    { timeout: 30_000 },
  )
  const acts = (await server.store.listAudit(server.orgId, 100)).filter(
    ({ targetId }) => targetId === channel?.id,
  )

  expect([good.status, bad.status, refused.status, all.status]).toEqual([303, 422, 422, 303])
  expect(goodPage.text).toContain('The test was delivered: status 200')
  expect(bad.text).toContain('The test failed: status 503')
  expect(failed?.state).toBe('failed')
  expect(delivery.text).toContain('channel.test')
  expect(delivery.text).toContain('status 503')
  expect(new Set(acts.map(({ actor }) => actor))).toEqual(new Set([id]))
})

test('a page that leaves out older deliveries says so', async () => {
  const { client, actions, root } = await server.signIn('member')
  status = 200
  await client.post(`${actions}/channels`, channelForm('many'))
  const ref = { id: (await channelOf('many'))?.id ?? '' }
  const page = async () => (await client.get(`${root}/channels/${ref.id}`)).text

  for (let count = 0; count < 99; count += 1) await server.store.testChannel(ref, Date.now())
  const whole = await page()
  await server.store.testChannel(ref, Date.now())

  expect(whole).not.toContain('The newest')
  expect(await page()).toContain('The newest 100.')
})

test('a waiting delivery is attempted at once on request, and every page names a disabled channel', async () => {
  const { client, actions, root } = await server.signIn('member')
  await client.post(`${actions}/channels`, channelForm('waiting'))
  const channel = await channelOf('waiting')
  const at = `${actions}/channels/${channel?.id}`
  const ref = { id: channel?.id ?? '' }
  status = 503
  const text = { title: 'Errors', message: 'We look.', severity: 'major_outage', service_ids: serviceId }
  await client.post(`${actions}/incidents`, new URLSearchParams(text))
  const seen = async () => (await server.store.listDeliveries(ref, { countMax: 10 }))[0]
  // Twice, so that the next attempt is half a minute away.
  await vi.waitFor(async () => expect((await seen())?.attempts).toBe(2), { timeout: 30_000 })
  status = 200
  const waiting = await client.get(`${root}/channels/${channel?.id}`)
  const tried = await client.post(`${at}/deliveries/${(await seen())?.webhookId}/again`)
  const dueMs = (await seen())?.dueMs ?? 0
  await vi.waitFor(async () => expect((await seen())?.state).toBe('sent'), { timeout: 30_000 })
  const before = await client.get(`${root}/services`)
  await client.post(`${at}/disable`)
  const after = await client.get(`${root}/services`)

  expect(waiting.text).toContain('Try now')
  expect([tried.status, dueMs <= Date.now()]).toEqual([303, true])
  expect(before.text).not.toContain('sends nothing')
  expect(after.text).toContain(`channels/${channel?.id}"><bdi>waiting</bdi>`)
})

test('when a member changes a channel, waiting deliveries go to its new URL, which is not shown, and the secret stays', async () => {
  const { client, actions, root } = await server.signIn('member')
  const elsewhere = await startReceiver(() => ({ status: 200 }))
  try {
    const made = await client.post(`${actions}/channels`, channelForm('moved'))
    const secret = /whsec_[\w+/=]+/.exec(made.text)?.[0] ?? ''
    const id = (await channelOf('moved'))?.id ?? ''
    status = 503
    const text = { title: 'Moved', message: 'We look.', severity: 'major_outage', service_ids: serviceId }
    await client.post(`${actions}/incidents`, new URLSearchParams(text))
    const delivery = async () => (await server.store.listDeliveries({ id }, { countMax: 1 }))[0]
    await vi.waitFor(async () => expect((await delivery())?.attempts).toBeGreaterThan(0), { timeout: 30_000 })
    const seen = seenIn((await client.get(`${root}/channels/${id}/edit`)).text)
    const wanted = {
      seen,
      name: 'there',
      url: `${elsewhere.url}?new-secret-part`,
      events: 'incident.created',
    }
    const changed = await client.post(`${actions}/channels/${id}/change`, wanted)
    // A delivery that failed twice on a slow machine is attempted again after half a minute.
    await vi.waitFor(async () => expect((await delivery())?.state).toBe('sent'), { timeout: 60_000 })
    const page = await client.get(`${root}/channels/${id}/edit`)
    const acts = await server.store.findAudit(
      server.orgId,
      { action: 'channel.update', targetId: id },
      { beforeSeq: undefined, countMax: 5 },
    )
    const [sent] = elsewhere.received

    expect(changed.status).toBe(303)
    expect(await channelOf('there')).toMatchObject({
      ...{ host: new URL(elsewhere.url).host, events: ['incident.created'], serviceIds: null },
    })
    new Webhook(secret).verify(sent?.body ?? '', Object(sent?.headers))
    expect(page.text).not.toContain('secret-part')
    expect(JSON.stringify(acts)).not.toContain('secret-part')
    expect(acts.map(({ detail }) => detail)).toMatchObject([{ name: 'there', has_new_url: true }])
  } finally {
    status = 200
    await elsewhere.close()
  }
})

test('when two people change a channel at once, the second sees both versions, and no change is lost', async () => {
  const { client, actions, root } = await server.signIn('member')
  await client.post(`${actions}/channels`, channelForm('shared'))
  const id = (await channelOf('shared'))?.id ?? ''
  const at = `${actions}/channels/${id}/change`
  const seen = seenIn((await client.get(`${root}/channels/${id}/edit`)).text)
  const first = await client.post(at, { seen, name: 'first', url: '', events: 'incident.created' })
  const mistaken = await client.post(at, { seen, name: '', url: '', events: 'incident.updated' })
  const second = await client.post(at, {
    ...{ seen: seenIn(mistaken.text), name: 'second', url: '', events: 'incident.updated' },
  })
  const kept = await channelOf('first')
  const fresh = seenIn(second.text)
  const again = await client.post(at, { seen: fresh, name: 'second', url: '', events: 'incident.updated' })
  const faulty = await client.post(at, { seen: fresh, name: ' ', url: 'ftp://token.example', services: id })

  expect([first.status, mistaken.status, second.status]).toEqual([303, 422, 409])
  expect([again.status, faulty.status]).toEqual([303, 422])
  expect(kept).toMatchObject({ id, events: ['incident.created'] })
  expect(second.text).toContain('<bdi>first</bdi> at')
  expect(second.text).toContain('value="second"')
  expect(faulty.text).toContain('A service no longer exists')
  expect(faulty.text).not.toContain('token.example')
  expect(await channelOf('second')).toMatchObject({ id, events: ['incident.updated'] })
})

test('a refused change of a channel says that its new URL must be entered again', async () => {
  const { client, actions, root } = await server.signIn('member')
  await client.post(`${actions}/channels`, channelForm('renamed'))
  const id = (await channelOf('renamed'))?.id ?? ''
  const seen = seenIn((await client.get(`${root}/channels/${id}/edit`)).text)
  const change = (form: Record<string, string>) =>
    client.post(`${actions}/channels/${id}/change`, { seen, name: ' ', events: 'incident.created', ...form })

  const refused = await change({ url: 'https://new.example/secret-part' })
  const without = await change({ url: '' })

  expect([refused.status, without.status]).toEqual([422, 422])
  expect(refused.text).toContain('Enter the new URL again')
  expect(refused.text).not.toContain('secret-part')
  expect(without.text).not.toContain('Enter the new URL again')
})

test('an owner who has confirmed the password can see the secret again, and the audit log records it', async () => {
  const owner = await server.signIn('owner')
  const late = await server.signIn('owner', { isElevated: false })
  const member = await server.signIn('member')
  const made = await owner.client.post(`${owner.actions}/channels`, channelForm('shown'))
  const channel = await channelOf('shown')
  const at = `${owner.actions}/channels/${channel?.id}/show-secret`
  const shown = await owner.client.post(at)
  const [asked, refused] = [await late.client.post(at), await member.client.post(at)]
  const acts = (await server.store.listAudit(server.orgId, 50)).filter(
    ({ action, targetId }) => action === 'channel.show_secret' && targetId === channel?.id,
  )
  const [first, again] = [made, shown].map(({ text }) => /whsec_[\w+/=]+/.exec(text)?.[0])

  expect(shown.status).toBe(200)
  expect(again).toMatch(/^whsec_/)
  expect(again).toBe(first)
  expect([asked.text, refused.text].join()).not.toContain('whsec_')
  expect(acts.map(({ actor }) => actor)).toEqual([owner.id])
})

test('only owners rotate the secret and delete, and a viewer sees deliveries without payloads', async () => {
  const owner = await server.signIn('owner')
  const viewer = await server.signIn('viewer')
  const made = await owner.client.post(`${owner.actions}/channels`, channelForm('owned'))
  const channel = await channelOf('owned')
  const rotated = await owner.client.post(`${owner.actions}/channels/${channel?.id}/rotate`)
  const seen = await viewer.client.get(`${viewer.root}/channels/${channel?.id}`)
  const deleted = await owner.client.post(`${owner.actions}/channels/${channel?.id}/delete`)
  const [before, after] = [made, rotated].map(({ text }) => /whsec_[\w+/=]+/.exec(text)?.[0])

  expect([made.status, rotated.status, seen.status, deleted.status]).toEqual([200, 200, 200, 303])
  expect(after).toMatch(/^whsec_/)
  expect(after).not.toBe(before)
  expect(seen.text).not.toContain('<form method="post" action="/api/o')
  expect(await channelOf('owned')).toBeUndefined()
})

test('an invalid form is shown again without the URL, and creates nothing', async () => {
  const { client, actions } = await server.signIn('member')
  const before = await channelIds()
  const refused = await client.post(`${actions}/channels`, {
    name: ' ',
    kind: 'webhook',
    url: 'ftp://a.example/token',
  })

  expect(refused.status).toBe(422)
  expect(refused.text).toContain('The URL must be an https URL')
  expect(refused.text).toContain('Choose at least one')
  expect(refused.text).not.toContain('token')
  expect(await channelIds()).toEqual(before)
})
