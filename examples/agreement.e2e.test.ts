import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../api/client/client.ts'
import { Limiter } from '../api/client/limiter.ts'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { serviceRequests } from '../provider/testing/serviceRequests.ts'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
} from '../provider/testing/terraformWorkspace.ts'
import { runHere } from '../reconciler/testing/programHere.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'

let server: TestServer
let client: Client
let workspace: TerraformWorkspace
let folder: string
let env: Record<string, string>
beforeEach(async () => {
  server = await startServer({ rateLimit: 'none' })
  await server.overrideLimits({ servicesMax: 1_000, endpointsMax: 10_000 })
  const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
  client = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test', limiter })
  workspace = await terraformWorkspace({ url: server.url, apiKey: server.apiKey })
  folder = testFolder()
  env = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
})
afterEach(async () => {
  workspace.remove()
  await client.close()
  await server.close()
})

/** Runs `pharos` with the state of this test; throws unless it exits with 0. Its document. */
async function pharos(...args: readonly string[]) {
  const state = args[0] === 'export' ? [] : ['--state', join(folder, 'pharos.db')]
  const run = await runHere([...args, ...state, '--json'], env)
  if (run.exitCode !== 0) throw new Error(`pharos ${args.join(' ')}: ${run.stdout}${run.stderr}`)
  return JSON.parse(run.stdout)
}

/** Makes the configuration of the whole organisation and takes it over; gives the secrets that it asks for. */
async function takeOver(): Promise<NodeJS.ProcessEnv> {
  const command = ['dist/pharos-provider.js', 'generate']
  // Not synchronously: the server runs in this process.
  const { stdout: generated } = await promisify(execFile)(process.execPath, command, {
    env: { ...process.env, ...env },
  })
  writeFileSync(join(workspace.folder, 'main.tf'), generated)
  const places = [...generated.matchAll(/var\.sealed_values\["((?:[^"\\]|\\.)*)"\]/g)].map(
    ([, place]) => place,
  )
  const secrets = {
    TF_VAR_sealed_values: JSON.stringify(Object.fromEntries(places.map((place) => [place, 'x']))),
  }
  expect(await workspace.succeed(['apply', '-auto-approve'], secrets)).toContain(
    '0 added, 0 changed, 0 destroyed',
  )
  return secrets
}

/** Exports the organisation, with a value for every secret that the manifests then ask for. */
async function exported(): Promise<string> {
  const manifests = join(folder, 'manifests')
  await pharos('export', '--write', manifests)
  for (const file of readdirSync(manifests)) {
    for (const [, name = ''] of readFileSync(join(manifests, file), 'utf8').matchAll(/env: (\w+)/g))
      env[name] = 'x'
  }
  return manifests
}

describe.skipIf(cannotRunTerraform)('Terraform and YAML agree', () => {
  test('a service made by the provider, exported to YAML and adopted, plans empty on both sides', async () => {
    const token = { TF_VAR_probe_token: 'only-an-example' }
    cpSync(join(import.meta.dirname, 'terraform/secrets'), workspace.folder, { recursive: true })
    await workspace.succeed(['apply', '-auto-approve'], token)

    const manifests = await exported()
    const adopted = await pharos('adopt', 'apply', manifests)

    expect(adopted.adoptions).toMatchObject([{ kind: 'match', key: 'checkout' }])
    expect(await pharos('plan', manifests)).toMatchObject({ changes: [], unchanged: ['checkout'] })
    expect(await pharos('apply', manifests)).toMatchObject({ applied: { updated: 0, unchanged: 1 } })
    expect(await pharos('drift', manifests)).toMatchObject({ drift: [] })
    expect(await workspace.run(['plan', '-detailed-exitcode'], token)).toMatchObject({ exitCode: 0 })
  })

  test('services of every kind that both tools support plan empty on both sides', async () => {
    const size = 30
    for (const request of fc.sample(serviceRequests, size)) await client.createService(request, randomUUID())

    const secrets = await takeOver()
    const manifests = await exported()
    const { adoptions } = await pharos('adopt', 'apply', manifests)

    expect(adoptions.map(({ kind }: { kind: string }) => kind)).toEqual(Array(size).fill('match'))
    const plan = await pharos('plan', manifests)
    expect([plan.changes, plan.unchanged.length]).toEqual([[], size])
    expect(await workspace.run(['plan', '-detailed-exitcode'], secrets)).toMatchObject({ exitCode: 0 })
  })

  test('a service made from YAML, imported into Terraform, plans empty on both sides', async () => {
    env.SHOP_PROBE_TOKEN = 'only-an-example'
    const manifests = join(import.meta.dirname, 'gitops')
    await pharos('apply', manifests)

    const secrets = await takeOver()

    expect(await workspace.run(['plan', '-detailed-exitcode'], secrets)).toMatchObject({ exitCode: 0 })
    const plan = await pharos('plan', manifests)
    expect([plan.changes, plan.unchanged.length]).toEqual([[], 4])
    expect(await pharos('drift', manifests)).toMatchObject({ drift: [] })
  })
})
