import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { Limiter } from '../../api/client/limiter.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { startRecordingProxy } from '../testing/recordingProxy.ts'
import { answerTo, serviceRequests } from '../testing/serviceRequests.ts'
import { cannotRunTerraform, terraformWorkspace } from '../testing/terraformWorkspace.ts'
import { estateConfiguration } from './estate.ts'
import { hclExpression, hclString } from './hcl.ts'

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

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('takes an estate over from what one list request generates, and plans nothing after it', async () => {
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
    const requests = fc.sample(serviceRequests, 40)
    for (const request of requests) await byHand.createService(request, randomUUID())
    proxy.requests()

    const generated = await generate({ PHAROS_URL: proxy.url, PHAROS_API_KEY: server.apiKey })
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
    expect(applied).toContain(`${requests.length} imported, 0 added, 0 changed, 0 destroyed`)
    expect(planned).toMatchObject({ exitCode: 0 })
  })
})

test('services of one name get labels of their own', () => {
  const [request] = fc.sample(serviceRequests, 1)
  const named = ['Check out!', 'check-out', '7 wonders', '…'].map((name) => ({ ...answerTo(request!), name }))

  const text = estateConfiguration(named, '')

  expect([...text.matchAll(/to = pharos_service\.(\w+)/g)].map(([, label]) => label)).toEqual([
    'check_out',
    'check_out_2',
    'service_7_wonders',
    'service',
  ])
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

test('a file that is there is left alone, and a key that is missing is asked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-generate-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'main.tf')
  writeFileSync(file, 'mine')
  const environment = { PHAROS_URL: 'http://127.0.0.1:9', PHAROS_API_KEY: `pharos_${'a1'.repeat(32)}` }

  const refused = await generate(environment, '--out', file)
  const keyless = await generate({ PHAROS_URL: 'http://127.0.0.1:9', PHAROS_API_KEY: '' })

  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is there already') })
  expect(readFileSync(file, 'utf8')).toBe('mine')
  expect(keyless).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('PHAROS_API_KEY') })
})
