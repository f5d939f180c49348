import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../../server/testing/startServer.ts'
import { controllerProcess } from '../testing/controllerProcess.ts'
import { manifestFiles } from '../testing/controllerScene.ts'
import { gitRepository } from '../testing/gitRepository.ts'
import { manifestOf } from '../testing/pharosProgram.ts'

test('SIGHUP has pharos controller read its configuration again, and a broken one is told with its place and changes nothing', async () => {
  const server = await startServer({ rateLimit: 'none' })
  const repository = gitRepository()
  repository.commit({ ...manifestFiles('a'), 'other/b.yaml': manifestOf('b') })
  const folder = mkdtempSync(join(tmpdir(), 'pharos-reload-'))
  const config = join(folder, 'pharos-controller.yaml')
  const set = (name: string, path: string): string =>
    `  - name: ${name}\n    repository: {url: "${repository.url}", path: ${path}, allowFile: true}\n`
  const write = (rest: string): void =>
    writeFileSync(
      config,
      `apiVersion: pharos/v1\nkind: Controller\nlisten: 127.0.0.1:0\ndataDir: ${folder}\n${rest}`,
    )
  write(`sets:\n${set('shop', 'monitoring')}`)
  const controller = controllerProcess(config, 'blue', {
    PHAROS_URL: server.url,
    PHAROS_API_KEY: server.apiKey,
  })
  try {
    await controller.event(({ type, set }) => type === 'RunFinished' && set === 'shop', 0)
    write(`sets:\n${set('shop', 'monitoring')}    intervall: 5s\n`)
    controller.signal('SIGHUP')
    const refused = await controller.event(({ type }) => type === 'ConfigurationRefused', 0)
    expect(refused).toMatchObject({
      severity: 'error',
      message: expect.stringContaining(
        `the old one stays in force: ${config}:8:5: [E_UNKNOWN_FIELD] sets[0].intervall is not a known field`,
      ),
    })

    write(`apiToken: {env: PHAROS_API_KEY}\nsets:\n${set('shop', 'monitoring')}${set('next', 'other')}`)
    controller.signal('SIGHUP')
    await controller.event(({ type, set }) => type === 'RunFinished' && set === 'next', 0)
    const reloaded = await controller.event(({ type }) => type === 'ConfigurationReloaded', 0)
    expect(reloaded.message).toBe('the configuration was read again: new: next')
    const [, url = ''] = /^listening on (\S+)$/m.exec(controller.stderr()) ?? []
    const asked = await fetch(`${url}/api/sets/next/run`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${server.apiKey}` },
    })
    expect(asked.status).toBe(202)
    expect(await (await fetch(url)).text()).toContain('sets/next')

    controller.signal('SIGTERM')
    expect(await controller.ended).toBe(143)
  } finally {
    controller.signal('SIGKILL')
    await controller.ended
    await server.close()
    repository.remove()
    rmSync(folder, { recursive: true, force: true })
  }
})
