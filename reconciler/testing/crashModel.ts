import { type Applied, applySet } from '../apply/applySet.ts'
import type { DeclaredService, ServiceSet } from '../manifest/compile/declaredService.ts'
import { compileSet } from '../manifest/compile/serviceSet.ts'
import { readYaml } from '../manifest/read/readYaml.ts'
import { takeLease } from '../state/model/lease.ts'
import type { StateStore } from '../state/model/store.ts'
import { manifestOf } from './manifestOf.ts'
import { KEYED_LATENESS_MS_MAX, ModelServer, type ScenarioClock } from './modelServer.ts'
import { stateInGit, stateInSqlite } from './modelStates.ts'

const GRACE_MS = 60_000
/** Greatest difference between two clocks (milliseconds). */
const CLOCK_ERROR_MS_MAX = 7_200_000
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
/** Runs without faults that a scenario may need until nothing is left to do. */
const RUNS_MAX = 6
/** Deletions that one run makes without approval; so few services have no greater share. */
const DELETES_MAX = 3

/** One manifest of a scenario. */
interface WantedManifest {
  readonly intervalSecs: number
  readonly paused: boolean | undefined
}

type WantedManifests = ReadonlyMap<string, WantedManifest>

class Crash extends Error {}

/**
 * One scenario from `seed`: manifests are applied and changed, the network misbehaves, the process dies at any
 * boundary, people do what they like, and then runs without faults follow until nothing is to be done. All of
 * it with the real plan, apply and state code. Resolves to what went wrong, one sentence each.
 */
export async function crashScenario(seed: number): Promise<readonly string[]> {
  return new Scenario(seed).run()
}

class Scenario {
  readonly #random: () => number
  readonly #clock: ScenarioClock = { nowMs: 1_000_000 }
  readonly #server: ModelServer
  readonly #open: () => Promise<StateStore>
  #ids = 0
  #lives = 0
  /** How far the clock of the running process is ahead (milliseconds). */
  #aheadMs = 0

  constructor(seed: number) {
    this.#random = randomFrom(seed)
    this.#server = new ModelServer(this.#clock, this.#random)
    this.#open = this.#chance(0.3) ? stateInGit(this.#clock) : stateInSqlite()
  }

  async run(): Promise<readonly string[]> {
    const first = this.#wishes(new Map())
    await this.#run(first, { approves: true })
    let second = this.#wishes(first)
    const approves = this.#chance(0.3)
    const people = [...second.keys()].filter((key) => !first.has(key))
    this.#server.faultsInTen = this.#chance(0.8) ? 4 : 0
    this.#server.honoursKeys = this.#chance(0.5)
    // Some runs take longer than the grace.
    if (this.#chance(0.3)) this.#server.turnMsMax = GRACE_MS
    const before = this.#server.deleted.length
    for (let runs = 1 + Math.floor(this.#random() * 2); runs > 0; runs -= 1) {
      this.#changeManually(people)
      await this.#run(second, {
        approves,
        crashAt: this.#chance(0.7) ? Math.ceil(this.#random() * 45) : undefined,
      })
      this.#server.pass(this.#random() * 2 * GRACE_MS)
      second = this.#changed(second)
    }
    this.#server.faultsInTen = 0
    await this.#settle(second, approves)
    this.#server.pass(KEYED_LATENESS_MS_MAX)
    const last = await this.#settle(second, approves)
    return [
      ...this.#wrongServices(second, last),
      ...this.#wrongDeletions(first, second, approves, this.#server.deleted.slice(before)),
      ...(this.#server.foreignWrites > 0 ? ['a service of another writer was written to'] : []),
    ]
  }

  /** Runs without faults until one has nothing to do. */
  async #settle(wishes: WantedManifests, approves: boolean): Promise<Applied | undefined> {
    for (let run = 1; run <= RUNS_MAX; run += 1) {
      this.#server.pass(GRACE_MS + 1)
      const applied = await this.#run(wishes, { approves })
      if (applied !== undefined && applied.outcomes.length === 0 && applied.endedBy === undefined)
        return applied
    }
    return undefined
  }

