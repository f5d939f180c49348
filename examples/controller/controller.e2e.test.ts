import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { startForgeServer } from '../../reconciler/notifications/testing/forgeServer.ts'
import { startReceiver } from '../../reconciler/notifications/testing/receiver.ts'
import { controllerProcess } from '../../reconciler/testing/controllerProcess.ts'
import { manifestFiles } from '../../reconciler/testing/controllerScene.ts'
import { gitRepository } from '../../reconciler/testing/gitRepository.ts'
import { manifestOf } from '../../reconciler/testing/manifestOf.ts'
import { startServer } from '../../server/testing/startServer.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')

test('the example controller applies services, and notifies its channels and its forge', async () => {
  const [server, receiver, forge] = await Promise.all([
    startServer({ rateLimit: 'none' }),
    startReceiver(),
    startForgeServer('the-token-of-the-forge'),
  ])
  const repository = gitRepository()
  const folder = testFolder()
  const environment = 'apiVersion: pharos/v1\nkind: Environment\nmetadata: {name: production}\n'
  repository.commit({
    ...manifestFiles('checkout'),
    'monitoring/production.yaml': environment,
    'monitoring/broken.yaml': manifestOf('search').replace('60s', 'soon'),
  })
  const config = join(folder, 'pharos-controller.yaml')
  const here = read('pharos-controller.yaml')
    .replace('https://git.example.com/shop/monitoring.git', repository.url)
    .replace(/credential: .*/, 'allowFile: true')
    .replace('https://api.example.com', server.url)
    .replace('https://pager.example.com', receiver.url)
    .replace('kind: github                     #', `url: ${forge.githubUrl}\n      kind: github #`)
    .replace('/var/lib/pharos', folder)
    // It would decide by the day on which this runs.
    .replace(/ {4}windows:\n.*\n/, '')
  writeFileSync(config, here)
  const controller = controllerProcess(
    config,
    'example',
    {
      SHOP_API_KEY: server.apiKey,
      SLACK_WEBHOOK_URL: `${receiver.url}/slack`,
      PAGER_SECRET: 'the-secret-of-the-pager',
      FORGE_TOKEN: 'the-token-of-the-forge',
      CONTROLLER_TOKEN: 'the-token-of-the-api',
      WEBHOOK_SECRET: 'the-secret-of-the-hook',
    },
    ['--once'],
  )

  expect(await controller.ended).toBe(3)
  const paths = receiver.received.map(({ path }) => path)
  expect([...new Set(paths)].sort()).toEqual(['/pharos', '/slack'])
  expect(forge.statuses.at(-1)).toMatchObject({ context: 'pharos/shop', state: 'failure' })
  await Promise.all([server.close(), receiver.close(), forge.close()])
  repository.remove()
})
