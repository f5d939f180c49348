import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createCertificate } from './plugin/certificate.ts'
import { MAGIC_COOKIE } from './plugin/environment.ts'
import { bundleExecutable } from './testing/bundle.ts'
import { METHODS, type ProviderClient } from './testing/providerClient.ts'
import { type ProviderProcess, type StartOptions, startProvider } from './testing/providerProcess.ts'
import { NOTHING, openCore } from './testing/terraformCore.ts'

let root: string
let executable: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'plugin-'))
  executable = join(root, 'terraform-provider-sample')
  await bundleExecutable(fileURLToPath(new URL('./testing/sampleMain.ts', import.meta.url)), executable)
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

async function start(options: Omit<StartOptions, 'command'> = {}): Promise<ProviderProcess> {
  const provider = await startProvider({ command: [executable], ...options })
  onTestFinished(() => {
    provider.client.close()
    provider.process.kill('SIGKILL')
  })
  return provider
}

test('a provider that is started manually explains itself on stderr and exits with 1', async () => {
  const child = spawn(executable, { env: { PATH: process.env.PATH } })
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => {
    printed.stdout += text
  })
  child.stderr.on('data', (text) => {
    printed.stderr += text
  })

  const [code] = await once(child, 'close')

  expect({ code, ...printed }).toStrictEqual({
    code: 1,
    stdout: '',
    stderr:
      'This is the sample provider for Terraform. It is started by terraform or tofu and does nothing by itself.\n' +
      'Name it under required_providers in your configuration and run "terraform init".\n',
  })
})

test('compiled code is cached for the next process, and compiled again where the cache is damaged', async () => {
  const environment = { XDG_CACHE_HOME: join(root, 'cache') }
  const folder = join(root, 'cache/pharos')
  const metadataOf = async (): Promise<unknown> => {
    const provider = await startProvider({
      command: [join(process.cwd(), 'dist/terraform-provider-pharos.cjs')],
      environment,
    })
    // The schema is sent without the provider, which this RPC has it load.
    const metadata = await provider.client.call(METHODS.GetMetadata, {})
    expect(await provider.shutDown()).toBe(0)
    return metadata
  }
  const first = await metadataOf()
  const [name = ''] = readdirSync(folder)
  const kept = readFileSync(join(folder, name))
  const writtenMs = statSync(join(folder, name)).mtimeMs
  const second = await metadataOf()
  const unchangedMs = statSync(join(folder, name)).mtimeMs
  writeFileSync(join(folder, name), kept.subarray(0, 1_000))
  const third = await metadataOf()

  expect(name).toMatch(/^main-[0-9a-f]{16}-/)
  expect(unchangedMs).toBe(writtenMs)
  expect([second, third]).toEqual([first, first])
  expect(readdirSync(folder)).toEqual([name])
  expect(statSync(join(folder, name)).size).toBeGreaterThan(100_000)
})

test('code that a later process compiles for another call is cached too, once', async () => {
  const environment = { XDG_CACHE_HOME: join(root, 'calls') }
  const folder = join(root, 'calls/pharos')
  const keptAfter = async (work: (client: ProviderClient) => Promise<unknown>) => {
    const provider = await startProvider({
      command: [join(process.cwd(), 'dist/terraform-provider-pharos.cjs')],
      environment,
    })
    await work(provider.client)
    expect(await provider.shutDown()).toBe(0)
    const [name = ''] = readdirSync(folder)
    const { size, mtimeMs } = statSync(join(folder, name))
    return { size, mtimeMs }
  }

  const first = await keptAfter((client) => client.call(METHODS.GetMetadata, {}))
  const both = await keptAfter((client) => client.call(METHODS.GetFunctions, {}))
  const again = await keptAfter((client) => client.call(METHODS.GetMetadata, {}))

  expect(both.size).toBeGreaterThan(first.size)
  expect(again).toEqual(both)
})

test('a client without protocol 6 is told which versions have it', async () => {
  const starting = start({ environment: { PLUGIN_PROTOCOL_VERSIONS: '5' } })

  await expect(starting).rejects.toThrow(/speaks version 6 .* speaks 5/)
})

test('Scenario 70: the handshake names protocol 6, a private socket and an unpadded certificate', async () => {
  const { handshake } = await start()

  const [core, protocol, network, address = '', kind, certificate] = handshake
  expect({ core, protocol, network, kind }).toStrictEqual({
    core: '1',
    protocol: '6',
    network: 'unix',
    kind: 'grpc',
  })
  expect(existsSync(address)).toBe(true)
  expect(certificate).toMatch(/^[A-Za-z0-9+/]{200,}$/)
})

test('the socket is below PLUGIN_UNIX_SOCKET_DIR', async () => {
  const { handshake } = await start({ environment: { PLUGIN_UNIX_SOCKET_DIR: root } })

  const [, , , address = ''] = handshake
  expect(dirname(dirname(address))).toBe(root)
})

