import { isDeepStrictEqual } from 'node:util'
import { failureOf } from '../cli/runCommand.ts'
import type { EventSink } from '../dashboard/faceSeam.ts'
import type { WaitReport } from '../run/apiWait.ts'
import { StateError } from '../state/model/stateError.ts'
import type { SetSettings } from './config/settings.ts'
import type { Metrics } from './metrics.ts'
import type { ControllerClock } from './schedule/clock.ts'
import type { CycleReport } from './set/cycle.ts'
import { type OpenSet, openSet, sharedLimiters } from './set/openSet.ts'
import { ServiceClaims } from './set/serviceClaims.ts'
import { SetLoop } from './set/setLoop.ts'
import type { ControllerEvent } from './status/status.ts'
import { eventOf } from './view/eventsOf.ts'
import { SetView } from './view/setView.ts'

/** What keeping sets takes. */
export interface KeptSetsDeps {
  readonly clock: ControllerClock
  readonly newId: () => string
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** For people: program, machine and process, as the lease shows it. */
  readonly holder: string
  readonly onEvent: EventSink
  /** Hears what a cycle of `set` waits for. */
  readonly onWait?: (set: string, report: WaitReport) => void
  readonly metrics: Metrics
}

/** A set that is kept. */
export interface KeptSet extends OpenSet {
  readonly settings: SetSettings
  readonly loop: SetLoop
  readonly view: SetView
  hasEnded: boolean
}

/** What a change of the configuration came to, by names. */
export interface SetsChange {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** The sets of a controller: opened, run, exchanged for others while the rest goes on, stopped and closed. */
export class KeptSets {
  readonly #deps: KeptSetsDeps
  readonly #claims = new ServiceClaims()
  readonly #limiterOf: ReturnType<typeof sharedLimiters>
  readonly #endings = new Map<KeptSet, Promise<void>>()
  #all: readonly KeptSet[] = []
  #stage: 'open' | 'running' | 'stopped' = 'open'
  #hasStopped: () => void = () => {}
  #changing: Promise<unknown> = Promise.resolve()

  constructor(deps: KeptSetsDeps) {
    this.#deps = deps
    this.#limiterOf = sharedLimiters(deps.clock)
  }

  /** In the order of the configuration. */
  get all(): readonly KeptSet[] {
    return this.#all
  }

