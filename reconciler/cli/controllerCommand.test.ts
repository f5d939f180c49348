import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { controllerCommand } from './controllerCommand.ts'
import { outputOn } from './output.ts'

test('a SIGHUP while the controller still opens is no wish to stop, also when it then cannot be opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-opening-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'pharos-controller.yaml')
  const file = join(folder, 'no-folder')
  writeFileSync(file, '')
  writeFileSync(
    config,
    `apiVersion: pharos/v1
kind: Controller
listen: none
dataDir: ${file}
sets:
  - name: shop
    repository: {url: "https://git.example.com/shop.git"}
`,
  )
  const env = {
    PATH: process.env.PATH,
    PHAROS_URL: 'http://127.0.0.1:9',
    PHAROS_API_KEY: `pharos_${'0'.repeat(64)}`,
  }
  const stdout = new PassThrough()
  let reloads = 0
  const command = controllerCommand([], {
    output: outputOn({ stdout, stderr: new PassThrough(), env, cwd: folder }, 'text'),
    env,
    options: { config },
    interruption: {
      exitCode: () => undefined,
      onStop: () => {},
      onReload: (reload) => {
        reloads += 1
        reload()
      },
    },
  })

  await expect(command).rejects.toThrow('cannot be made')
  expect(reloads).toBe(1)
})
