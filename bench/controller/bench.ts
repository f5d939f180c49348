/**
 * Measures the controller as a user runs it: a cycle without changes at 1,000 and 10,000 services, and the time from a
 * webhook to the last operation of a one-file commit, compared with that operation alone. The ratios apply to any
 * machine, the seconds only to this one. "Computing" is CPU time of the controller and its git processes, which is more
 * accurate than wall time beside other programs. Linux only.
 *
 * Run with `node --import tsx bench/controller/bench.ts` after `npm run build`.
 */
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '../../api/client/client.ts'
import { type ControllerProcess, controllerProcess } from '../../reconciler/testing/controllerProcess.ts'
import { startFaultProxy } from '../../reconciler/testing/faultProxy.ts'
import { type GitRepository, gitRepository } from '../../reconciler/testing/gitRepository.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { cpuMicrosOf } from '../postgres/cpuOf.ts'

const SIZES = [1_000, 10_000]
/** Number of cycles of each size; the median counts. */
const CYCLES = 7
/** Number of commits, pushed one at a time; the median counts. */
const PUSHES = 9
/** Number of services created concurrently before the measurement. */
const IN_FLIGHT = 32
const SECRET = 'the-secret-of-the-hook'
const PROGRAM = join(import.meta.dirname, '../../dist/pharos.js')

interface Place {
  readonly server: TestServer
  readonly repository: GitRepository
  readonly folder: string
  readonly env: Record<string, string>
}

async function inPlace(measure: (place: Place) => Promise<void>): Promise<void> {
  const server = await startServer({ rateLimit: 'none', plan: 'enterprise', logLevel: 'error' })
  const many = 20_000
  await server.overrideLimits({ servicesMax: many, endpointsMax: many })
  const repository = gitRepository()
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const env = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey, WEBHOOK_SECRET: SECRET }
  try {
    await measure({ server, repository, folder, env })
  } finally {
    await server.close()
    repository.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

function manifest(key: string, interval: string): string {
  return `apiVersion: pharos/v1
kind: Service
metadata: {name: ${key}}
spec:
  interval: ${interval}
  regions: [eu-west-1]
  endpoints:
    - url: https://${key}.example.com/
      headers: {Accept: text/html}
      assertions: [{status: 200}]
`
}

async function started({ repository, folder, env }: Place, interval: string): Promise<ControllerProcess> {
  const config = join(folder, 'pharos-controller.yaml')
  writeFileSync(
    config,
    `apiVersion: pharos/v1
kind: Controller
listen: 127.0.0.1:0
dataDir: ${folder}
webhooks: [{source: push, kind: generic, secrets: [{env: WEBHOOK_SECRET}]}]
sets:
  - name: shop
    repository: {url: "${repository.url}", path: monitoring, allowFile: true}
    interval: ${interval}
    prune: policy
`,
  )
  const controller = controllerProcess(config, 'bench', env)
  await controller.event(({ type }) => type === 'RunFinished', 0)
  // An aborted bench must leave no process behind.
  process.once('exit', () => controller.signal('SIGKILL'))
  return controller
}

async function ended(controller: ControllerProcess): Promise<void> {
  controller.signal('SIGTERM')
  await controller.ended
}

/** The controller's counters so far. */
interface Tally {
  readonly runs: number
  readonly seconds: number
  readonly requests: number
}

/** Reads the metrics, because the page or `/status.json` would cost the controller more than the measured work. */
async function tallyOf(controller: ControllerProcess): Promise<Tally> {
  const url = /listening on (\S+)/.exec(controller.stderr())?.[1]
  // A keep-alive connection may be closed at the moment of its use.
  const text = await (await fetch(`${url}/metrics`, { headers: { Connection: 'close' } })).text()
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'gm'))].reduce(
      (all, [, one]) => all + Number(one),
      0,
    )
  return {
    runs: sum('pharos_runs_total'),
    seconds: sum('pharos_run_duration_seconds_sum'),
    requests: sum('pharos_api_requests_total'),
  }
}

