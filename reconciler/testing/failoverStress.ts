import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '../../api/client/client.ts'
import { makeBareRepository } from '../git/bareRepository.ts'
import { type ControllerProcess, controllerProcess } from './controllerProcess.ts'
import { type FaultProxy, startFaultProxy } from './faultProxy.ts'
import { type GitRepository, gitRepository } from './gitRepository.ts'
import { manifestOf } from './manifestOf.ts'
import { type ProcessHistory, staleWrites } from './staleWrites.ts'

/** Where the state of two replicas is, and the time without a sign of life after which one takes over there (seconds). */
const STATES = { file: 2, git: 5 } as const
export type StateKind = keyof typeof STATES

/** How two replicas are tortured. */
export interface StressOptions {
  /** A server whose rate does not matter here. */
  readonly url: string
  readonly apiKey: string
  readonly state: StateKind
  /** Whether there is another round, after so many. */
  readonly continues: (rounds: number) => boolean
  readonly random: () => number
}

/** What was seen. */
export interface StressReport {
  readonly rounds: number
  readonly kills: number
  readonly stops: number
  readonly takeovers: number
  /** Changes that reached the server. */
  readonly writes: number
  /** Maximum number of changes of one epoch that reached the server at or after the first change of a later epoch. */
  readonly staleWrites: number
  /** Names of services in the end, sorted, and of those that the last commit has. */
  readonly names: readonly string[]
  readonly wanted: readonly string[]
  /** The last events of both, to find out why the result was not reached. */
  readonly lastWords: readonly string[]
}

/** Events of each replica that count as its last words. */
const LAST_EVENTS = 15

const KEYS = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`)

/** One of two replicas: a process, another one after each kill, and what each of them sent. */
class Replica {
  readonly lives: (ProcessHistory & { readonly process: ControllerProcess; readonly proxy: FaultProxy })[] =
    []
  readonly #start: (proxy: FaultProxy) => ControllerProcess
  readonly #url: string

  constructor(url: string, start: (proxy: FaultProxy) => ControllerProcess) {
    this.#url = url
    this.#start = start
  }

  /** Starts it, anew with a way to the server of its own: requests of an earlier process are distinguished. */
  async live(): Promise<void> {
    const proxy = await startFaultProxy(this.#url)
    const process = this.#start(proxy)
    const arrivedAtMs: number[] = []
    proxy.decide = () => {
      arrivedAtMs.push(Date.now())
      return 'pass'
    }
    this.lives.push({ process, proxy, events: process.events, arrivedAtMs })
  }

  async kill(): Promise<void> {
    const now = this.lives.at(-1)?.process
    now?.signal('SIGKILL')
    await now?.ended
  }

  /** Lets it stand still for `ms`. */
  async stop(ms: number): Promise<void> {
    const now = this.lives.at(-1)?.process
    now?.signal('SIGSTOP')
    await pause(ms)
    now?.signal('SIGCONT')
  }
}

/**
 * Two replicas on one state, killed and stopped at random while commits come in. Resolves when both run again
 * and the last commit is applied.
 */
export async function failoverStress(options: StressOptions): Promise<StressReport> {
  const { url, apiKey, random, state } = options
  const repository = gitRepository()
  const folder = mkdtempSync(join(tmpdir(), 'pharos-ordeal-'))
  const config = writtenConfig(folder, repository.url, state)
  const replicaOf = (name: string): Replica =>
    new Replica(url, (proxy) => {
      const env = { PHAROS_URL: proxy.url, PHAROS_API_KEY: apiKey, PHAROS_STATE_KEY: 'k'.repeat(32) }
      return controllerProcess(config, name, env)
    })
  const counts = { rounds: 0, kills: 0, stops: 0 }
  let wanted = commitRandom(repository, random)
  const replicas = [replicaOf('blue'), replicaOf('green')] as const
  try {
    for (const replica of replicas) await replica.live()
    while (options.continues(counts.rounds)) {
      counts.rounds += 1
      wanted = commitRandom(repository, random)
      await pause(random() * 1_500)
      const one = replicas[random() < 0.5 ? 0 : 1]
      if (random() < 0.5) {
        counts.kills += 1
        await one.kill()
        await one.live()
      } else {
        counts.stops += 1
        await one.stop(random() * 2 * STATES[state] * 1_000)
      }
    }
    const names = await settled(options, wanted)
    const lives = replicas.flatMap((replica) => replica.lives)
    return {
      ...counts,
      takeovers: lives.flatMap(({ events }) => events.filter(({ type }) => type === 'LeaseTaken')).length,
      writes: lives.reduce((sum, { arrivedAtMs }) => sum + arrivedAtMs.length, 0),
      staleWrites: staleWrites(lives),
      names,
      wanted,
      lastWords: replicas.flatMap((replica) => wordsOf(replica.lives.at(-1)?.process)),
    }
  } finally {
    for (const replica of replicas) {
      await replica.kill()
      for (const { proxy } of replica.lives) await proxy.close()
    }
    repository.remove()
    // A git process may outlive its replica for a moment, and still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function wordsOf(process: ControllerProcess | undefined): readonly string[] {
  const events = process?.events.slice(-LAST_EVENTS) ?? []
  return events.map(({ at, type, message }) => `${process?.replica} ${at} ${type}: ${message}`)
}

function writtenConfig(folder: string, url: string, state: StateKind): string {
  const config = join(folder, 'pharos-controller.yaml')
  const remote = join(folder, 'state.git')
  if (state === 'git') makeBareRepository(remote)
  const text = `apiVersion: pharos/v1
kind: Controller
listen: none
dataDir: ${folder}
sets:
  - name: shop
    repository: {url: "${url}", path: monitoring, allowFile: true}
    interval: 1s
    createGrace: 1s
    leaseTtl: ${STATES[state]}s
    prune: policy
    brakes: {maxDeletes: {count: 100, percent: 100}, maxUpdates: {count: 100, percent: 100}}
${state === 'git' ? `    state: "git:file://${remote}#refs/pharos/shop"\n` : ''}`
  writeFileSync(config, text)
  return config
}

/** Commits a random choice of manifests; their names. The first is always there: an empty set is another story. */
function commitRandom(repository: GitRepository, random: () => number): readonly string[] {
  const wanted = KEYS.filter((_, index) => index === 0 || random() < 0.6)
  repository.git('rm', '--quiet', '-r', '--ignore-unmatch', 'monitoring')
  const interval = `${60 + Math.floor(random() * 60)}s`
  const files = wanted.map((key) => [`monitoring/${key}.yaml`, manifestOf(key).replace('60s', interval)])
  repository.commit(Object.fromEntries(files))
  return wanted
}

/** Longest that the replicas may take for the last commit, once nothing disturbs them (milliseconds). */
const SETTLE_MS_MAX = 90_000

async function settled(
  { url, apiKey }: StressOptions,
  wanted: readonly string[],
): Promise<readonly string[]> {
  const client = new Client({ url, apiKey, userAgent: 'ordeal' })
  try {
    const deadline = performance.now() + SETTLE_MS_MAX
    for (;;) {
      const { services } = await client.listServices()
      const names = services.map(({ name }) => name).sort()
      if (names.join() === [...wanted].sort().join() || performance.now() > deadline) return names
      await pause(500)
    }
  } finally {
    await client.close()
  }
}