  /**
   * One cycle of every set. Those whose lease another one has come last, and wait for it at most `waitMs` each. Throws
   * what kept a set from its cycle, such as a StateError `held`, once all others had theirs.
   */
  async runOnce(waitMs: number): Promise<readonly CycleReport[]> {
    const reports: CycleReport[] = []
    const errors: unknown[] = []
    const held: KeptSet[] = []
    for (const set of this.#all) {
      try {
        reports.push(await set.loop.runOnce('start', 0))
      } catch (error) {
        if (error instanceof StateError && error.reason === 'held') held.push(set)
        else errors.push(error)
      }
    }
    for (const { loop } of held) {
      try {
        reports.push(await loop.runOnce('start', waitMs))
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
    return reports
  }

  /** Runs all loops; resolves when all have ended after `stop`. */
  async run(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#hasStopped = resolve
    })
    if (this.#stage === 'stopped') return
    this.#stage = 'running'
    for (const set of this.#all) this.#start(set)
    await stopped
    await this.#changing
    await Promise.all(this.#endings.values())
  }

  /** Lets what is in flight end, and gives leases back. */
  stop(): void {
    this.#stage = 'stopped'
    for (const { loop } of this.#all) loop.stop()
    this.#hasStopped()
  }

  async close(): Promise<void> {
    await this.#changing
    await Promise.all(this.#all.map(({ close }) => close()))
  }

  /**
   * Keeps exactly the sets of `settings` from now on. Those that are as before go on undisturbed; of the others the
   * operation in flight ends first. Throws StateError when one cannot be opened: then all is as it was.
   */
  change(settings: readonly SetSettings[]): Promise<SetsChange> {
    const change = this.#changing.then(() => this.#changeTo(settings))
    this.#changing = change.catch(() => {})
    return change
  }

  async #changeTo(settings: readonly SetSettings[]): Promise<SetsChange> {
    const before = new Map(this.#all.map((set) => [set.loop.name, set]))
    const isKept = (one: SetSettings): boolean =>
      isDeepStrictEqual(before.get(one.config.name)?.settings, one)
    const opened = await this.#openAll(settings.filter((one) => !isKept(one)))
    const next = settings.map(({ config }) => opened.get(config.name) ?? before.get(config.name))
    const leaving = this.#all.filter((set) => !next.includes(set))
    for (const { loop } of leaving) loop.stop()
    await Promise.all(leaving.map((set) => this.#endings.get(set)))
    for (const set of leaving) await this.#leave(set)
    this.#all = next.filter((set) => set !== undefined)
    for (const set of opened.values()) this.#welcome(set)
    const gone = new Set(leaving.map(({ loop }) => loop.name))
    return {
      added: [...opened.keys()].filter((name) => !gone.has(name)),
      changed: [...opened.keys()].filter((name) => gone.has(name)),
      removed: [...gone].filter((name) => !opened.has(name)),
    }
  }

  /** Opens all or none. */
  async #openAll(settings: readonly SetSettings[]): Promise<ReadonlyMap<string, KeptSet>> {
    const opened = new Map<string, KeptSet>()
    try {
      for (const one of settings) opened.set(one.config.name, await this.#open(one))
      return opened
    } catch (error) {
      await Promise.all([...opened.values()].map(({ close }) => close()))
      throw error
    }
  }

  async #leave(set: KeptSet): Promise<void> {
    const { name } = set.loop
    this.#endings.delete(set)
    this.#claims.release(name)
    this.#deps.metrics.onSetGone(name)
    await set.close()
  }

  #welcome(set: KeptSet): void {
    const { name } = set.loop
    for (const id of set.serviceIds) this.#claims.claim(name, id)
    this.#deps.metrics.onSet(name, set.context.limiter)
    if (this.#stage === 'running') this.#start(set)
  }

  #start(set: KeptSet): void {
    const ending = set.loop.run().then(() => {
      set.hasEnded = true
    })
    this.#endings.set(set, ending)
  }

  async #open(settings: SetSettings): Promise<KeptSet> {
    const { clock, newId, version, env, holder, metrics, onEvent } = this.#deps
    const { name } = settings.config
    const open = await openSet(settings, {
      clock,
      newId,
      userAgent: `pharos/${version}`,
      env,
      limiterOf: this.#limiterOf,
      claims: this.#claims,
      onAttempt: metrics.onAttempt,
      onFetch: metrics.onFetch,
    })
    const loop = new SetLoop(open.context, holder, {
      onReport: (report) => {
        metrics.onReport(name, report)
        for (const event of view.take(report)) onEvent(event)
      },
      onCommit: (commit, runId) => {
        for (const event of view.see(commit, runId)) onEvent(event)
      },
      onWait: (report) => {
        this.#deps.onWait?.(name, report)
        for (const event of view.refresh()) onEvent(event)
      },
      onLease: (change, epoch) => this.#tellOfLease(name, change, epoch),
      onFault: (error) => {
        this.#tell(name, { type: 'RunFailed', severity: 'error', message: failureOf(error).message })
        for (const event of view.refresh()) onEvent(event)
      },
    })
    const view = new SetView(settings, () => loop.facts(), clock.wallMs)
    return { ...open, settings, loop, view, hasEnded: false }
  }

  #tellOfLease(set: string, change: 'taken' | 'lost', epoch: number): void {
    const isTaken = change === 'taken'
    this.#tell(set, {
      type: isTaken ? 'LeaseTaken' : 'LeaseLost',
      severity: isTaken ? 'info' : 'warning',
      message: isTaken
        ? `this replica does the work now (epoch ${epoch})`
        : `another replica took over (epoch ${epoch} is over)`,
    })
  }

  #tell(set: string, told: Pick<ControllerEvent, 'type' | 'severity' | 'message'>): void {
    const at = new Date(this.#deps.clock.wallMs()).toISOString()
    this.#deps.onEvent(eventOf(told, { at, set, commit: null, runId: null }))
  }
}
