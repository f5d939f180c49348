import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ConsoleServer, startConsoleServer } from '../console/testing/startConsoleServer.ts'
import { defaultKeyFile } from '../secrets/keyring.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { freePort } from '../testing/freePort.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { type Receiver, startReceiver } from './testing/receiver.ts'

let server: ConsoleServer
let receiver: Receiver

beforeEach(async () => {
  const port = await freePort()
  server = await startConsoleServer({
    console: { port, url: `http://localhost:${port}` },
    webhookRanges: ['127.0.0.0/8'],
  })
  receiver = await startReceiver()
})
afterEach(async () => {
  receiver.close()
  await server.close()
})

async function createChannel(kind: string): Promise<void> {
  const given = ['--org', server.orgId, '--kind', kind, '--name', kind, '--url', receiver.url]
  await runHere([
    ...['channel', 'create', ...given, ...server.flags],
    ...['--master-key-file', defaultKeyFile(server.dataDir)],
  ])
}

/** A service, and an incident of it. */
async function failingService() {
  const api = apiClient(server.url, server.apiKey)
  const service = Object((await api.post('/v1/services', serviceBody())).json)
  const incident = {
    title: 'Errors',
    message: 'We look.',
    severity: 'major_outage',
    service_ids: [service.id],
  }
  return { service, incident: Object((await api.post('/v1/incidents', incident)).json) }
}

/** What a viewer who opens `url` sees, after the sign-in to which it redirects. */
async function opened(url: string): Promise<string> {
  const path = url.slice(server.consoleUrl.length)
  const { location } = await server.visitor().get(path)
  const { client } = await server.signIn('viewer')
  const next = new URL(location, server.consoleUrl).searchParams.get('next') ?? ''
  return (await client.get(next)).text
}

test('the link of an incident leads to its page, after the sign-in', async () => {
  await createChannel('webhook')
  const { incident } = await failingService()

  const [delivery] = await receiver.first(1)

  const { url } = JSON.parse(delivery?.body ?? '').data
  expect(url).toBe(`${server.consoleUrl}/o/${server.orgId}/incidents/${incident.id}`)
  expect(await opened(url)).toContain(`${incident.display_id}`)
})

test('the link of a certificate leads to the page of a service with it', async () => {
  const { service } = await failingService()
  await createChannel('webhook')
  const endpointId = service.endpoints[0].id
  await server.store.numberEndpoints([{ id: endpointId, serviceId: service.id }])
  const notice = {
    ...{
      org_id: server.orgId,
      host: 'shop.example',
      port: 443,
      fingerprint: 'AB:CD',
      subject: 'CN=shop.example',
    },
    ...{ issuer: 'CN=ca', serial: '01', not_before_s: 1_000, not_after_s: 2_000, days_left: 13 },
    ...{ threshold_s: 14 * 24 * 60 * 60, endpoint_ids: [endpointId] },
  }
  const body = JSON.stringify(notice)
  const transition = { sequence: 1, atS: 1_000, serviceId: service.id, kind: 'certificate.expiring', body }
  await server.store.applyTransition('results', 0, transition)

  const [delivery] = await receiver.first(1)

  const { url } = JSON.parse(delivery?.body ?? '').data
  expect(url).toBe(`${server.consoleUrl}/o/${server.orgId}/services/${service.id}`)
  expect(await opened(url)).toContain(service.name)
})

test('a message to Slack links the number of the incident', async () => {
  await createChannel('slack')
  const { incident } = await failingService()

  const [delivery] = await receiver.first(1)

  const url = `${server.consoleUrl}/o/${server.orgId}/incidents/${incident.id}`
  const title = `:red_circle: <${url}|${incident.display_id}> Errors`
  const rest = 'Investigating · major outage · Checkout\nWe look.'
  expect(JSON.parse(delivery?.body ?? '')).toMatchObject({
    text: `${title}\n${rest}`,
    blocks: [{ text: { text: `*${title}*\n${rest}` } }],
  })
})
