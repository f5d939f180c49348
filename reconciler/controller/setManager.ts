import type { WaitReport } from '../run/apiWait.ts'
import { failureOf } from '../run/failureOf.ts'
import { StateError } from '../state/model/stateError.ts'
import type { SetSettings } from './config/settings.ts'
import type { Metrics } from './metrics.ts'
import type { ControllerClock } from './schedule/clock.ts'
import type { CycleReport } from './set/cycleReport.ts'
import { type OpenSet, openSet, sharedLimiters } from './set/openSet.ts'
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

/** An open set with its loop and its view. */
export interface ManagedSet extends OpenSet {
  readonly loop: SetLoop
  readonly view: SetView
  /** Whether its loop has ended, which happens only after `stop`. */
  hasEnded: boolean
}

/** Opens all sets, or none. Throws StateError. */
export async function openSets(settings: readonly SetSettings[], deps: SetManagerDeps): Promise<SetManager> {
  const shared = { claims: new ServiceClaims(), limiterOf: sharedLimiters(deps.clock) }
  const sets: ManagedSet[] = []
  try {
    for (const one of settings) sets.push(await openManaged(one, deps, shared))
  } catch (error) {
    await Promise.all(sets.map(({ close }) => close()))
    throw error
  }
  for (const { loop, serviceIds, context } of sets) {
    for (const id of serviceIds) shared.claims.claim(loop.name, id)
    deps.metrics.onSet(loop.name, context.limiter)
  }
  return new SetManager(sets)
}

/** The sets of a controller, in the order of the configuration: run, stopped and closed together. */
export class SetManager {
  readonly sets: readonly ManagedSet[]

  constructor(sets: readonly ManagedSet[]) {
    this.sets = sets
  }

  /**
   * Runs one cycle of every set. Sets whose lease another replica holds come last, and wait at most `waitMs` each. Throws the
   * first error that prevented a cycle, such as a StateError `held`, after the cycles of all other sets.
   */
  async runOnce(waitMs: number): Promise<readonly CycleReport[]> {
    const reports: CycleReport[] = []
    const errors: unknown[] = []
    const held: ManagedSet[] = []
    for (const set of this.sets) {
      try {
        reports.push(await set.loop.runOnce(0))
      } catch (error) {
        if (error instanceof StateError && error.reason === 'held') held.push(set)
        else errors.push(error)
      }
    }
    for (const { loop } of held) {
      try {
        reports.push(await loop.runOnce(waitMs))
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
    return reports
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

async function openManaged(
  settings: SetSettings,
  deps: SetManagerDeps,
  shared: Pick<Parameters<typeof openSet>[1], 'claims' | 'limiterOf'>,
): Promise<ManagedSet> {
  const { clock, newId, version, env, holder, metrics, onEvent, announce } = deps
  const { name } = settings.config
  const open = await openSet(settings, {
    clock,
    newId,
    userAgent: `pharos/${version}`,
    env,
    ...shared,
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
      deps.onWait?.(name, report)
      for (const event of view.refresh()) onEvent(event)
    },
    onLease: (change, epoch) => announce(name, leaseEvent(change, epoch)),
    onFault: (error) => {
      announce(name, { type: 'RunFailed', severity: 'error', message: failureOf(error).message })
      for (const event of view.refresh()) onEvent(event)
    },
  })
  const view = new SetView(settings, () => loop.facts(), clock.wallMs)
  return { ...open, loop, view, hasEnded: false }
}

function leaseEvent(change: 'taken' | 'lost', epoch: number): NewEvent {
  if (change === 'taken')
    return { type: 'LeaseTaken', severity: 'info', message: `this replica leads now (epoch ${epoch})` }
  const message = `another replica took over (epoch ${epoch} ended)`
  return { type: 'LeaseLost', severity: 'warning', message }
}
