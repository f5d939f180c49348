import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { runHere } from '../../testing/commandHere.ts'
import { PROGRAM } from '../../testing/serverProcess.ts'
import { type DevDocument, devText } from './devText.ts'

/** Maximum wait for a check, an incident or a process on a busy machine (milliseconds). */
const WAIT_MS = 60_000

const DOCUMENT: DevDocument = {
  ...{ url: 'http://127.0.0.1:7171', apiKey: 'a key', orgId: 'an organisation', dataDir: 'data' },
  ...{ statusPageUrl: 'http://127.0.0.1:7174/s/dev', consoleUrl: 'http://localhost:7173/' },
  sample: { serviceId: 'a service', url: 'http://127.0.0.1:7179' },
}

let folder = ''
let children: ChildProcess[] = []
beforeEach(async () => {
  folder = testFolder()
  await mkdir(join(folder, 'tmp'))
})
afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
  children = []
})

interface RunningDev {
  readonly child: ChildProcess
  /** Everything on stdout, once it is complete. */
  readonly text: string
  readonly stop: (signal: NodeJS.Signals) => Promise<{ code: number | null; stderr: string }>
}

/** Starts `dev` with temporary folders below `folder`; resolves when its output contains `last`. */
async function startDev(args: readonly string[], last: string): Promise<RunningDev> {
  const child = spawn(process.execPath, [PROGRAM, 'dev', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, TMPDIR: join(folder, 'tmp') },
  })
  children.push(child)
  const ended = once(child, 'close')
  let text = ''
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes(last)) resolve()
    })
    child.on('close', () => reject(new Error(stderr)))
  })
  return {
    child,
    text,
    stop: async (signal) => {
      child.kill(signal)
      await ended
      // A request may well be slow on a busy machine.
      return { code: child.exitCode, stderr: stderr.replaceAll(/^.*"slow request".*\n/gm, '') }
    },
  }
}

async function startJson(args: readonly string[] = []): Promise<RunningDev & { document: DevDocument }> {
  const running = await startDev(['--json', ...args], '\n')
  return { ...running, document: JSON.parse(running.text) }
}

async function waitForState(page: string, state: string): Promise<void> {
  for (const endMs = Date.now() + WAIT_MS; ; ) {
    const shown = (await (await fetch(`${page}/status.json`)).json()) as { state: string }
    if (shown.state === state) return
    if (Date.now() > endMs) throw new Error(`the page shows ${shown.state}, not ${state}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

test('dev needs no settings: its key works, its console invites an owner, its page shows the sample, and SIGINT removes its folder', {
  timeout: 4 * WAIT_MS,
}, async () => {
  const { document, stop } = await startJson()
  const { url, apiKey, statusPageUrl, consoleUrl, sample } = document

  const services = await apiClient(url, apiKey).get('/v1/services')
  expect(services.json).toEqual([expect.objectContaining({ id: sample.serviceId, name: 'Sample' })])
  expect(await (await fetch(consoleUrl)).text()).toContain('owner@example.org')
  await waitForState(statusPageUrl, 'operational')
  await fetch(`${sample.url}/break`, { method: 'POST' })
  await waitForState(statusPageUrl, 'down')
  await fetch(`${sample.url}/repair`, { method: 'POST' })
  await waitForState(statusPageUrl, 'operational')

  expect(await stop('SIGINT')).toEqual({ code: 0, stderr: '' })
  expect(await readdir(join(folder, 'tmp'))).toEqual([])
})

test('dev prints settings and an alias for pharos, ends cleanly on SIGTERM and removes its folder', {
  timeout: 2 * WAIT_MS,
}, async () => {
  const { text, stop } = await startDev([], 'pharos apply')
  const during = await readdir(join(folder, 'tmp'))

  expect(text).toMatch(
    /export PHAROS_URL=http:\S+\n {2}export PHAROS_API_KEY=pharos_[0-9a-f]{64}\n {2}alias pharos='node \S+\/dist\/pharos.js'\n/,
  )
  expect(during).toEqual([expect.stringMatching(/^pharos-dev-/)])
  expect(await stop('SIGTERM')).toEqual({ code: 0, stderr: '' })
  expect(await readdir(join(folder, 'tmp'))).toEqual([])
})

test('dev with a folder is persistent: the next start has the same service and page, and revokes the former key', {
  timeout: 2 * WAIT_MS,
}, async () => {
  const args = ['--data-dir', join(folder, 'data')]
  const first = await startJson(args)
  await first.stop('SIGINT')
  const second = await startJson(args)
  const { url, apiKey, orgId, sample } = second.document

  const services = await apiClient(url, apiKey).get('/v1/services')
  const refused = await apiClient(url, first.document.apiKey).get('/v1/services')

  expect(orgId).toBe(first.document.orgId)
  expect(services.json).toEqual([
    expect.objectContaining({
      id: first.document.sample.serviceId,
      endpoints: [expect.objectContaining({ url: `${sample.url}/` })],
    }),
  ])
  expect(refused.status).toBe(401)
  expect((await fetch(second.document.statusPageUrl)).status).toBe(200)
  await second.stop('SIGINT')
})

test('dev refuses a folder that another organisation uses', async () => {
  const dataDir = join(folder, 'data')
  await runHere(['org', 'create', '--data-dir', dataDir, '--name', 'Example Shop'])

  const run = await runHere(['dev', '--port', '0', '--data-dir', dataDir])
  const orgs = await runHere(['org', 'list', '--data-dir', dataDir, '--json'])

  expect(run).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pharos-server: the data folder has organisations that "dev" did not make: use "serve" for it\n',
  })
  expect(JSON.parse(orgs.stdout)).toHaveLength(1)
})

test('the alias of dev runs pharos from a folder with spaces and quotes', async () => {
  const place = join(folder, "Ada's folder")
  await mkdir(place)
  await writeFile(join(place, 'pharos.js'), "console.log('this is pharos')")
  const text = devText(DOCUMENT, true, join(place, 'pharos.js'))
  const [alias = ''] = /alias .*/.exec(text) ?? []

  const run = spawnSync('bash', ['-c', `shopt -s expand_aliases\n${alias}\npharos`], { encoding: 'utf8' })

  expect(run.stdout).toBe('this is pharos\n')
})

test('the first screen of the README starts dev', async () => {
  const [, script = ''] =
    /<!-- run by \S+dev\.e2e\.test\.ts -->\n```sh\n(.*?)```/s.exec(await readFile('README.md', 'utf8')) ?? []

  expect(script).toBe('npm ci\nnode dist/pharos-server.js dev\n')
})
