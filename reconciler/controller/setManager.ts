import type { WaitReport } from '../run/apiWait.ts'
import { failureOf } from '../run/failureOf.ts'
import { StateError } from '../state/model/stateError.ts'
import type { SetSettings } from './config/settings.ts'
import type { Metrics } from './metrics.ts'
import type { ControllerClock } from './schedule/clock.ts'
import { Slots } from './schedule/slots.ts'
import type { CycleReport } from './set/cycleReport.ts'
import { type OpenDeps, prepareSet, sharedLimiters } from './set/openSet.ts'
import { ServiceClaims } from './set/serviceClaims.ts'
import { SetLoop } from './set/setLoop.ts'
import type { EventSink } from './status/status.ts'
import type { Announce, NewEvent } from './view/eventsOf.ts'
import { SetView } from './view/setView.ts'

/** Dependencies of all sets. */
export interface SetManagerDeps {
  readonly clock: ControllerClock
  readonly newId: () => string
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Holder of leases: program, machine and process. */
  readonly holder: string
  readonly onEvent: EventSink
  readonly announce: Announce
  /** Called with the waits of a cycle of `set`. */
  readonly onWait?: (set: string, report: WaitReport) => void
  readonly metrics: Metrics
}

/** A set with its loop and its view. */
export interface ManagedSet {
  readonly loop: SetLoop
  readonly view: SetView
  /** Whether its loop has ended, which happens only after `stop`. */
  hasEnded: boolean
  readonly close: () => Promise<void>
}

/** A cycle that was prevented. */
export interface PreventedCycle {
  readonly set: string
  readonly error: unknown
}

/** Maximum number of states in git that are opened at the same time; each starts a git. */
const OPENINGS_MAX = 16

/** Prepares all sets; each opens its state by itself. Throws StateError when the folders of one cannot be made. */
export function manageSets(settings: readonly SetSettings[], deps: SetManagerDeps): SetManager {
  const shared = {
    claims: new ServiceClaims(settings.map(({ config }) => config.name)),
    openings: new Slots(OPENINGS_MAX),
    limiterOf: sharedLimiters(deps.clock),
  }
  return new SetManager(settings.map((one) => managed(one, deps, shared)))
}

/** The sets of a controller, in the order of the configuration: run, stopped and closed together. */
export class SetManager {
  readonly sets: readonly ManagedSet[]

  constructor(sets: readonly ManagedSet[]) {
    this.sets = sets
  }

  /**
   * Opens the states side by side, then runs one cycle of every set. Sets whose lease another replica holds come last,
   * and wait at most `waitMs` each. Failures of a set do not affect the others.
   */
  async runOnce(
    waitMs: number,
  ): Promise<{ readonly reports: readonly CycleReport[]; readonly prevented: readonly PreventedCycle[] }> {
    const reports: CycleReport[] = []
    const prevented: PreventedCycle[] = []
    const held: ManagedSet[] = []
    const openings = await Promise.allSettled(this.sets.map(({ loop }) => loop.open()))
    for (const [index, set] of this.sets.entries()) {
      try {
        const opening = openings[index]
        if (opening?.status === 'rejected') throw opening.reason
        reports.push(await set.loop.runOnce(0))
      } catch (error) {
        if (error instanceof StateError && error.reason === 'held') held.push(set)
        else prevented.push({ set: set.loop.name, error })
      }
    }
    for (const { loop } of held) {
      try {
        reports.push(await loop.runOnce(waitMs))
      } catch (error) {
        prevented.push({ set: loop.name, error })
      }
    }
    return { reports, prevented }
  }

  /** Runs all loops; resolves when all have ended after `stop`. */
  async run(): Promise<void> {
    await Promise.all(
      this.sets.map(async (set) => {
        await set.loop.run()
        set.hasEnded = true
      }),
    )
  }

  /** Finishes operations in progress and releases the leases. */
  stop(): void {
    for (const { loop } of this.sets) loop.stop()
  }

  async close(): Promise<void> {
    await Promise.all(this.sets.map(({ close }) => close()))
  }
}

function managed(
  settings: SetSettings,
  deps: SetManagerDeps,
  shared: Pick<OpenDeps, 'claims' | 'openings' | 'limiterOf'>,
): ManagedSet {
  const { clock, newId, version, env, holder, metrics, onEvent, announce } = deps
  const { name } = settings.config
  const set = prepareSet(settings, {
    clock,
    newId,
    userAgent: `pharos/${version}`,
    env,
    ...shared,
    onAttempt: metrics.onAttempt,
    onFetch: metrics.onFetch,
  })
  metrics.onSet(name, set.parts.limiter)
  const refresh = (): void => {
    for (const event of view.refresh()) onEvent(event)
  }
  const loop = new SetLoop(set, holder, {
    onOpen: refresh,
    onReport: (report) => {
      metrics.onReport(name, report)
      for (const event of view.take(report)) onEvent(event)
    },
    onCommit: (commit, runId) => {
      for (const event of view.see(commit, runId)) onEvent(event)
    },
    onWait: (report) => {
      deps.onWait?.(name, report)
      refresh()
    },
    onLease: (change, epoch) => announce(name, leaseEvent(change, epoch)),
    onFault: (error) => {
      announce(name, { type: 'RunFailed', severity: 'error', message: failureOf(error).message })
      refresh()
    },
  })
  const view = new SetView(settings, () => loop.facts(), clock.wallMs)
  const close = (): Promise<void> => {
    // A timer would keep the program running.
    loop.end()
    return set.close()
  }
  return { loop, view, hasEnded: false, close }
}

function leaseEvent(change: 'taken' | 'lost', epoch: number): NewEvent {
  if (change === 'taken')
    return { type: 'LeaseTaken', severity: 'info', message: `this replica leads now (epoch ${epoch})` }
  const message = `another replica took over (epoch ${epoch} ended)`
  return { type: 'LeaseLost', severity: 'warning', message }
}
