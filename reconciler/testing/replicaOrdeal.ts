import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '../../api/client/client.ts'
import { type ControllerProcess, controllerProcess } from './controllerProcess.ts'
import { type FaultProxy, startFaultProxy } from './faultProxy.ts'
import { type GitRepository, gitRepository } from './gitRepository.ts'
import { manifestOf } from './pharosProgram.ts'

/** How two replicas are tortured. */
export interface OrdealOptions {
  /** A server whose rate does not matter here. */
  readonly url: string
  readonly apiKey: string
  /** Whether there is another round, after so many. */
  readonly goesOn: (rounds: number) => boolean
  readonly random: () => number
}

/** What was seen. */
export interface OrdealReport {
  readonly rounds: number
  readonly kills: number
  readonly stops: number
  readonly takeovers: number
  /** Most changes that a replica sent after it went on, although another one had taken over. */
  readonly staleWrites: number
  /** Names of services in the end, sorted, and of those that the last commit has. */
  readonly names: readonly string[]
  readonly wanted: readonly string[]
}

const KEYS = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`)

class Replica {
  readonly proxy: FaultProxy
  readonly name: string
  process: ControllerProcess
  /** Changes that it sent since it went on, while it did not yet know that it lost the lease. */
  stale = 0
  isSuspect = false
  readonly #start: () => ControllerProcess

  constructor(name: string, proxy: FaultProxy, start: () => ControllerProcess) {
    this.name = name
    this.proxy = proxy
    this.#start = start
    this.process = start()
    proxy.decide = () => {
      if (this.isSuspect) this.stale += 1
      return 'pass'
    }
  }

  async kill(): Promise<void> {
    this.process.signal('SIGKILL')
    await this.process.ended
    this.isSuspect = false
    this.process = this.#start()
  }

  /** Lets it stand still for `ms`; whatever `other` took over meanwhile is no longer its own. */
  async stop(ms: number, other: Replica): Promise<void> {
    const taken = (): number => other.process.events.filter(({ type }) => type === 'LeaseTaken').length
    const before = taken()
    this.process.signal('SIGSTOP')
    await pause(ms)
    const leases = this.process.events.filter(({ type }) => type === 'LeaseTaken' || type === 'LeaseLost')
    // One that only followed has nothing to lose.
    const wasTaken = taken() > before && leases.at(-1)?.type === 'LeaseTaken'
    const since = this.process.events.length
    this.isSuspect = wasTaken
    this.process.signal('SIGCONT')
    if (!wasTaken) return
    await this.process.event(({ type }) => type === 'LeaseLost' || type === 'LeaseTaken', since)
    this.isSuspect = false
  }
}

/**
 * Two replicas on one state, killed and stopped at random while commits come in. Resolves when both run again
 * and the last commit is carried out.
 */
export async function replicaOrdeal(options: OrdealOptions): Promise<OrdealReport> {
  const { url, apiKey, random } = options
  const repository = gitRepository()
  const folder = mkdtempSync(join(tmpdir(), 'pharos-ordeal-'))
  const config = writtenConfig(folder, repository.url)
  const started = async (name: string): Promise<Replica> => {
    const proxy = await startFaultProxy(url)
    const env = { PHAROS_URL: proxy.url, PHAROS_API_KEY: apiKey }
    return new Replica(name, proxy, () => controllerProcess(config, name, env))
  }
  const counts = { rounds: 0, kills: 0, stops: 0 }
  let wanted = commitRandom(repository, random)
  const replicas = [await started('blue'), await started('green')] as const
  try {
    while (options.goesOn(counts.rounds)) {
      counts.rounds += 1
      wanted = commitRandom(repository, random)
      await pause(random() * 1_500)
      const [one, other] = random() < 0.5 ? replicas : [replicas[1], replicas[0]]
      if (random() < 0.5) {
        counts.kills += 1
        await one.kill()
      } else {
        counts.stops += 1
        await one.stop(random() * 4_000, other)
      }
    }
    const names = await settled(options, wanted)
    const takeovers = replicas.flatMap(({ process }) =>
      process.events.filter(({ type }) => type === 'LeaseTaken'),
    )
    return {
      ...counts,
      takeovers: takeovers.length,
      staleWrites: Math.max(...replicas.map(({ stale }) => stale)),
      names,
      wanted,
    }
  } finally {
    for (const { process, proxy } of replicas) {
      process.signal('SIGKILL')
      await process.ended
      await proxy.close()
    }
    repository.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

function writtenConfig(folder: string, url: string): string {
  const config = join(folder, 'pharos-controller.yaml')
  const text = `apiVersion: pharos/v1
kind: Controller
listen: none
dataDir: ${folder}
sets:
  - name: shop
    repository: {url: "${url}", path: monitoring, allowFile: true}
    interval: 300ms
    createGrace: 1s
    leaseTtl: 2s
    prune: policy
    brakes: {maxDeletes: {count: 100, percent: 100}, maxUpdates: {count: 100, percent: 100}}
`
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

/** Longest that the replicas may take for the last commit, once nobody disturbs them (milliseconds). */
const SETTLE_MS_MAX = 45_000

async function settled(
  { url, apiKey }: OrdealOptions,
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
