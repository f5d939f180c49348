import { randomUUID } from 'node:crypto'
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import type { ServiceRequest } from '../../api/contract/service.ts'
import { type OutsideProject, outsideProject } from '../../provider/testing/outsideProject.ts'
import { cannotRunTerraform, terraformWorkspace } from '../../provider/testing/terraformWorkspace.ts'
import { startServer } from '../../server/testing/startServer.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

/** A service created by hand before the program existed. */
const BLOG: ServiceRequest = {
  name: 'blog',
  interval_secs: 60,
  regions: ['us-east-1', 'eu-west-1'],
  endpoints: [
    {
      url: 'https://blog.example.com/',
      call: { Http: { method: 'GET', timeout: null } },
      assertions: [{ StatusCode: { expected: { Between: [200, 299] } } }],
    },
  ],
}

let project: OutsideProject
/** Folders that the example, run as a program of each library, left its stacks in. */
const synthesised = new Map<string, string>()

beforeAll(async () => {
  project = await outsideProject(['cdktf', 'cdktn', 'constructs', 'tsx'])
  const text = readFileSync(join(here, 'main.ts'), 'utf8')
  cpSync(join(here, 'cdktf.json'), join(project.folder, 'cdktf.json'))
  for (const library of ['cdktf', 'cdktn']) {
    const imports = text
      .replace("from 'cdktf'", `from '${library}'`)
      .replace("from 'pharos/cdktf'", `from 'pharos/${library}'`)
    writeFileSync(join(project.folder, 'main.ts'), imports)
    const { exitCode, output } = await project.node('tsx/dist/cli.mjs', 'main.ts')
    expect(exitCode, output).toBe(0)
    synthesised.set(library, join(project.folder, library))
    renameSync(join(project.folder, 'cdktf.out'), join(project.folder, library))
  }
})
afterAll(() => project.remove())

/** A stack as Terraform reads it: all of it but the comments that name the library. */
function withoutMetadata(library: string, stack: string): unknown {
  const file = join(synthesised.get(library) ?? '', 'stacks', stack, 'cdk.tf.json')
  return JSON.parse(readFileSync(file, 'utf8'), (key, value) => (key === '//' ? undefined : value))
}

/** What matters of a stack: its services in short, and what it imports and asks for. */
function inShort(stack: string): object {
  const file = join(synthesised.get('cdktf') ?? '', 'stacks', stack, 'cdk.tf.json')
  const { resource, import: imports, variable } = JSON.parse(readFileSync(file, 'utf8'))
  const services = Object.values<{ name: string; interval: string; regions: string[]; paused?: boolean }>(
    resource.pharos_service,
  ).map(({ name, interval, regions, paused = false }) => `${name}: ${interval}, ${regions}, ${paused}`)
  return { services, imports, variable }
}

test('the example creates two stacks with the documented differences, and the same stacks with cdktn', () => {
  const variable = { probe_token: { ephemeral: true, sensitive: true, type: 'string' } }

  expect(inShort('production')).toEqual({
    services: [
      'blog: 1m, eu-west-1,us-east-1, false',
      'checkout: 30s, eu-west-1,us-east-1, false',
      'home page: 1m, eu-west-1,us-east-1, false',
      'old shop: 5m, eu-west-1,us-east-1, true',
    ],
    imports: [{ id: 'name=blog', to: 'pharos_service.blog' }],
    variable,
  })
  expect(inShort('staging')).toEqual({
    services: [
      'staging blog: 5m, eu-west-1, false',
      'staging checkout: 30s, eu-west-1, false',
      'staging home page: 5m, eu-west-1, false',
      'staging old shop: 5m, eu-west-1, true',
    ],
    imports: undefined,
    variable,
  })
  for (const stack of ['production', 'staging']) {
    expect(withoutMetadata('cdktn', stack)).toEqual(withoutMetadata('cdktf', stack))
  }
})

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('applies both stacks of the example, plans no further change, and destroys them', async () => {
    const server = await startServer({ rateLimit: 'none' })
    onTestFinished(() => server.close())
    const byHand = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
    onTestFinished(() => byHand.close())
    const workspace = await terraformWorkspace({ url: server.url, apiKey: server.apiKey })
    onTestFinished(() => workspace.remove())
    const token = { TF_VAR_probe_token: 'only-an-example' }
    const blog = await byHand.createService(BLOG, randomUUID())

    const out = synthesised.get('cdktf') ?? ''
    cpSync(out, join(workspace.folder, 'cdktf.out'), { recursive: true })
    const inStack = (stack: string) => `-chdir=cdktf.out/stacks/${stack}`
    const stacks = ['production', 'staging']
    const outcomes: unknown[] = []
    for (const stack of stacks) {
      await workspace.succeed([inStack(stack), 'init'])
      const applied = await workspace.succeed([inStack(stack), 'apply', '-auto-approve'], token)
      const planned = await workspace.run([inStack(stack), 'plan', '-detailed-exitcode'], token)
      outcomes.push([/Resources: (.*)\./.exec(applied)?.[1], planned.exitCode])
    }
    const { services } = await byHand.listServices()
    for (const stack of stacks) await workspace.succeed([inStack(stack), 'destroy', '-auto-approve'], token)

    expect(outcomes).toEqual([
      ['1 imported, 3 added, 0 changed, 0 destroyed', 0],
      ['4 added, 0 changed, 0 destroyed', 0],
    ])
    expect(services.map(({ name, paused_at }) => [name, paused_at != null]).sort()).toEqual([
      ['blog', false],
      ['checkout', false],
      ['home page', false],
      ['old shop', true],
      ['staging blog', false],
      ['staging checkout', false],
      ['staging home page', false],
      ['staging old shop', true],
    ])
    expect(services.find(({ name }) => name === 'blog')?.id).toBe(blog.id)
    expect(workspace.filesWith('only-an-example')).toEqual([])
    expect((await byHand.listServices()).services).toEqual([])
  })
})
