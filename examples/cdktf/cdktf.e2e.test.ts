import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { cannotRunTerraform, terraformWorkspace } from '../../provider/testing/terraformWorkspace.ts'
import { startServer } from '../../server/testing/startServer.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = join(here, '../..')

/** A project of the example, with the stack that the built bindings make of it. */
async function synthesise(): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), 'pharos-cdktf-'))
  onTestFinished(() => rmSync(project, { recursive: true }))
  cpSync(join(here, 'main.ts'), join(project, 'main.ts'))
  cpSync(join(here, 'cdktf.json'), join(project, 'cdktf.json'))
  // What "npm install pharos cdktf constructs" would do, from this checkout.
  const packages = join(project, 'node_modules')
  mkdirSync(packages)
  symlinkSync(root, join(packages, 'pharos'))
  for (const name of ['cdktf', 'constructs']) {
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
  }
  const environment = { ...process.env, CHECKPOINT_DISABLE: '1' }
  const tsx = [join(root, 'node_modules/tsx/dist/cli.mjs'), 'main.ts']
  await promisify(execFile)(process.execPath, tsx, { cwd: project, env: environment })
  return project
}

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('applies what the bindings synthesise, finds nothing left to do, and destroys it', async () => {
    const server = await startServer({ rateLimit: 'none' })
    onTestFinished(() => server.close())
    const byHand = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
    onTestFinished(() => byHand.close())
    const workspace = await terraformWorkspace({
      url: server.url,
      apiKey: server.apiKey,
      provider: 'installed',
    })
    onTestFinished(() => workspace.remove())
    const token = { TF_VAR_probe_token: 'only-an-example' }
    const inStack = '-chdir=cdktf.out/stacks/monitoring'

    cpSync(join(await synthesise(), 'cdktf.out'), join(workspace.folder, 'cdktf.out'), { recursive: true })
    await workspace.succeed([inStack, 'init'])
    await workspace.succeed([inStack, 'apply', '-auto-approve'], token)
    const { services } = await byHand.listServices()
    const planned = await workspace.run([inStack, 'plan', '-detailed-exitcode'], token)
    await workspace.succeed([inStack, 'destroy', '-auto-approve'], token)

    expect(services.map(({ name, paused_at }) => [name, paused_at != null]).sort()).toEqual([
      ['checkout', false],
      ['home page', false],
      ['old shop', true],
    ])
    expect(planned).toMatchObject({ exitCode: 0 })
    expect((await byHand.listServices()).services).toEqual([])
  })
})