  /** One process from its start to its end, or to its death at boundary `crashAt`. */
  async #run(
    wishes: WantedManifests,
    { approves, crashAt }: { readonly approves: boolean; readonly crashAt?: number | undefined },
  ): Promise<Applied | undefined> {
    let boundaries = 0
    this.#lives += 1
    // Only the key makes two attempts one when a grace ends early.
    if (this.#server.honoursKeys && this.#chance(0.3))
      this.#aheadMs = Math.round((this.#random() - 0.5) * CLOCK_ERROR_MS_MAX)
    const reach = (): void => {
      boundaries += 1
      if (crashAt !== undefined && boundaries >= crashAt) throw new Crash()
    }
    const store = await this.#open()
    const sleep = async (delayMs: number): Promise<void> => this.#server.pass(delayMs)
    const clock = { nowMs: () => this.#clock.nowMs, sleep, every: () => () => {} }
    const lease = await takeLease(store, 'model', 10 * GRACE_MS, clock)
    const apply = (approved: string | undefined): Promise<Applied> =>
      applySet({
        client: this.#server.client(reach),
        store: dying(store, reach),
        stateKey: 'k'.repeat(32),
        url: 'http://model',
        set: setOf(wishes),
        sourceExists: true,
        sourceName: 'manifests',
        regions: 'trusted',
        createGraceMs: GRACE_MS,
        nowMs: () => this.#clock.nowMs + this.#aheadMs,
        runId: `run-${this.#lives}`,
        newId: () => this.#newId(),
        approved,
        control: { isStopping: () => false, isLost: () => false, onProgress: () => {} },
        sleep,
        onWait: () => {},
      })
    try {
      const applied = await apply(undefined)
      const { digest } = applied.planResult
      const last = approves && digest !== null ? await apply(digest) : applied
      if (hasCrashed(last)) return undefined
      reach()
      await store.checkpoint()
      await lease.release()
      return last
    } catch (error) {
      if (error instanceof Crash) return undefined
      throw error
    }
  }

  /** People make services of the same name, change ours and delete them. */
  #changeManually(newKeys: readonly string[]): void {
    const ours = [...this.#server.services.values()].filter(({ madeBy }) => madeBy === 'us')
    for (const { response } of ours) {
      if (this.#chance(0.1)) this.#server.tamper(response.id, { interval_secs: 999 })
      if (this.#chance(0.03)) this.#server.tamper(response.id, null)
    }
    for (const key of newKeys) {
      const request = setOf(new Map([[key, { intervalSecs: 777, paused: undefined }]])).services[0]?.request
      if (request !== undefined && this.#chance(0.1)) this.#server.makeForeign(request)
    }
  }

  /** The manifests of `wishes`, some with another interval. */
  #changed(wishes: WantedManifests): WantedManifests {
    const changed = [...wishes].map(([key, wish]): [string, WantedManifest] => [
      key,
      this.#chance(0.2) ? { ...wish, intervalSecs: wish.intervalSecs + 1 } : wish,
    ])
    return new Map(changed)
  }

  #wishes(before: WantedManifests): WantedManifests {
    const wishes = new Map(before)
    const isPurge = this.#chance(0.2)
    for (const key of KEYS) {
      const paused = [undefined, true, false][Math.floor(this.#random() * 3)]
      const intervalSecs = 30 * Math.ceil(this.#random() * 4)
      if (this.#chance(isPurge ? 0.1 : 0.5)) wishes.set(key, { intervalSecs, paused })
      else if (this.#chance(isPurge ? 0.8 : 0.3)) wishes.delete(key)
    }
    if (wishes.size === 0) wishes.set('a', { intervalSecs: 60, paused: undefined })
    return wishes
  }

  #wrongServices(wishes: WantedManifests, last: Applied | undefined): readonly string[] {
    if (last === undefined) return ['it never came to rest']
    const held = new Set(last.planResult.limited.withheld.map(({ key }) => key))
    const blocked = new Set(last.blocked.map(({ key }) => key))
    const wrong: string[] = []
    for (const key of KEYS) {
      const ours = [...this.#server.services.values()].filter(
        ({ madeBy, response }) => madeBy === 'us' && response.name === key,
      )
      const wish = wishes.get(key)
      if (ours.length > 1) wrong.push(`${key} is there ${ours.length} times`)
      if (wish === undefined && ours.length > 0 && !held.has(key)) wrong.push(`${key} was left behind`)
      if (wish === undefined || held.has(key) || blocked.has(key)) continue
      const [only] = ours
      if (only === undefined) wrong.push(`${key} is missing`)
      else if (!isAs(wish, only.response)) wrong.push(`${key} is not as its manifest says`)
    }
    return wrong
  }

  #wrongDeletions(
    first: WantedManifests,
    second: WantedManifests,
    approves: boolean,
    deleted: readonly string[],
  ): readonly string[] {
    const removed = [...first.keys()].filter((key) => !second.has(key))
    const unwanted = deleted.filter((key) => !removed.includes(key))
    const isHeld = removed.length > DELETES_MAX && !approves
    return [
      ...unwanted.map((key) => `${key} was deleted although its manifest is there`),
      ...(isHeld && deleted.length > DELETES_MAX ? ['more was deleted than was approved'] : []),
    ]
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }

  #newId(): string {
    this.#ids += 1
    return `op-${this.#ids}`
  }
}

function isAs(
  { intervalSecs, paused }: WantedManifest,
  service: { readonly interval_secs: number; readonly paused_at?: string | null | undefined },
): boolean {
  const isPaused = service.paused_at != null
  return service.interval_secs === intervalSecs && (paused === undefined || paused === isPaused)
}

/** Whether the process died while changes were under way: apply hands on what ended it. */
function hasCrashed({ endedBy }: Applied): boolean {
  if (endedBy === undefined) return false
  return endedBy instanceof Crash || (endedBy instanceof Error && endedBy.cause instanceof Crash)
}

/** `store` in a process that may die before and after every write. */
function dying(store: StateStore, reach: () => void): StateStore {
  const around = async <Value>(write: () => Promise<Value>): Promise<Value> => {
    reach()
    const value = await write()
    reach()
    return value
  }
  const mortal: Partial<StateStore> = {
    settleIn: (home) => around(() => store.settleIn(home)),
    begin: (intents) => around(() => store.begin(intents)),
    settle: (opId, change) => around(() => store.settle(opId, change)),
    failed: (opId) => around(() => store.failed(opId)),
    save: (change) => around(() => store.save(change)),
    checkpoint: () => around(() => store.checkpoint()),
  }
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(mortal, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const declared = new Map<string, DeclaredService>()

function setOf(wishes: WantedManifests): ServiceSet {
  const services = [...wishes].flatMap(([key, { intervalSecs, paused }]) => {
    const more = paused === undefined ? '' : `  paused: ${paused}\n`
    const text = manifestOf(key, more).replace('60s', `${intervalSecs}s`)
    const service = declared.get(text) ?? compiled(text)
    if (service !== undefined) declared.set(text, service)
    return service ?? []
  })
  return { services, frozenKeys: [], problems: [], warnings: [] }
}

function compiled(text: string): DeclaredService | undefined {
  const { documents } = readYaml({ file: 'model.yaml', directory: '', text })
  const sources = { env: {}, secretsDirectory: '/nowhere', rootDirectory: '/nowhere' }
  const set = compileSet(documents, { ...sources, allowInlineSecrets: false, secrets: 'required' })
  return set.services[0]
}

/** Numbers in [0, 1) that `seed` alone decides: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
