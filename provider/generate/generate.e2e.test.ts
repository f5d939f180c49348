import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { Limiter } from '../../api/client/limiter.ts'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { outsideProject } from '../testing/outsideProject.ts'
import { type RecordingProxy, startRecordingProxy } from '../testing/recordingProxy.ts'
import { responseTo, serviceRequests, trapRequest } from '../testing/serviceRequests.ts'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
} from '../testing/terraformWorkspace.ts'
import { estateConfiguration } from './estate.ts'
import { hclExpression, hclString } from './hcl.ts'
import { estateProgram } from './typescript.ts'

function generate(
  environment: NodeJS.ProcessEnv,
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 }
    const command = ['dist/pharos-provider.js', 'generate', ...args]
    execFile(process.execPath, command, options, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

interface Estate {
  readonly url: string
  readonly apiKey: string
  readonly proxy: RecordingProxy
  readonly workspace: TerraformWorkspace
}

/** A server with services of every kind, behind a proxy that has seen no request yet, and a workspace for it. */
async function estate(size: number): Promise<Estate> {
  const server = await startServer({ rateLimit: 'none' })
  const proxy = await startRecordingProxy(server.url)
  const workspace = await terraformWorkspace({ url: proxy.url, apiKey: server.apiKey })
  const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
  const byHand = new Client({ url: server.url, apiKey: server.apiKey, userAgent: 'test', limiter })
  onTestFinished(async () => {
    await byHand.close()
    workspace.remove()
    await proxy.close()
    await server.close()
  })
  const requests = [trapRequest, ...fc.sample(serviceRequests, size - 1)]
  for (const [index, request] of requests.entries()) {
    const { id } = await byHand.createService(request, randomUUID())
    if (index % 4 === 0) await byHand.pauseService(id)
  }
  proxy.requests()
  return { url: proxy.url, apiKey: server.apiKey, proxy, workspace }
}

test('generate reports a 429 on stderr and waits', async () => {
  const { url, apiKey, proxy } = await estate(1)
  let asked = 0
  proxy.refuseForRate(() => asked++ < 2)

  const { exitCode, stdout, stderr } = await generate({ PHAROS_URL: url, PHAROS_API_KEY: apiKey })

  expect(exitCode).toBe(0)
  expect(stdout).toContain('resource "pharos_service"')
  expect(stderr).toContain('the request is sent again: the API responded with 429')
})

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('Scenario 40: imports all services with the configuration generated from one list request, and then plans no change', async () => {
    const size = 20
    const { url, apiKey, proxy, workspace } = await estate(size)

    const generated = await generate({ PHAROS_URL: url, PHAROS_API_KEY: apiKey })
    const asked = proxy.requests()
    writeFileSync(join(workspace.folder, 'main.tf'), generated.stdout)
    const places = [...generated.stdout.matchAll(/var\.sealed_values\["((?:[^"\\]|\\.)*)"\]/g)].map(
      ([, place]) => place,
    )
    const secrets = {
      TF_VAR_sealed_values: JSON.stringify(Object.fromEntries(places.map((place) => [place, 'x']))),
    }
    const formatted = await workspace.run(['fmt', '-check', '-diff'])
    const applied = await workspace.succeed(['apply', '-auto-approve'], secrets)
    const planned = await workspace.run(['plan', '-detailed-exitcode'], secrets)

    expect(generated).toMatchObject({ exitCode: 0, stderr: '' })
    expect(asked).toEqual(['GET /v1/services'])
    expect(formatted.output).toBe('')
    expect(applied).toContain(`${size} imported, 0 added, 0 changed, 0 destroyed`)
    expect(planned).toMatchObject({ exitCode: 0 })
  })

  test('imports them with the generated CDKTF program, which compiles', async () => {
    const size = 6
    const { url, apiKey, proxy, workspace } = await estate(size)
    const project = await outsideProject(['cdktf', 'constructs', 'tsx', 'typescript', '@types/node'])
    onTestFinished(project.remove)

    const args = ['--language', 'typescript', '--out', join(project.folder, 'main.ts')]
    const generated = await generate({ PHAROS_URL: url, PHAROS_API_KEY: apiKey }, ...args)
    const asked = proxy.requests()
    const flags = ['--noEmit', '--strict', '--noUnusedLocals', '--skipLibCheck', '--types', 'node']
    const compiled = await project.node('typescript/bin/tsc', ...flags, '--module', 'nodenext', 'main.ts')
    const run = await project.node('tsx/dist/cli.mjs', 'main.ts')
    cpSync(join(project.folder, 'cdktf.out/stacks/estate'), workspace.folder, { recursive: true })
    const text = readFileSync(join(project.folder, 'main.ts'), 'utf8')
    const variables = [...text.matchAll(/secretFromEnv\('(\w+)'\)/g)].map(([, name]) => [name, 'x'])
    const secrets = Object.fromEntries(variables)
    // CDKTF names a backend, which has to be initialised.
    await workspace.succeed(['init'])
    const applied = await workspace.succeed(['apply', '-auto-approve'], secrets)

    expect(generated).toMatchObject({ exitCode: 0, stderr: '' })
    expect(asked).toEqual(['GET /v1/services'])
    expect(compiled).toEqual({ exitCode: 0, output: '' })
    expect(run).toEqual({ exitCode: 0, output: '' })
    expect(applied).toContain(`${size} imported, 0 added, 0 changed, 0 destroyed`)
  })
})

