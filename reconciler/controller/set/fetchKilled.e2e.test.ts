import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../../server/testing/startServer.ts'
import { type ControllerProcess, controllerProcess } from '../../testing/controllerProcess.ts'
import { manifestFiles } from '../../testing/controllerScene.ts'
import { type GitRepository, gitRepository } from '../../testing/gitRepository.ts'
import { type HttpsGitServer, httpsGitServer } from '../../testing/httpsGitServer.ts'
import { processesNaming } from '../../testing/processes.ts'
import type { ControllerEvent } from '../status/status.ts'

let server: TestServer
let forge: HttpsGitServer
let repository: GitRepository
let folder: string
let processes: ControllerProcess[]
beforeEach(async () => {
  server = await startServer({ rateLimit: 'none' })
  repository = gitRepository()
  folder = mkdtempSync(join(tmpdir(), 'pharos-fetch-'))
  const root = join(folder, 'forge')
  mkdirSync(root)
  symlinkSync(join(repository.directory, '.git'), join(root, 'shop.git'))
  forge = await httpsGitServer({ root })
  processes = []
  writeFileSync(
    join(folder, 'controller.yaml'),
    `apiVersion: pharos/v1
kind: Controller
listen: none
dataDir: ${folder}
sets:
  - name: shop
    repository: {url: "${forge.urlOf('shop.git')}", path: monitoring, caFile: ${forge.caFile}}
    interval: 1s
`,
  )
})
afterEach(async () => {
  for (const one of processes) {
    one.signal('SIGKILL')
    await one.ended
  }
  await forge.close()
  await server.close()
  repository.remove()
  // A git process may outlive its controller for a moment, and still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

function start(): ControllerProcess {
  const env = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  const one = controllerProcess(join(folder, 'controller.yaml'), 'blue', env)
  processes.push(one)
  return one
}

const isApplied = (sha: string) => (event: ControllerEvent) =>
  event.type === 'RunFinished' && event.commit === sha && event.message.startsWith('converged')

/** Commits another manifest, and resolves when half of it is on its way to the mirror. The SHA. */
async function heldCommit(key: string): Promise<string> {
  forge.behaviour = 'stop-in-pack'
  const held = forge.held()
  // From a hundred objects on git keeps the pack as it comes, and it comes in pieces of 64 KiB.
  const others = Array.from({ length: 120 }, (_, index) => [`others/${key}/${index}`, randomBytes(4_096)])
  const sha = repository.commit({ ...manifestFiles(key), ...Object.fromEntries(others) })
  await held
  return sha
}

/** Kills git at once with its helpers, in one call: after the first has died the others end of themselves. */
function killGit(): void {
  const pids = processesNaming(forge.urlOf('shop.git'))
  expect(pids.length).toBeGreaterThan(0)
  spawnSync('kill', ['-KILL', ...pids.map(String)])
}

function leftovers(): string {
  return execFileSync('find', [join(folder, 'mirrors'), '-name', 'tmp_*']).toString()
}

test('Scenario 22: a controller that is killed during a transfer continues after a restart, whether git was killed with it or not', async () => {
  const first = repository.commit(manifestFiles('a'))
  let one = start()
  await one.event(isApplied(first), 0)

  for (const [key, withGit] of [
    ['b', false],
    ['c', true],
  ] as const) {
    const sha = await heldCommit(key)
    await expect.poll(leftovers).not.toBe('')
    one.signal('SIGKILL')
    await one.ended
    if (withGit) killGit()
    forge.behaviour = 'respond'

    one = start()
    await one.event(isApplied(sha), 0)
    expect(leftovers()).toBe('')
  }
})

test('Scenario 22: a git process that is killed during a transfer is run again', async () => {
  const first = repository.commit(manifestFiles('a'))
  const one = start()
  await one.event(isApplied(first), 0)

  const second = await heldCommit('b')
  killGit()
  forge.behaviour = 'respond'
  await one.event(isApplied(second), 0)

  // Which of git's programs dies first decides whether the copy is made anew at once or the repository counts as away.
  for (const { message } of one.events.filter(({ condition }) => condition === 'SourceUnavailable'))
    expect(message).toMatch(
      /git fetch ended with SIGKILL|cannot be read: (?:fatal: |Killed$)|can be read again|no longer holds/,
    )
  expect(leftovers()).toBe('')
})