async function measureIdle(place: Place, size: number): Promise<void> {
  const { server, repository, folder, env } = place
  const keys = Array.from({ length: size }, (_, index) => `s${index}`)
  repository.commit(Object.fromEntries(keys.map((key) => [`monitoring/${key}.yaml`, manifest(key, '60s')])))
  const queue = [...keys]
  const make = async (): Promise<void> => {
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      const headers = { Authorization: `Bearer ${server.apiKey}`, 'Content-Type': 'application/json' }
      const response = await fetch(`${server.url}/v1/services`, {
        method: 'POST',
        headers,
        body: JSON.stringify(definition(key)),
      })
      if (!response.ok) throw new Error(await response.text())
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, make))
  const adopt = [
    'adopt',
    'apply',
    join(repository.directory, 'monitoring'),
    '--state',
    join(folder, 'shop.db'),
  ]
  await promisify(execFile)(process.execPath, [PROGRAM, ...adopt], {
    env: { PATH: process.env.PATH ?? '', ...env },
    maxBuffer: 64 * 1024 * 1024,
  })
  const controller = await started(place, '1s')
  const { pid } = controller.child
  if (pid === undefined) throw new Error('the controller has not started')
  const times: number[] = []
  const requests: number[] = []
  // The first run has read the repository, and the organisation of the key.
  const first = await tallyOf(controller)
  const cpuBefore = cpuMicrosOf(pid)
  let before = first
  while (times.length < CYCLES) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const now = await tallyOf(controller)
    const runs = now.runs - before.runs
    if (runs === 0) continue
    times.push(((now.seconds - before.seconds) / runs) * 1_000)
    requests.push((now.requests - before.requests) / runs)
    before = now
  }
  const computingMs = (cpuMicrosOf(pid) - cpuBefore) / 1_000 / (before.runs - first.runs)
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mib = (name: string): string =>
    (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024).toFixed(0)
  process.stdout.write(
    `nothing to do, ${size} services: ${median(requests)} request, ${median(times).toFixed(0)} ms (computing ${computingMs.toFixed(0)}), ${mib('VmRSS')} MiB, at most ${mib('VmHWM')}\n`,
  )
  await ended(controller)
}

function definition(key: string): object {
  return {
    name: key,
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: `https://${key}.example.com/`,
        call: { Http: { method: 'GET', timeout: null, headers: { Accept: { value: 'text/html' } } } },
        assertions: [{ StatusCode: { expected: { Eq: 200 } } }],
      },
    ],
  }
}

async function measurePush(place: Place): Promise<void> {
  const { server, repository } = place
  const proxy = await startFaultProxy(server.url)
  repository.commit({ 'monitoring/a.yaml': manifest('a', '60s') })
  const controller = await started({ ...place, env: { ...place.env, PHAROS_URL: proxy.url } }, '1h')
  const url = /listening on (\S+)/.exec(controller.stderr())?.[1]
  const pushes: number[] = []
  for (let push = 1; push <= PUSHES; push += 1) {
    repository.commit({ 'monitoring/a.yaml': manifest('a', `${60 + push}s`) })
    const body = JSON.stringify({ ref: 'refs/heads/main', push })
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    const acknowledged = new Promise<number>((resolve) => {
      proxy.afterEffect = () => resolve(performance.now())
    })
    const finished = controller.event(({ type }) => type === 'RunFinished')
    const startedAtMs = performance.now()
    await fetch(`${url}/hooks/push`, { method: 'POST', body, headers: { 'X-Signature': signature } })
    pushes.push((await acknowledged) - startedAtMs)
    await finished
  }
  const bare = await bareOperations(place, proxy.url)
  await ended(controller)
  await proxy.close()
  const [whole, alone] = [median(pushes), median(bare)]
  process.stdout.write(
    `webhook to acknowledged: ${whole.toFixed(0)} ms, of which the operation alone ${alone.toFixed(1)} ms (${(whole / alone).toFixed(0)} times)\n`,
  )
}

/** The same operation alone, through the same proxy. */
async function bareOperations({ server }: Place, url: string): Promise<readonly number[]> {
  const client = new Client({ url, apiKey: server.apiKey, userAgent: 'bench' })
  const { services } = await client.listServices()
  const [service] = services
  if (service === undefined) throw new Error('there is no service')
  const times: number[] = []
  for (let round = 1; round <= PUSHES; round += 1) {
    const startedAtMs = performance.now()
    await client.replaceService(service.id, {
      name: 'a',
      interval_secs: 100 + round,
      regions: ['eu-west-1'],
      endpoints: [
        { url: 'https://a.example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
      ],
    })
    times.push(performance.now() - startedAtMs)
  }
  await client.close()
  return times
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

for (const size of SIZES) await inPlace((place) => measureIdle(place, size))
await inPlace(measurePush)