test('services with the same name get different labels', () => {
  const [request] = fc.sample(serviceRequests, 1)
  const named = ['Check out!', 'check-out', '7 wonders', '…'].map((name) => ({
    ...responseTo(request!),
    name,
  }))

  const text = estateConfiguration(named, '')

  expect([...text.matchAll(/to = pharos_service\.(\w+)/g)].map(([, label]) => label)).toEqual([
    'check_out',
    'check_out_2',
    'service_7_wonders',
    'service',
  ])
})

test('a CDKTF program has an id for every service and a variable for every secret, and quotes text that could be read as code', () => {
  const headers = { 'X-A': { Sealed: { key_id: 'k1' } }, 'x_a!': { Plain: 'it\'s \\ "here"' } }
  const call = { Http: { method: 'GET' as const, timeout: { secs: 90, nanos: 0 }, headers } }
  const endpoint = { id: '1', blocked: false, url: 'https://a.example/', call, assertions: [] }
  const [request] = fc.sample(serviceRequests, 1)
  const service = {
    ...responseTo(request!),
    interval_secs: 90,
    regions: ['eu-west-1'],
    endpoints: [endpoint],
  }
  const name = ['pharos $', '{x}'].join('')

  const program = estateProgram([
    { ...service, name: 'pharos' },
    { ...service, name },
  ])

  expect(program).toBe(`import { App, TerraformStack } from 'cdktf'
import {
  get,
  literal,
  MonitoredService,
  PharosProvider,
  secretFromEnv,
} from 'pharos/cdktf'

// The API does not show sealed values. Set these where terraform runs; they are sent with the next change.
//   TF_VAR_pharos_2_0_x_a
//   TF_VAR_pharos_x_0_x_a
const app = new App()
const stack = new TerraformStack(app, 'estate')
new PharosProvider(stack, 'pharos')

${['pharos_2', 'pharos_x']
  .map(
    (id) => `new MonitoredService(stack, '${id}', {
  name: ${id === 'pharos_2' ? "'pharos'" : `literal('${name}')`},
  interval: '1m30s',
  regions: ['eu-west-1'],
  endpoints: [
    get('https://a.example/')
      .timeout('1m30s')
      .secretHeader('X-A', secretFromEnv('TF_VAR_${id}_0_x_a'))
      .header('x_a!', 'it\\'s \\\\ "here"')
      .withoutStatusDefault(),
  ],
}).importFrom('${service.id}')
`,
  )
  .join('\n')}
app.synth()
`)
})

test('a CDKTF program imports the requested library, an option that HCL refuses', async () => {
  const environment = { PHAROS_URL: 'http://127.0.0.1:9', PHAROS_API_KEY: `pharos_${'a1'.repeat(32)}` }

  const refused = await generate(environment, '--library', 'cdktn')

  expect(estateProgram([], 'cdktn')).toContain(
    "from 'cdktn'\nimport {\n  PharosProvider,\n} from 'pharos/cdktn'",
  )
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('add --language typescript') })
})

test('no service id in a CDKTF program equals a built-in property such as constructor', () => {
  const [request] = fc.sample(serviceRequests, 1)

  const program = estateProgram([{ ...responseTo(request!), name: 'Constructor' }])

  expect(program).toContain("new MonitoredService(stack, 'constructor_2', {")
})

test('texts are quoted so that HCL reads them as they are', () => {
  const dollar = '$'

  expect(hclString(`a "b" \\ ${dollar}{c} %{d} \n\u0007`)).toBe(
    `"a \\"b\\" \\\\ ${dollar}${dollar}{c} %%{d} \\n\\u0007"`,
  )
  expect(hclExpression({ none: null, 'X-A b': ['x'], map: new Map([['k', 1]]) })).toBe(
    '{ "X-A b" = ["x"], map = { k = 1 } }',
  )
})

test('an existing file is not changed, and a missing key is named', async () => {
  const folder = testFolder()
  const file = join(folder, 'main.tf')
  writeFileSync(file, 'mine')
  const environment = { PHAROS_URL: 'http://127.0.0.1:9', PHAROS_API_KEY: `pharos_${'a1'.repeat(32)}` }

  const refused = await generate(environment, '--out', file)
  const keyless = await generate({ PHAROS_URL: 'http://127.0.0.1:9', PHAROS_API_KEY: '' })

  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('already exists') })
  expect(readFileSync(file, 'utf8')).toBe('mine')
  expect(keyless).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('PHAROS_API_KEY') })
})

test('a refused key is explained', async () => {
  const server = await startServer({ rateLimit: 'none' })
  onTestFinished(() => server.close())

  const refused = await generate({ PHAROS_URL: server.url, PHAROS_API_KEY: `pharos_${'a1'.repeat(32)}` })

  expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
  expect(refused.stderr).toBe(
    'pharos-provider: Cannot list the services: The API responded: unauthorized. ' +
      'The API key is missing, malformed or revoked (status 401): check PHAROS_API_KEY.\n',
  )
})
