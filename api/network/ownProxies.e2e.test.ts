/** Notifications and checks of the built programs through proxies of their own, which ask for a password. */

import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { testAuthority, type ServerCertificate } from '../../monitoring/check/testing/certificates.ts'
import { startAgentProcess } from '../../server/testing/agentProcess.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { runHere } from '../../server/testing/commandHere.ts'
import { makeKeys, makeOrg } from '../../server/testing/seedFolder.ts'
import { runProgram, type ServerProcess, startProcess } from '../../server/testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'
import { suiteFolder } from '../testing/temporaryFolder.ts'
import { type ConnectProxy, type Refusal, startConnectProxy } from './testing/connectProxy.ts'

/** A name that the certificate has, and that the proxies alone can find. */
const HOST = 'shop.example'
const LOGIN = 'jane:pass-canary'
const ASKED = `${HOST}:443`
/** Shorter than any plan allows, so that checks begin soon (seconds). */
const INTERVAL_S = 2
const LOOK_MS = 50

const folder = suiteFolder()
let authorityFile: string
let certificate: ServerCertificate
let receiverPort: number
const received: string[] = []
const ending: (() => unknown)[] = []
beforeAll(async () => {
  const { authorities, valid } = testAuthority()
  certificate = valid
  authorityFile = join(folder, 'authority.pem')
  writeFileSync(authorityFile, authorities)
  const receiver = createServer(valid, (request, response) => {
    received.push(`${request.method} ${request.url}`)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  // True because it listens on TCP.
  receiverPort = (receiver.address() as AddressInfo).port
  ending.push(() => receiver.close())
})
afterAll(() => {
  for (const end of ending) end()
})

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  received.length = 0
  for (const close of closing.splice(0).reverse()) await close()
})

async function startProxy(refusal?: Refusal): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(LOGIN, { [HOST]: receiverPort }, refusal)
  closing.push(proxy.close)
  return proxy
}

