import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { METHODS } from '../provider/protocol/testing/providerClient.ts'
import { startProvider } from '../provider/protocol/testing/providerProcess.ts'
import { root } from './readersEnvironment.ts'

test('a provider that only names its schema loads nothing that other calls need', async () => {
  const folder = testFolder()
  const counted = join(folder, 'counted')
  const counter = join(folder, 'counter.cjs')
  writeFileSync(
    counter,
    `const vm = require('node:vm')
const { Script, compileFunction } = vm
const count = () => require('node:fs').appendFileSync(${JSON.stringify(counted)}, 'text\\n')
vm.Script = class extends Script {
  constructor(...given) {
    super(...given)
    count()
  }
}
vm.compileFunction = (...given) => {
  count()
  return compileFunction(...given)
}`,
  )
  const provider = await startProvider({
    command: [join(root, 'dist/terraform-provider-pharos.cjs')],
    environment: { NODE_OPTIONS: `--require ${counter}` },
  })

  await provider.client.call(METHODS.GetProviderSchema, {})
  const atSchema = existsSync(counted)
  await provider.client.call(METHODS.GetMetadata, {})
  const afterwards = existsSync(counted)
  await provider.shutDown()

  expect([atSchema, afterwards]).toEqual([false, true])
})
