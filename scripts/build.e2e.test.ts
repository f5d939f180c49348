import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
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

test.each(['pharos.js', 'pharos-server.js', 'pharos-agent.js', 'pharos-provider.js'])(
  '%s says on an old Node which one it needs',
  (program) => {
    const file = join(root, 'dist', program)
    const old = "Object.defineProperty(process.versions, 'node', { value: '18.20.8' })"

    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(old)}`, file, '--version'],
      { encoding: 'utf8' },
    )

    expect([status, stderr]).toEqual([
      1,
      'Pharos needs Node 20.19 or newer; this is Node 18.20.8: install a newer one\n',
    ])
    // Node 18 has neither, and would refuse to load the program.
    expect(readFileSync(file, 'utf8')).not.toMatch(
      /^import \{[^}]*\b(?:hash|crc32)\b[^}]*\} from "node:(?:crypto|zlib)"/m,
    )
  },
)
