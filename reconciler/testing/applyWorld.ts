import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../../api/client/client.ts'
import { Limiter, type Timing } from '../../api/client/limiter.ts'
import { type Applied, applySet } from '../apply/applySet.ts'
import type { ServiceSet } from '../manifest/compile/declaredService.ts'
import { compileSet } from '../manifest/compile/serviceSet.ts'
import { readYaml } from '../manifest/read/readYaml.ts'
import type { Selection } from '../plan/selection.ts'
import type { OpenIntent } from '../state/model/record.ts'
import type { StateStore } from '../state/model/store.ts'
import { openSqliteStore } from '../state/sqlite/sqliteStore.ts'
import type { FaultProxy } from './faultProxy.ts'

const GRACE_MS = 60_000
const STATE_KEY = 'k'.repeat(32)

/** Timers that fire at once: a client's pauses take no time here. */
function hurried(): Timing {
  let nowMs = 0
  return {
    nowMs: () => nowMs,
    random: () => 0.5,
    after: (delayMs, run) => {
      const timer = setImmediate(() => {
        nowMs += delayMs
        run()
      })
      return () => clearImmediate(timer)
    },
  }
}

class Crash extends Error {}

/**
 * `store` in a process that dies at its boundary number `crashAt`: after an intent was written and before its
 * request leaves, or after a request had its effect and before that is written. From then on nothing works.
 */
class DyingProcess {
  #boundary = 0
  readonly #crashAt: number

  constructor(crashAt: number) {
    this.#crashAt = crashAt
  }

  get isDead(): boolean {
    return this.#boundary >= this.#crashAt
  }

  store(store: StateStore): StateStore {
    return {
      ...store,
      begin: async (intents) => {
        this.#breathe()
        await store.begin(intents)
        this.#reach()
      },
      settle: async (opId, change) => {
        this.#reach()
        await store.settle(opId, change)
      },
      failed: async (opId) => {
        this.#reach()
        await store.failed(opId)
      },
      save: async (change) => {
        this.#reach()
        await store.save(change)
      },
    }
  }

  #reach(): void {
    this.#boundary += 1
    this.#breathe()
  }

  #breathe(): void {
    if (this.isDead) throw new Crash()
  }
}

/** One organisation with one state, whose requests pass through `proxy`, and a clock of its own. */
export class ApplyWorld {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pharos-crash-'))
  readonly client: Client
  /** The clock (milliseconds since the epoch); `apply` waits by it. */
  nowMs = 100_000_000
  /** Time that runs waited for lost creations (milliseconds). */
  waitedMs = 0
  #ids = 0
  readonly #opPrefix: string
  readonly #proxy: FaultProxy
  /** Opens the state, which is a file. A process can die only with a state in a file. */
  open: () => Promise<StateStore> = () => openSqliteStore(join(this.#folder, 'state.db'))
  /** What happens in the last moment of the grace of lost creations: whatever is late arrives. */
  atEndOfGrace: () => Promise<unknown> = () => this.#proxy.land()

  /** `opPrefix` distinguishes its operations from those of other worlds. */
  constructor(proxy: FaultProxy, apiKey: string, opPrefix: string) {
    this.#proxy = proxy
    const timing = hurried()
    const limiter = new Limiter({ burstRequests: 1_000_000, refillIntervalMs: 1 }, timing)
    this.client = new Client({ url: proxy.url, apiKey, userAgent: 'test', timing, limiter })
    this.#opPrefix = opPrefix
  }

  /** Applies `set` in a process that dies at its boundary number `crashAt`. */
  async apply(
    set: ServiceSet,
    crashAt = Number.POSITIVE_INFINITY,
    selection?: Selection,
  ): Promise<Applied | 'crashed'> {
    const store = await this.open()
    await store.acquire('test')
    const process = new DyingProcess(crashAt)
    try {
      const applied = await applySet({
        client: this.client,
        store: Number.isFinite(crashAt) ? process.store(store) : store,
        stateKey: STATE_KEY,
        url: this.#proxy.url,
        set,
        selection,
        sourceExists: true,
        sourceName: 'manifests',
        regions: 'trusted',
        createGraceMs: GRACE_MS,
        nowMs: () => this.nowMs,
        runId: 'run',
        newId: () => this.#newId(),
        approved: undefined,
        control: { isStopping: () => false, isLost: () => false, onProgress: () => {} },
        sleep: async (delayMs) => {
          await this.atEndOfGrace()
          this.nowMs += delayMs
          this.waitedMs += delayMs
        },
        onWait: () => {},
      })
      return process.isDead ? 'crashed' : applied
    } catch (error) {
      if (error instanceof Crash) return 'crashed'
      throw error
    } finally {
      await store.close()
    }
  }

  #newId(): string {
    this.#ids += 1
    return `${this.#opPrefix}-${this.#ids}`
  }

  async openIntents(): Promise<readonly OpenIntent[]> {
    const store = await this.open()
    const intents = await store.openIntents()
    await store.close()
    return intents
  }

  /** Name and interval of each service, sorted. */
  async live(): Promise<readonly string[]> {
    const { services } = await this.client.listServices()
    return services
      .map(
        ({ name, interval_secs, paused_at }) =>
          `${name} ${interval_secs}${paused_at == null ? '' : ' paused'}`,
      )
      .sort()
  }

  async close(): Promise<void> {
    await this.client.close()
    rmSync(this.#folder, { recursive: true })
  }
}

/** The set of manifests with these texts. */
export function setOf(texts: readonly string[]): ServiceSet {
  const documents = texts.flatMap(
    (text, index) => readYaml({ file: `${index}.yaml`, directory: '', text }).documents,
  )
  return compileSet(documents, {
    env: {},
    secretsDirectory: '/nowhere',
    rootDirectory: '/nowhere',
    allowInlineSecrets: false,
    secrets: 'required',
  })
}
