import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { Limiter, type Timing } from '../../api/client/limiter.ts'
import { cases } from '../../scripts/testing/torture.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import type { ServiceSet } from '../manifest/compile/declaredService.ts'
import { compileSet } from '../manifest/compile/serviceSet.ts'
import { readYaml } from '../manifest/read/readYaml.ts'
import type { StateStore } from '../state/model/store.ts'
import { openSqliteStore, readSqliteStore } from '../state/sqlite/sqliteStore.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../testing/faultProxy.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { type Applied, applySet } from './applySet.ts'

const GRACE_MS = 60_000
const STATE_KEY = 'k'.repeat(32)

let server: TestServer
let proxy: FaultProxy
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  proxy = await startFaultProxy(server.url)
})
afterAll(async () => {
  await proxy.close()
  await server.close()
})

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

/** One organisation with one state, and a world before and after a change of its manifests. */
class World {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pharos-crash-'))
  readonly client: Client
  #nowMs = 1_000_000
  #ids = 0
  readonly opPrefix: string

  constructor(apiKey: string, opPrefix: string) {
    const timing = hurried()
    const limiter = new Limiter({ burstRequests: 1_000_000, refillIntervalMs: 1 }, timing)
    this.client = new Client({ url: proxy.url, apiKey, userAgent: 'test', timing, limiter })
    this.opPrefix = opPrefix
  }

  async apply(set: ServiceSet, crashAt = Number.POSITIVE_INFINITY): Promise<Applied | 'crashed'> {
    const store = await openSqliteStore(join(this.#folder, 'state.db'))
    await store.acquire('test')
    const process = new DyingProcess(crashAt)
    try {
      const applied = await applySet({
        client: this.client,
        store: process.store(store),
        stateKey: STATE_KEY,
        url: proxy.url,
        set,
        sourceExists: true,
        sourceName: 'manifests',
        regions: 'trusted',
        createGraceMs: GRACE_MS,
        nowMs: () => this.#nowMs,
        runId: 'run',
        newId: () => this.#newId(),
        approved: undefined,
        control: { isStopping: () => false, isLost: () => false, onProgress: () => {} },
        // Whatever is late arrives in the very last moment of the grace.
        sleep: async (delayMs) => {
          await proxy.land()
          this.#nowMs += delayMs
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
    return `${this.opPrefix}-${this.#ids}`
  }

  async openIntents() {
    const store = await readSqliteStore(join(this.#folder, 'state.db'))
    const intents = await store.openIntents()
    await store.close()
    return intents
  }

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

function setOf(texts: readonly string[]): ServiceSet {
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

const before = setOf([
  manifestOf('changed'),
  manifestOf('rested', '  paused: false\n'),
  manifestOf('woken', '  paused: true\n'),
  manifestOf('removed'),
])
const after = setOf([
  manifestOf('changed').replace('60s', '90s'),
  manifestOf('rested', '  paused: true\n').replace('60s', '90s'),
  manifestOf('woken', '  paused: false\n').replace('60s', '90s'),
  manifestOf('new'),
  manifestOf('asleep', '  paused: true\n'),
])
const wanted = ['asleep 60 paused', 'changed 90', 'new 60', 'rested 90 paused', 'woken 90']

/** Whole story: apply, change, apply with faults and a crash, then apply until it holds. */
async function converges(
  crashAt: number,
  faults: { readonly ofCreations: readonly Fault[]; readonly ofOthers: readonly Fault[] },
): Promise<boolean> {
  const orgId = await server.createOrg({ plan: 'business' })
  const world = new World(await server.createKey({ orgId }), orgId)
  try {
    proxy.decide = () => 'pass'
    await world.apply(before)
    const ofCreations = [...faults.ofCreations]
    const ofOthers = [...faults.ofOthers]
    proxy.decide = (_method, path) => (path === '/v1/services' ? ofCreations : ofOthers).shift() ?? 'pass'
    const crashed = await world.apply(after, crashAt).then((applied) => applied === 'crashed')
    proxy.decide = () => 'pass'
    await world.apply(after)

    // Nothing may be on its way any more that could still land.
    await proxy.land()
    expect(await world.live()).toEqual(wanted)
    expect(await world.openIntents()).toEqual([])
    const last = await world.apply(after)
    expect(last).toMatchObject({ outcomes: [], blocked: [] })
    return crashed
  } finally {
    await proxy.land()
    await world.close()
  }
}

test('Scenario 35: a run that dies between any request and its record is repaired by the next run', async () => {
  let crashAt = 1
  while (await converges(crashAt, { ofCreations: [], ofOthers: [] })) crashAt += 1
  // Eight requests, each with its intent and its outcome.
  expect(crashAt).toBeGreaterThan(16)
})

test('Scenario 36: no network fault and no crash duplicates, loses or leaves behind anything', async () => {
  const fault = fc.constantFrom<Fault>('pass', 'drop', 'lose', 'late', 'bad-gateway', 'internal', 'truncate')
  const faults = fc.record({
    ofCreations: fc.array(fault, { minLength: 2, maxLength: 4 }),
    ofOthers: fc.array(fault, { maxLength: 6 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), faults, async (crashAt, some) => {
      await converges(crashAt, some)
    }),
    { numRuns: cases(10, 35) },
  )
}, 120_000)