/** The address of `proxy` behind TLS. */
async function secured(proxy: ConnectProxy): Promise<string> {
  const port = Number(proxy.address.split(':')[1])
  const front = createTlsServer(certificate, (client) => {
    const inner = connect(port, '127.0.0.1')
    client.on('error', () => inner.destroy()).pipe(inner)
    inner.on('error', () => client.destroy()).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  closing.push(async () => front.close())
  // True because it listens on TCP.
  return `localhost:${(front.address() as AddressInfo).port}`
}

const urlOf = (proxy: ConnectProxy): string => `http://${LOGIN}@${proxy.address}`

interface Started {
  readonly server: ServerProcess
  readonly dataDir: string
  readonly orgId: string
  readonly key: string
}

async function start(name: string, environment: Readonly<Record<string, string>>): Promise<Started> {
  const dataDir = join(folder, name)
  const orgId = await makeOrg(dataDir)
  const [key = ''] = await makeKeys(dataDir, orgId, 1)
  const limits = ['--org', orgId, '--interval-secs-min', String(INTERVAL_S)]
  await runHere(['plan', 'limits', '--data-dir', dataDir, ...limits])
  const server = await startProcess(dataDir, ['--admin-port', '0', '--log-level', 'trace'], {
    environment: { NODE_EXTRA_CA_CERTS: authorityFile, ...environment },
  })
  closing.push(server.stop)
  return { server, dataDir, orgId, key }
}

async function createChannel({ dataDir, orgId }: Started, kind: string): Promise<string> {
  const given = ['--data-dir', dataDir, '--org', orgId, '--kind', kind, '--name', kind, '--json']
  const { stdout } = await runHere(['channel', 'create', ...given, '--url', `https://${HOST}/${kind}`])
  return JSON.parse(stdout).id
}

async function createService({ server, key }: Started, path: string): Promise<string> {
  const endpoints = [endpointBody({ url: `https://${HOST}${path}` })]
  const body = serviceBody({ interval_secs: INTERVAL_S, endpoints })
  const { json } = await apiClient(server.url, key).post('/v1/services', body)
  return String(Object(json).id)
}

/** The outcomes of the results of a service. */
async function outcomesOf({ dataDir }: Started, serviceId: string): Promise<readonly string[]> {
  const shown = await runHere(['results', '--data-dir', dataDir, '--service', serviceId, '--json'])
  return JSON.parse(shown.stdout).results.map(({ outcome }: { outcome: string }) => outcome)
}

function openIncident({ server, key }: Started, serviceId: string) {
  const text = { title: 'Errors', message: 'We look.', severity: 'major_outage' }
  return apiClient(server.url, key).post('/v1/incidents', { ...text, service_ids: [serviceId] })
}

const testChannel = ({ dataDir }: Started, id: string) =>
  runHere(['channel', 'test', '--data-dir', dataDir, '--id', id])

const deliveriesOf = async ({ dataDir }: Started, id: string) =>
  JSON.parse((await runHere(['channel', 'deliveries', '--data-dir', dataDir, '--id', id, '--json'])).stdout)

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}

/** Everything that the server shows and stores. */
async function shownBy({ server, dataDir }: Started): Promise<string> {
  const metrics = await fetch(`${server.adminUrl()}/metrics`)
  const files = readdirSync(dataDir, { withFileTypes: true, recursive: true }).filter((one) => one.isFile())
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
  return [server.stdout(), server.stderr(), await metrics.text(), ...texts].join('\n')
}

test('webhooks and Slack go through their proxy, checks through theirs, and neither uses HTTPS_PROXY', async () => {
  const [webhookProxy, checkProxy, other] = [await startProxy(), await startProxy(), await startProxy()]
  const started = await start('both', {
    PHAROS_MONITOR: 'on',
    PHAROS_WEBHOOK_PROXY: `https://${LOGIN}@${await secured(webhookProxy)}`,
    PHAROS_CHECK_PROXY: urlOf(checkProxy),
    HTTPS_PROXY: urlOf(other),
  })
  const ids = [await createChannel(started, 'webhook'), await createChannel(started, 'slack')]

  const tested = [await testChannel(started, ids[0] ?? ''), await testChannel(started, ids[1] ?? '')]
  const id = await createService(started, '/checked')
  await until(() => received.includes('GET /checked'))
  await until(async () => (await outcomesOf(started, id)).includes('up'))

  expect(tested.map(({ code }) => code)).toEqual([0, 0])
  expect(received).toEqual(expect.arrayContaining(['POST /webhook', 'POST /slack', 'GET /checked']))
  expect(new Set(webhookProxy.asked)).toEqual(new Set([ASKED]))
  expect(webhookProxy.asked).toHaveLength(2)
  expect(checkProxy.asked).toContain(ASKED)
  expect(other.asked).toEqual([])
  expect(await shownBy(started)).not.toContain('canary')
})

test('without their own proxy options, checks and webhooks connect directly and ignore HTTPS_PROXY', async () => {
  const proxy = await startProxy()
  const started = await start('none', { PHAROS_MONITOR: 'on', HTTPS_PROXY: urlOf(proxy) })
  const channel = await createChannel(started, 'webhook')

  const { stderr } = await testChannel(started, channel)
  const id = await createService(started, '/checked')
  await until(async () => (await outcomesOf(started, id)).length > 0)

  // The name is known to the proxy alone.
  expect(stderr).toMatch(/the test failed: (?:dns_|agent_local)/)
  expect(await outcomesOf(started, id)).not.toContain('up')
  expect([proxy.asked, received]).toEqual([[], []])
})

test('a delivery refused by its proxy is retried, with a reason that names the proxy', async () => {
  const proxy = await startProxy((client) => client.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  const started = await start('refused', { PHAROS_WEBHOOK_PROXY: urlOf(proxy) })
  const channel = await createChannel(started, 'webhook')

  await openIncident(started, await createService(started, '/checked'))
  await until(async () => (await deliveriesOf(started, channel))[0]?.attempts > 0)
  const tested = await testChannel(started, channel)
  const deliveries = await deliveriesOf(started, channel)

  const reason = `the proxy ${proxy.address} responded with 403 for ${ASKED}`
  expect(deliveries.find(({ type }: { type: string }) => type !== 'channel.test')).toMatchObject({
    ...{ state: 'waiting', last: { status: null, error: reason } },
    next_attempt_at: expect.any(String),
  })
  expect(tested.stderr).toContain(`the test failed: ${reason}`)
  expect(`${tested.stderr}${await shownBy(started)}`).not.toContain('canary')
})

test("an agent checks through the proxy of --check-proxy, and logs a refusal without the proxy's password", async () => {
  const [proxy, other] = [await startProxy(), await startProxy()]
  const started = await start('agent', { PHAROS_MONITOR: 'on', PHAROS_AGENT_PORT: '0' })
  const { dataDir, server } = started
  const given = ['--data-dir', dataDir, '--region', 'eu-west-1', '--name', 'one', '--json']
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, JSON.parse((await runHere(['agent', 'create', ...given])).stdout).token)
  const agentUrl = /^agents on (\S+)$/m.exec(server.stdout())?.[1] ?? ''
  const startAgent = (checkProxy: string) => {
    const agent = startAgentProcess(['--server', agentUrl, '--token-file', tokenFile], {
      environment: {
        ...{ NODE_EXTRA_CA_CERTS: authorityFile, HTTPS_PROXY: urlOf(other) },
        PHAROS_CHECK_PROXY: checkProxy,
      },
    })
    closing.push(agent.stop)
    return agent
  }

  const refused = startAgent(`http://jane:other-canary@${proxy.address}`)
  const id = await createService(started, '/checked')
  await refused.wrote(`the proxy ${proxy.address} responded with 407`)
  // The server may have checked it before it knew of the agent.
  await until(async () => (await outcomesOf(started, id)).includes('unknown'))
  await refused.stop()
  const agent = startAgent(urlOf(proxy))
  await until(() => received.includes('GET /checked'))
  await agent.stop()

  expect(new Set(proxy.asked)).toEqual(new Set([ASKED]))
  expect(other.asked).toEqual([])
  expect(`${refused.output()}${agent.output()}${await shownBy(started)}`).not.toContain('canary')
})

test.each(['--webhook-proxy', '--check-proxy'])(
  '%s refuses an invalid proxy without showing it',
  async (flag) => {
    const { code, stderr } = await runProgram([
      ...[
        'serve',
        '--data-dir',
        join(folder, 'refused-start'),
        flag,
        'socks5://jane:pass-canary@proxy.example',
      ],
    ])

    expect(code).not.toBe(0)
    expect(stderr).toContain(`option '${flag}'`)
    expect(stderr).toContain('is not the address of a proxy: write http://host:port')
    expect(stderr).not.toContain('canary')
  },
)