test('Scenario 70: a provider whose socket path would be too long listens on the loopback interface', async () => {
  const deep = join(root, 'd'.repeat(60), 'e'.repeat(60))
  mkdirSync(deep, { recursive: true })

  const provider = await start({ environment: { PLUGIN_UNIX_SOCKET_DIR: deep } })

  const [, , network, address] = provider.handshake
  expect([network, address]).toStrictEqual(['tcp', expect.stringMatching(/^127\.0\.0\.1:\d+$/)])
  await expect(provider.client.call(METHODS.GetMetadata, {})).resolves.toBeDefined()
})

test('an invalid port range is refused', async () => {
  const starting = start({ environment: { PLUGIN_MIN_PORT: '20000', PLUGIN_MAX_PORT: '10000' } })

  await expect(starting).rejects.toThrow('PLUGIN_MIN_PORT=20000 and PLUGIN_MAX_PORT=10000 are not a range')
})

test('without a client certificate the connection is plain', async () => {
  const { handshake, client } = await start({ announced: null })

  const metadata = await client.call(METHODS.GetMetadata, {})

  expect([handshake[5], metadata.resources]).toStrictEqual(['', [{ typeName: 'sample_note' }]])
})

test.each([
  ['no certificate', null],
  ['a certificate that was not announced', createCertificate(Date.now())],
])('a client with %s is refused', async (_name, certificate) => {
  const provider = await start()
  const stranger = provider.connectWith(certificate)
  onTestFinished(() => stranger.close())

  const call = stranger.call(METHODS.GetMetadata, {})

  await expect(call).rejects.toMatchObject({ code: status.UNAVAILABLE })
})

test('after Shutdown the process exits with 0 despite open streams, and its socket is removed', async () => {
  const provider = await start()
  provider.client.openStream('/plugin.GRPCStdio/StreamStdio')
  await provider.client.call(METHODS.GetProviderSchema, {})

  const ended = await provider.shutDown()

  expect([ended, existsSync(provider.handshake[3] ?? '')]).toStrictEqual([0, false])
})

test('a provider whose Terraform was killed exits', async () => {
  const environment = {
    ...process.env,
    [MAGIC_COOKIE.name]: MAGIC_COOKIE.value,
    PLUGIN_PROTOCOL_VERSIONS: '6',
  }
  const parent = spawn('sh', ['-c', '"$0" & wait', executable], { env: environment })
  await once(parent.stdout, 'data')

  parent.kill('SIGKILL')

  // The pipe closes when no process holds its other end.
  const [code, signal] = await once(parent, 'close')
  expect([code, signal]).toStrictEqual([null, 'SIGKILL'])
})

test('signals are left to Terraform', async () => {
  const provider = await start()
  provider.process.kill('SIGINT')
  provider.process.kill('SIGTERM')

  await provider.client.call(METHODS.GetMetadata, {})
  const ended = await provider.shutDown()

  expect(ended).toBe(0)
})

test('Scenario 21: an exception outside of any handler fails the call in progress, keeps its partial state, and reveals no secret', async () => {
  const provider = await start({ environment: { TF_LOG_PROVIDER: 'error' } })
  const core = await openCore(provider.client)
  await core.configure({ directory: join(root, 'crash') })

  const secret = `canary-${randomBytes(12).toString('hex')}`
  const config = { title: 'a', trouble: 'crash', passphrase: secret }
  const plan = await core.plan('sample_note', config, NOTHING)
  const note = await core.apply('sample_note', plan)

  expect(note.diagnostics.map(({ summary }) => summary)).toStrictEqual([
    'Creating sample_note failed unexpectedly',
  ])
  expect(note.state).toMatchObject({ id: expect.any(String), title: 'a' })
  expect(await provider.shutDown()).toBe(0)
  expect(provider.output().stdout).toBe('')
  expect(provider.output().stderr).toContain('uncaught exception')
  expect(provider.output().stderr + JSON.stringify(note.diagnostics)).not.toContain(secret)
})

test('log lines are JSON with a microsecond timestamp', async () => {
  const provider = await start({ environment: { TF_LOG: 'JSON' } })
  const core = await openCore(provider.client)
  await core.configure({ directory: join(root, 'log') })
  const plan = await core.plan('sample_note', { title: 'a', trouble: 'throw' }, NOTHING)
  await core.apply('sample_note', plan)
  await provider.shutDown()

  // The first line says where the provider listens.
  const [, line = ''] = provider.output().stderr.split('\n')

  expect(JSON.parse(line)).toMatchObject({
    '@level': 'error',
    '@message': 'Creating sample_note threw an exception',
    '@module': 'provider.sample',
    '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    message: 'the service is on fire',
  })
})
