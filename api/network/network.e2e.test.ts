/** All programs behind a proxy that asks for a password, with a server whose certificate is of a private authority. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { testAuthority } from '../../monitoring/check/testing/certificates.ts'
import { serviceBlock } from '../../provider/testing/scenario.ts'
import { terraformWorkspace } from '../../provider/testing/terraformWorkspace.ts'
import { gitRepository } from '../../reconciler/testing/gitRepository.ts'
import { manifestOf } from '../../reconciler/testing/manifestOf.ts'
import { runProgram } from '../../reconciler/testing/pharosProgram.ts'
import { runHere } from '../../reconciler/testing/programHere.ts'
import { startAgentProcess } from '../../server/testing/agentProcess.ts'
import { runHere as administer } from '../../server/testing/commandHere.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { suiteFolder, testFolder } from '../testing/temporaryFolder.ts'
import { type ConnectProxy, type Refusal, startConnectProxy } from './testing/connectProxy.ts'

/** A name that the certificate has, and that the proxy alone can find. */
const HOST = 'shop.example'
const LOGIN = 'jane:pass-canary'

let server: TestServer
const folder = suiteFolder()
let caFile: string
let work: string
let proxies: ConnectProxy[]
beforeAll(async () => {
  const authority = testAuthority()
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  caFile = file('authority.pem', authority.authorities)
  const { cert, key } = authority.valid
  const tls = { certFile: file('tls.crt', cert), keyFile: file('tls.key', key) }
  server = await startServer({
    ...{ engine: 'sqlite', rateLimit: 'none', isPlain: false, isMonitoring: true, tls },
  })
})
afterAll(() => server.close())
beforeEach(() => {
  proxies = []
  work = testFolder()
  writeFileSync(join(work, 'shop.yaml'), manifestOf('shop'))
})
afterEach(async () => {
  for (const proxy of proxies) await proxy.close()
})

async function startProxy(refusal?: Refusal): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(LOGIN, { [HOST]: Number(new URL(server.url).port) }, refusal)
  proxies.push(proxy)
  return proxy
}

/** The environment of a program that reaches the API through `proxy` alone. */
function behind(proxy: ConnectProxy, login = `${LOGIN}@`): Record<string, string> {
  return {
    PHAROS_URL: `https://${HOST}`,
    PHAROS_API_KEY: server.apiKey,
    PHAROS_CA_FILE: caFile,
    PHAROS_STATE_KEY: 'k'.repeat(32),
    HTTPS_PROXY: `http://${login}${proxy.address}`,
  }
}

/** Reaches this machine like 127.0.0.1, but is no address that is always reached directly, and none of the certificate. */
const NO_PROXY = '0.0.0.0/32'
const ASKED = `${HOST}:443`

test('pharos applies through a proxy, and its password appears in no output or file', async () => {
  const proxy = await startProxy()
  const state = join(work, 'pharos.db')

  const applied = await runHere(['apply', work, '--state', state, '--json'], behind(proxy))

  expect(applied.exitCode, applied.stderr).toBe(0)
  expect(new Set(proxy.asked)).toEqual(new Set([ASKED]))
  const files = readdirSync(work).map((name) => join(work, name))
  const written = files.filter((name) => statSync(name).isFile() && readFileSync(name).includes('canary'))
  expect(`${applied.stdout}${applied.stderr}`).not.toContain('canary')
  expect(written).toEqual([])
})

test('--ca-file overrides PHAROS_CA_FILE, and a file without a certificate is refused by name', async () => {
  const proxy = await startProxy()
  const run = (caFileUsed: string, ...args: string[]) =>
    runHere(['export', ...args], {
      ...behind(proxy),
      PHAROS_CA_FILE: caFileUsed,
    })
  const wrong = join(work, 'shop.yaml')

  expect(await run('/nowhere', '--ca-file', caFile)).toMatchObject({ exitCode: 0, stderr: '' })
  expect((await run(caFile, '--ca-file', wrong)).stderr).toContain(
    `${wrong} holds no certificate (PEM): check --ca-file`,
  )
  const half = join(work, 'half.pem')
  writeFileSync(
    half,
    `${readFileSync(caFile, 'utf8')}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`,
  )
  expect((await run(caFile, '--ca-file', half)).stderr).toContain(
    `certificate 2 of ${half} cannot be read: check --ca-file`,
  )
  expect((await run('/nowhere')).stderr).toContain('/nowhere cannot be read (ENOENT): check PHAROS_CA_FILE')
})

