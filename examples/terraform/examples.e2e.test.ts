import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
} from '../../provider/testing/terraformWorkspace.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const examples = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

describe.skipIf(cannotRunTerraform)('the example', () => {
  let server: TestServer
  let byHand: Client
  let workspace: TerraformWorkspace

  beforeEach(async () => {
    server = await startServer({ rateLimit: 'none' })
    byHand = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
    workspace = await terraformWorkspace({ url: server.url, apiKey: server.apiKey })
    await byHand.createService(
      {
        name: 'legacy api',
        interval_secs: 60,
        regions: ['eu-central-1'],
        endpoints: [
          {
            url: 'https://api.example.com/v0/ping',
            call: { Http: { method: 'GET', timeout: null } },
            assertions: [{ StatusCode: { expected: { Eq: 200 } } }],
          },
        ],
      },
      'legacy',
    )
  })

  afterEach(async () => {
    await byHand.close()
    workspace.remove()
    await server.close()
  })

  test.each(examples)(
    'Scenarios 12 and 66: %s is applied, planned again without changes, and destroyed',
    async (name) => {
      const token = { TF_VAR_probe_token: 'only-an-example' }
      cpSync(join(here, name), workspace.folder, { recursive: true })

      await workspace.succeed(['apply', '-auto-approve'], token)
      const planned = await workspace.run(['plan', '-detailed-exitcode'], token)
      const { values } = JSON.parse(await workspace.succeed(['show', '-json']))
      await workspace.succeed(['destroy', '-auto-approve'], token)

      expect(planned).toMatchObject({ exitCode: 0 })
      expect(values.root_module.resources.length).toBeGreaterThan(0)
      for (const output of Object.values(values.outputs ?? {})) expect(output).toHaveProperty('value')
      const left = (await byHand.listServices()).services.map((service) => service.name)
      expect(left).toEqual(name === 'import' ? [] : ['legacy api'])
    },
  )

  test('import adopts a service without changing it', async () => {
    cpSync(join(here, 'import'), workspace.folder, { recursive: true })
    const before = (await byHand.listServices()).services

    const applied = await workspace.succeed(['apply', '-auto-approve'])

    expect(applied).toContain('1 imported, 0 added, 0 changed, 0 destroyed')
    expect((await byHand.listServices()).services).toEqual(before)
  })

  test('Scenario 66: files are formatted as terraform fmt writes them', async () => {
    const folder = testFolder()
    cpSync(here, folder, { recursive: true })

    const { exitCode, output } = await workspace.run(['fmt', '-check', '-recursive', '-diff', folder])

    expect({ exitCode, output }).toEqual({ exitCode: 0, output: '' })
  })
})
