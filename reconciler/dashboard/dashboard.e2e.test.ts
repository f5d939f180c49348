import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../../server/testing/startServer.ts'
import type { ControllerEvent } from '../controller/status/status.ts'
import { startForgeServer } from '../notifications/testing/forgeServer.ts'
import { startReceiver } from '../notifications/testing/receiver.ts'
import { controllerProcess } from '../testing/controllerProcess.ts'
import { manifestFiles } from '../testing/controllerScene.ts'
import { startFaultProxy } from '../testing/faultProxy.ts'
import { gitRepository } from '../testing/gitRepository.ts'

const TOKEN = 'CANARY-token-of-the-forge'
const SIGNING = 'CANARY-secret-that-signs'

test('pharos controller shows its work, notifies every channel, and reveals no secret', async () => {
  const [server, forge, receiver] = await Promise.all([
    startServer({ rateLimit: 'none' }),
    startForgeServer(TOKEN),
    startReceiver(),
  ])
  const repository = gitRepository()
  const proxy = await startFaultProxy(server.url)
  // Nothing is made before the forge heard of the run.
  proxy.decide = async () => {
    while (forge.statuses.length === 0) await new Promise((resolve) => setImmediate(resolve))
    return 'pass' as const
  }
  const folder = mkdtempSync(join(tmpdir(), 'pharos-face-'))
  const config = join(folder, 'pharos-controller.yaml')
  writeFileSync(
    config,
    `apiVersion: pharos/v1
kind: Controller
listen: 127.0.0.1:0
dataDir: ${folder}
publicUrl: https://pharos.example.com
sets:
  - name: shop
    repository: {url: "${repository.url}", path: monitoring, allowFile: true}
notifications:
  channels:
    - {name: ops, kind: slack, url: {env: SLACK_URL}, severity: info, events: [RunFinished]}
    - {name: audit, kind: webhook, url: "${receiver.url}/audit", secret: {env: SIGNING}, severity: info}
  forges:
    - {kind: github, url: "${forge.githubUrl}", repository: shop/monitoring, token: {env: FORGE_TOKEN}}
`,
  )
  const sha = repository.commit(manifestFiles('checkout', 'search'))
  forge.pullRequests.push({ number: 3, commits: [sha] })
  const controller = controllerProcess(config, 'blue', {
    PHAROS_URL: proxy.url,
    PHAROS_API_KEY: server.apiKey,
    SLACK_URL: `${receiver.url}/services/CANARY-path`,
    SIGNING,
    FORGE_TOKEN: TOKEN,
  })
  try {
    await controller.event(
      ({ type, message }) => type === 'RunFinished' && message.startsWith('converged'),
      0,
    )
    const [, url = ''] = /^listening on (\S+)$/m.exec(controller.stderr()) ?? []
    const get = async (path: string) => (await fetch(`${url}${path}`)).text()
    const [page, document, badge, metrics] = await Promise.all(
      ['/', '/status.json', '/badge/shop.svg', '/metrics'].map(get),
    )
    // What still waits to be sent is sent before the program ends.
    controller.signal('SIGTERM')
    expect(await controller.ended).toBe(143)

    expect(page).toContain('<title>Every service matches git · Pharos</title>')
    expect(page).toContain(sha.slice(0, 10))
    const [shop] = JSON.parse(document ?? '').sets
    expect(shop.services).toMatchObject([
      { key: 'checkout', state: 'Synced', manifest: 'monitoring/checkout.yaml' },
      { key: 'search', state: 'Synced', manifest: 'monitoring/search.yaml' },
    ])
    expect(badge).toContain('shop: ready')
    expect(metrics).toContain('pharos_notifications_waiting{channel="audit"}')
    expect(forge.statuses).toMatchObject([
      { sha, context: 'pharos/shop', state: 'pending', description: 'being applied' },
      { sha, context: 'pharos/shop', state: 'success', targetUrl: 'https://pharos.example.com/sets/shop' },
    ])
    expect(
      forge.comments.map(({ pullRequest, body }) => [pullRequest, body.includes('checkout: create done')]),
    ).toEqual([[3, true]])
    const slack = receiver.received.filter(({ path }) => path === '/services/CANARY-path')
    expect(slack.map(({ body }) => JSON.parse(body).text)).toEqual(['shop: converged: 2 created'])
    const audited: ControllerEvent[] = receiver.received
      .filter(({ path }) => path === '/audit')
      .flatMap(({ body }) => JSON.parse(body).events)
    expect(audited).toEqual(controller.events)
    const printed = JSON.stringify([controller.events, controller.stderr(), page, document, metrics])
    expect(printed).not.toContain('CANARY')
  } finally {
    controller.signal('SIGKILL')
    await controller.ended
    await Promise.all([server.close(), forge.close(), receiver.close(), proxy.close()])
    repository.remove()
    rmSync(folder, { recursive: true, force: true })
  }
})