test('a server on this machine is reached without the proxy', async () => {
  const proxy = await startProxy()
  const environment = { ...behind(proxy), PHAROS_URL: server.url }

  const run = await runHere(['export'], environment)

  expect(run).toMatchObject({ exitCode: 0, stderr: '' })
  expect(proxy.asked).toEqual([])
})

const respondingWith =
  (text: string): Refusal =>
  (client: Duplex) =>
    client.end(text)

test.each<[string, string, Refusal | undefined, string]>([
  ['no password', '', undefined, 'it wants a user name and a password'],
  ['a wrong one', 'jane:other-canary@', undefined, 'it refuses the user name or password in HTTPS_PROXY'],
  [
    'a host it does not allow',
    `${LOGIN}@`,
    respondingWith('HTTP/1.1 403 Forbidden\r\n\r\n'),
    `responded with 403 for ${ASKED}`,
  ],
  [
    'another protocol',
    `${LOGIN}@`,
    respondingWith('220 mail.example ESMTP\r\n'),
    'did not respond as a proxy',
  ],
])('a proxy that refuses %s is named at once, with the remedy', async (_case, login, refusal, said) => {
  const proxy = await startProxy(refusal)

  const { exitCode, stderr } = await runHere(['plan', work], behind(proxy, login))

  expect(exitCode).toBe(1)
  expect(stderr).toContain(`the proxy ${proxy.address}`)
  expect(stderr).toContain(said)
  expect(stderr).not.toContain('canary')
  expect(proxy.asked).toHaveLength(1)
})

test('an unreachable proxy is named, with what to check, after the usual attempts', async () => {
  // No program listens on port 1; the port of a closed proxy could be taken.
  const address = '127.0.0.1:1'
  const environment = { ...behind(await startProxy()), HTTPS_PROXY: `http://jane:pass-canary@${address}` }

  const { exitCode, stderr } = await runHere(['export'], environment)

  expect(exitCode).toBe(1)
  expect(stderr).toContain(`the proxy ${address} did not connect (ECONNREFUSED)`)
  expect(stderr).toContain('check HTTPS_PROXY, and that the proxy runs')
  expect(stderr).not.toContain('canary')
})

test('an invalid proxy address is refused before anything is sent', async () => {
  const proxy = await startProxy()
  const environment = { ...behind(proxy), HTTPS_PROXY: 'socks5://jane:pass-canary@proxy.example' }

  const { exitCode, stderr } = await runHere(['plan', work], environment)

  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining('HTTPS_PROXY is not the address of a proxy: write http://host:port'),
  ])
  expect(stderr).not.toContain('canary')
})

test('checks do not use the proxy', async () => {
  const proxy = await startProxy()
  writeFileSync(join(work, 'shop.yaml'), manifestOf('shop').replace(/https:.*/, `https://${HOST}/`))

  const run = await runProgram(['test', work, '--json'], behind(proxy))

  // The name is known to the proxy alone.
  expect(run.exitCode, run.stdout).toBe(8)
  expect(proxy.asked).toEqual([])
})

/** Runs the controller once on a repository with one service. */
async function control(service: string, environment: Record<string, string>, api = '{}') {
  const repository = gitRepository()
  repository.commit({ 'monitoring/one.yaml': manifestOf(service) })
  const config = join(work, 'controller.yaml')
  writeFileSync(
    config,
    `apiVersion: pharos/v1
kind: Controller
listen: none
dataDir: ${work}/controller
sets:
  - name: shop
    repository: {url: "${repository.url}", path: monitoring, allowFile: true}
    api: ${api}
`,
  )
  const run = await runHere(['controller', '--config', config, '--once'], environment)
  repository.remove()
  return run
}

