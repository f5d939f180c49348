import { createHmac, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as realTimeout } from 'node:timers/promises'
import { readConfig } from '../controller/config/readConfig.ts'
import { settingsOf } from '../controller/config/settings.ts'
import { type Controller, openController } from '../controller/controller.ts'
import type { ControllerEvent, SetStatus } from '../controller/status/status.ts'
import { type FakeClock, fakeClock } from './fakeClock.ts'
import { type GitRepository, gitRepository } from './gitRepository.ts'

/** The token for /api, and the secret of the webhook `push`. */
export const API_TOKEN = 'the-token-of-the-api'
export const HOOK_SECRET = 'the-secret-of-the-hook'

/** Longer than usual: an hour that passes at once would be a thousand renewals. */
const LEASE_TTL = '10m'
/** How often a run that is under way is looked at before time goes on (about a millisecond each). */
const LOOKS_BEFORE_TIME = 400

/** A controller of one set named `shop` in this process, with a clock that stands still, and its repository. */
export interface TestController {
  readonly repository: GitRepository
  readonly clock: FakeClock
  readonly events: ControllerEvent[]
  readonly folder: string
  readonly controller: Controller
  readonly shop: () => SetStatus
  /** Starts the loops. */
  readonly start: () => void
  /** Lets time pass until `isTrue`, at most `limitMs` of it. Throws when it never becomes true. */
  readonly until: (isTrue: () => boolean | Promise<boolean>, limitMs?: number) => Promise<void>
  /** Runs cycles until one that began after this call has ended. */
  readonly nextCycle: () => Promise<SetStatus>
  /** Posts to /api; the status and the body. */
  readonly api: (path: string, body?: object) => Promise<readonly [number, unknown]>
  /** Tells the webhook that `branch` was pushed to. */
  readonly push: (branch?: string) => Promise<number>
  readonly close: () => Promise<void>
}

/** What may differ from the usual. */
export interface TestControllerOptions {
  readonly url: string
  readonly apiKey: string
  /** More lines of the set, each indented by four blanks. */
  readonly more?: string
  readonly env?: Readonly<Record<string, string>>
  /** Share these with another replica. */
  readonly repository?: GitRepository
  readonly folder?: string
  readonly replica?: string
  readonly clock?: FakeClock
  /** Shorter where a test waits for signs of life. */
  readonly leaseTtl?: string
  /** File of keys that may sign commits. */
  readonly signers?: string
}

/** Opens a controller for a test; nothing runs yet. */
export async function testController(options: TestControllerOptions): Promise<TestController> {
  const repository = options.repository ?? gitRepository()
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'pharos-controller-'))
  const clock = options.clock ?? fakeClock()
  const events: ControllerEvent[] = []
  const read = readConfig('pharos-controller.yaml', Buffer.from(configText(options, repository, folder)))
  if (!('config' in read)) throw new Error(JSON.stringify(read.problems))
  const env = {
    PATH: process.env.PATH,
    PHAROS_URL: options.url,
    PHAROS_API_KEY: options.apiKey,
    CONTROLLER_TOKEN: API_TOKEN,
    HOOK_SECRET,
    ...options.env,
  }
  const controller = await openController({
    settings: settingsOf(read.config, env),
    clock,
    newId: randomUUID,
    version: 'test',
    env,
    holder: `replica ${options.replica ?? 'blue'}`,
    onEvent: (event) => events.push(event),
    onProblem: () => {},
  })
  let running = Promise.resolve()
  const shop = (): SetStatus => {
    const [set] = controller.status().sets
    if (set === undefined) throw new Error('there is no set')
    return set
  }
  const until = untilOn(clock, shop)
  return {
    repository,
    clock,
    events,
    folder,
    controller,
    shop,
    start: () => {
      running = controller.run()
    },
    until,
    nextCycle: async () => {
      const before = shop().running === null ? shop().lastRun?.runId : undefined
      await until(
        () => shop().running === null && shop().lastRun !== null && shop().lastRun?.runId !== before,
      )
      return shop()
    },
    ...callsTo(controller),
    close: async () => {
      controller.stop()
      const hasEnded = async () =>
        (await Promise.race([running.then(() => true), realTimeout(1, false)])) === true
      // git releases the lease: time stands still for that, unless git waits for the time itself.
      for (let looks = 0; looks < LOOKS_BEFORE_TIME && !(await hasEnded()); looks += 1);
      await until(hasEnded)
      await controller.close()
      if (options.repository === undefined) repository.remove()
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What people and their git host send. */
function callsTo(controller: Controller): Pick<TestController, 'api' | 'push'> {
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(`${controller.url}${path}`, { method: 'POST', body, headers })
  return {
    api: async (path, body = {}) => {
      const response = await post(path, JSON.stringify(body), { Authorization: `Bearer ${API_TOKEN}` })
      return [response.status, JSON.parse(await response.text())]
    },
    push: async (branch = 'main') => {
      const body = JSON.stringify({ ref: `refs/heads/${branch}` })
      const signature = createHmac('sha256', HOOK_SECRET).update(body).digest('hex')
      return (await post('/hooks/push', body, { 'X-Signature': signature })).status
    },
  }
}

function configText(options: TestControllerOptions, repository: GitRepository, folder: string): string {
  return `apiVersion: pharos/v1
kind: Controller
listen: 127.0.0.1:0
replica: ${options.replica ?? 'blue'}
dataDir: ${folder}
apiToken: {env: CONTROLLER_TOKEN}
webhooks:
  - {source: push, kind: generic, secrets: [{env: HOOK_SECRET}]}
sets:
  - name: shop
    repository: {url: "${repository.url}", path: monitoring, allowFile: true${options.signers === undefined ? '' : `, allowedSigners: ${options.signers}`}}
    leaseTtl: ${options.leaseTtl ?? LEASE_TTL}
${options.more ?? ''}`
}

/** Lets time pass on `clock` until something is true; see `TestController.until`. */
function untilOn(clock: FakeClock, shop: () => SetStatus): TestController['until'] {
  return async (isTrue, limitMs = 600_000) => {
    let passedMs = 0
    for (let looks = 0; !(await isTrue()); looks += 1) {
      // Real work has no timer of ours: time stands still for it, unless it waits for the time itself.
      await realTimeout(1)
      const nextMs = clock.nextTimerMs()
      const isBusy = shop().running !== null && looks < LOOKS_BEFORE_TIME
      if (isBusy || looks % 3 !== 2 || nextMs === null || (await isTrue())) continue
      passedMs += nextMs
      if (passedMs > limitMs)
        throw new Error(`not within ${limitMs} ms: ${JSON.stringify(shop().conditions)}`)
      clock.advance(nextMs)
      if (shop().running !== null) looks = 0
    }
  }
}
