import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { startServer } from '../server/testing/startServer.ts'
import { METHODS } from './protocol/testing/providerClient.ts'
import { startProvider } from './protocol/testing/providerProcess.ts'
import { openCore } from './protocol/testing/terraformCore.ts'
import { schemaBytes } from './schemaBytes.ts'

const EXECUTABLE = join(process.cwd(), 'dist/terraform-provider-pharos.cjs')

test('the built executable returns the schema of its sources', async () => {
  const provider = await startProvider({ command: [EXECUTABLE] })
  const built = await provider.client.call(METHODS.GetProviderSchema, {})
  await provider.shutDown()

  expect(built).toEqual(METHODS.GetProviderSchema.responseDeserialize(Buffer.from(schemaBytes)))
  expect([...built.resourceSchemas.keys()]).toEqual(['pharos_service', 'pharos_incident'])
})

test('V8 does not optimise WebAssembly during requests, which would delay the exit of the process', async () => {
  const server = await startServer({ rateLimit: 'none' })
  const cache = testFolder()
  onTestFinished(async () => {
    await server.close()
  })
  const provider = await startProvider({
    command: [process.execPath, '--trace-wasm-compilation-times', EXECUTABLE],
    environment: { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey, XDG_CACHE_HOME: cache },
  })
  const core = await openCore(provider.client)
  // A configured provider keeps what it read.
  for (let reads = 0; reads < 50; reads += 1) {
    await core.configure({})
    expect((await core.readData('pharos_org', {})).diagnostics).toEqual([])
  }
  const closed = once(provider.process, 'close')
  await provider.shutDown()
  await closed

  const { stdout } = provider.output()
  expect(stdout).toContain('using Liftoff')
  expect(stdout).not.toContain('using TurboFan')
})