test.each([
  ['caFile', 'cart', () => `{caFile: ${caFile}}`, { PHAROS_CA_FILE: '/nowhere' }],
  ['PHAROS_CA_FILE', 'till', () => '{}', {}],
])(
  'the controller applies a repository through a proxy, with the CA of %s',
  async (_name, service, api, more) => {
    const proxy = await startProxy()

    const run = await control(service, { ...behind(proxy), ...more }, api())

    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(new Set(proxy.asked)).toEqual(new Set([ASKED]))
    expect(run.stdout).not.toContain('canary')
  },
)

test('the provider applies through a proxy, and its password is in no state, plan or output', async () => {
  const proxy = await startProxy()
  const workspace = await terraformWorkspace({ url: `https://${HOST}`, apiKey: server.apiKey })
  try {
    workspace.configure(serviceBlock('desk'))
    const output = await workspace.succeed(['apply', '-auto-approve', '-input=false'], behind(proxy))
    const unreadable = { ...behind(proxy), PHAROS_CA_FILE: '/nowhere' }
    const wrong = await workspace.run(['plan', '-input=false'], unreadable)
    workspace.configure(`provider "pharos" { ca_file = "${caFile}" }\n${serviceBlock('desk')}`)
    await workspace.succeed(['plan', '-input=false'], unreadable)

    expect(new Set(proxy.asked)).toEqual(new Set([ASKED]))
    expect([output.includes('canary'), workspace.filesWith('canary')]).toEqual([false, []])
    expect(wrong.exitCode).toBe(1)
    expect(wrong.output).toContain('/nowhere cannot be read (ENOENT)')
    expect(wrong.output).toContain('PHAROS_CA_FILE')
  } finally {
    workspace.remove()
  }
})

test('an agent connects through a proxy, names one that refuses, and reaches a host of NO_PROXY directly', async () => {
  const agentPort = Number(new URL(server.agentUrl).port)
  const proxy = await startConnectProxy(LOGIN, { [HOST]: agentPort })
  proxies.push(proxy)
  const created = await administer([
    ...['agent', 'create', '--data-dir', server.dataDir, '--region', 'eu-west-1', '--name', 'one', '--json'],
  ])
  const tokenFile = join(work, 'token')
  writeFileSync(tokenFile, JSON.parse(created.stdout).token)
  const start = (url: string, login: string, more: Record<string, string>, ...args: readonly string[]) =>
    startAgentProcess(['--server', url, '--token-file', tokenFile, ...args], {
      environment: { HTTPS_PROXY: `http://${login}${proxy.address}`, PHAROS_AGENT_CA_FILE: caFile, ...more },
    })

  const byFlag = ['--ca-file', caFile]
  const agent = start(`https://${HOST}`, `${LOGIN}@`, { PHAROS_AGENT_CA_FILE: '/nowhere' }, ...byFlag)
  const byVariable = start(`https://${HOST}`, `${LOGIN}@`, {})
  const refused = start(`https://${HOST}`, '', {})
  await agent.wrote('"connected"')
  await byVariable.wrote('"connected"')
  await refused.wrote('it wants a user name and a password')
  const direct = start(`https://0.0.0.0:${agentPort}`, `${LOGIN}@`, { NO_PROXY })
  await direct.wrote('does not match certificate')
  const all = [agent, byVariable, refused, direct]
  await Promise.all(all.map(({ stop }) => stop()))

  expect(refused.output()).toContain(`the proxy ${proxy.address} responded with 407`)
  expect(new Set(proxy.asked)).toEqual(new Set([ASKED]))
  expect(all.map(({ output }) => output()).join()).not.toContain('canary')
})

test('pharos, the controller and the provider reach a host of NO_PROXY without the proxy', async () => {
  const proxy = await startProxy()
  const url = `https://0.0.0.0:${new URL(server.url).port}`
  const environment = { ...behind(proxy), PHAROS_URL: url, NO_PROXY }
  const workspace = await terraformWorkspace({ url, apiKey: server.apiKey })
  workspace.configure(serviceBlock('desk'))

  const planned = await workspace.run(['plan', '-input=false'], environment)
  const exported = await runHere(['export'], environment)
  const controlled = await control('basket', environment)
  workspace.remove()

  for (const text of [planned.output, exported.stderr, `${controlled.stdout}${controlled.stderr}`]) {
    expect(text).toMatch(/for another name|ALTNAME_INVALID/)
  }
  expect(proxy.asked).toEqual([])
})
