import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const INCIDENT_ID = '0192b1d4-5c1e-7000-8000-000000000001'
const PAGE = `https://console.acme.example/o/${INCIDENT_ID}/incidents/${INCIDENT_ID}`

const open: (() => unknown)[] = []
afterEach(() => {
  for (const close of open.splice(0).reverse()) close()
})

/** A request that a receiver made. */
interface Call {
  readonly call: string
  readonly body: unknown
}

/** A stand-in for the service behind a receiver; it keeps issues like GitHub. */
async function startService() {
  const calls: Call[] = []
  const issues: { number: number; body: string }[] = []
  const service = { status: 200, calls, url: '' }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    request.on('end', () => {
      const body = text === '' ? null : JSON.parse(text)
      const call = `${request.method} ${request.url?.replace(/\?.*/, '')}`
      if (request.method !== 'GET') calls.push({ call, body })
      if (call === 'POST /repos/acme/shop/issues') issues.push({ number: 7, body: body.body })
      const content = request.method === 'GET' ? issues : { number: 7 }
      response.writeHead(service.status).end(JSON.stringify(content))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  // True because the server listens on TCP.
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return service
}

/** Starts a receiver; the function that delivers an event to it, and gives the status. */
async function startReceiver(name: string, environment: Readonly<Record<string, string>>) {
  const file = fileURLToPath(new URL(`./${name}.mjs`, import.meta.url))
  const env = { PATH: process.env.PATH ?? '', PHAROS_WEBHOOK_SECRET: SECRET, PORT: '0', ...environment }
  const child: ChildProcess = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  open.push(() => child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${name} ended`)))
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim().split(' ').at(-1) ?? ''))
  })
  return async (id: string, event: unknown, secret = SECRET): Promise<number> => {
    const body = JSON.stringify(event)
    const now = new Date()
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
}

function incidentEvent(type: string, status: string, body: string) {
  return {
    ...{ type, timestamp: '2026-01-02T03:04:05.000Z', sequence: 1 },
    data: {
      org: { id: INCIDENT_ID, name: 'Acme' },
      incident: {
        ...{ id: INCIDENT_ID, display_id: 'INC-1', title: 'Errors *here*', status, severity: 'major_outage' },
        services: [{ id: INCIDENT_ID, name: 'Checkout' }],
      },
      update: { body, status_at_update: status },
      url: PAGE,
    },
  }
}

const created = incidentEvent('incident.created', 'investigating', 'We look.')
const resolved = incidentEvent('incident.updated', 'resolved', 'Done.')

/** Delivers what every receiver must treat alike; the statuses of the responses. */
async function deliverAll(deliver: Awaited<ReturnType<typeof startReceiver>>, service: { status: number }) {
  const forged = await deliver('msg_0', created, OTHER_SECRET)
  service.status = 500
  const failed = await deliver('msg_1', created)
  service.status = 200
  return [
    forged,
    failed,
    await deliver('msg_1', created),
    await deliver('msg_1', created),
    await deliver('msg_2', resolved),
  ]
}

test('the receiver for PagerDuty triggers an alert and resolves it, each once, and refuses a forged event', async () => {
  const service = await startService()
  const environment = { PAGERDUTY_ROUTING_KEY: 'key', PAGERDUTY_URL: service.url }
  const deliver = await startReceiver('pagerduty', environment)

  const statuses = await deliverAll(deliver, service)

  expect(statuses).toEqual([401, 502, 204, 204, 204])
  expect(service.calls.slice(1).map(({ body }) => body)).toMatchObject([
    {
      ...{ routing_key: 'key', event_action: 'trigger', dedup_key: INCIDENT_ID },
      payload: { summary: 'INC-1 Errors *here*', source: 'Acme', severity: 'critical' },
    },
    { event_action: 'resolve', dedup_key: INCIDENT_ID },
  ])
})

test('the receiver for Teams posts a card for each event, in which no text is markup', async () => {
  const service = await startService()
  const deliver = await startReceiver('teams', { TEAMS_URL: service.url })

  const statuses = await deliverAll(deliver, service)

  expect(statuses).toEqual([401, 502, 204, 204, 204])
  expect(service.calls.slice(1)).toHaveLength(2)
  expect(service.calls[1]?.body).toMatchObject({
    attachments: [
      {
        content: {
          body: [{ text: 'INC-1 Errors \\*here\\*', color: 'Attention' }, {}, {}, {}, { text: PAGE }],
        },
      },
    ],
  })
})

test('the receiver for GitHub opens an issue, comments on it and closes it', async () => {
  const service = await startService()
  const environment = { GITHUB_REPOSITORY: 'acme/shop', GITHUB_TOKEN: 'token', GITHUB_API_URL: service.url }
  const deliver = await startReceiver('github', environment)

  const statuses = [
    await deliver('msg_1', created),
    await deliver('msg_1', created),
    await deliver('msg_2', resolved),
  ]

  expect(await deliver('msg_3', resolved, OTHER_SECRET)).toBe(401)
  expect(statuses).toEqual([204, 204, 204])
  expect(service.calls).toMatchObject([
    { call: 'POST /repos/acme/shop/issues', body: { title: 'INC-1 Errors *here*', labels: ['pharos'] } },
    {
      call: 'POST /repos/acme/shop/issues/7/comments',
      body: { body: expect.stringContaining('resolved: Done.') },
    },
    { call: 'PATCH /repos/acme/shop/issues/7', body: { state: 'closed' } },
  ])
})

test('the receiver for mail sends one message for each event, whose subject is a single header', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-mail-'))
  open.push(() => rmSync(folder, { recursive: true }))
  const sendmail = join(folder, 'sendmail')
  writeFileSync(sendmail, `#!/bin/sh\ntest -e ${folder}/broken && exit 75\ncat >> ${folder}/mails\n`)
  chmodSync(sendmail, 0o755)
  const environment = { MAIL_FROM: 'pharos@acme.example', MAIL_TO: 'ops@acme.example', SENDMAIL: sendmail }
  const deliver = await startReceiver('email', environment)

  writeFileSync(join(folder, 'broken'), '')
  const failed = await deliver('msg_1', created)
  const hasMail = existsSync(join(folder, 'mails'))
  rmSync(join(folder, 'broken'))
  const statuses = [await deliver('msg_1', created), await deliver('msg_1', created)]

  const [head = '', text = ''] = readFileSync(join(folder, 'mails'), 'utf8').split('\n\n')
  const subject = /^Subject: =\?utf-8\?B\?(.*)\?=$/m.exec(head)?.[1] ?? ''
  expect(await deliver('msg_2', created, OTHER_SECRET)).toBe(401)
  expect([failed, hasMail, statuses]).toEqual([502, false, [204, 204]])
  expect(head).toContain('To: ops@acme.example\n')
  expect(Buffer.from(subject, 'base64').toString()).toBe('INC-1 Errors *here*')
  const lines = Buffer.from(text, 'base64').toString().split('\n\n')
  expect([lines[1], lines.at(-1)]).toEqual(['investigating: We look.', `${PAGE}\n`])
})
