import { type ApiWait, watchApiWait } from '../../run/apiWait.ts'
import type { Failure } from '../../run/failure.ts'
import { failureOf } from '../../run/failureOf.ts'
import { SourceUnavailable } from '../../source/gitMirror.ts'
import { type HeldLease, type LeaseClock, takeLease } from '../../state/model/lease.ts'
import { StateError } from '../../state/model/stateError.ts'
import { type Burst, jittered, nextCycle, retryDelayMs, withTrigger } from '../schedule/schedule.ts'
import { every, Waits } from '../schedule/waits.ts'
import { untilOpensMs } from '../schedule/window.ts'
import type { RunningStatus, StopReason, Trigger } from '../status/status.ts'
import { runCycle } from './cycle.ts'
import { type CycleReport, withoutServices } from './cycleReport.ts'
import { isFailed, type LoopFacts, type LoopObserver, startedRun } from './loopFacts.ts'
import type { PreparedSet } from './openSet.ts'
import { Ending, initialMemory, type SetContext, type SetMemory, type SetParts } from './setContext.ts'
import { SetState } from './setState.ts'
import { Suspensions } from './suspensions.ts'

/**
 * Runs one set: opens the state, acquires the lease, and runs a cycle whenever one is due. A newer commit, a suspension
 * or the loss of the lease stops a cycle between two operations.
 */
export class SetLoop {
  readonly name: string
  readonly #parts: SetParts
  readonly #state: SetState
  readonly #holder: string
  readonly #observer: LoopObserver
  readonly #abort = new AbortController()
  readonly #waits: Waits
  #stopReason: StopReason | null = null
  #isStopping = false
  #lease: HeldLease | null = null
  #leaseHolder: string | null = null
  #role: LoopFacts['role'] = 'starting'
  #burst: Burst | null = null
  #report: CycleReport | null = null
  #running: RunningStatus | null = null
  #nextRunAtMs: number | null = null
  #failures = 0
  #fault: Failure | null = null
  readonly #suspensions = new Suspensions()
  /** Newest known commit, accepted or not. */
  #head: string | null = null
  #isCheckingHead = false
  /** Limits the current cycle; null between cycles. */
  #wait: ApiWait | null = null

  constructor(set: PreparedSet, holder: string, observer: LoopObserver) {
    this.name = set.parts.settings.config.name
    this.#state = new SetState(set)
    this.#parts = set.parts
    this.#waits = new Waits(set.parts.clock)
    this.#holder = holder
    this.#observer = observer
  }

  /** Runs until `stop`. Never rejects: failures are reported and retried. */
  async run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.open()
        await this.#acquireLease()
        if (!this.#isStopping) await this.#runAsLeader()
      } catch (error) {
        if (error instanceof Ending) break
        this.#failures += 1
        this.#fault = failureOf(error)
        this.#observer.onFault(error)
        await this.#waits.wait(retryDelayMs(this.#failures, this.#parts.clock.random()) ?? 0)
      } finally {
        await this.#releaseLease()
      }
    }
    this.#state.end()
  }

  /** Opens the state, unless it is open. Throws StateError, and Ending after `stop`. */
  async open(): Promise<void> {
    if (this.#isStopping) throw new Ending()
    if (this.#state.context !== null) return
    await this.#state.open()
    this.#failures = 0
    this.#fault = null
    this.#observer.onOpen()
  }

  /** Dependencies of the set. Throws StateError while its state is not open. */
  get context(): SetContext {
    if (this.#state.context !== null) return this.#state.context
    const reason = this.#fault === null ? '' : `: ${this.#fault.message}`
    throw new StateError(`the state of the set ${this.name} is not open yet${reason}`)
  }

  /** Ends the time limit of a stop. Called when nothing is written any more. */
  end(): void {
    this.#state.end()
  }

  /** Runs one cycle for `--once`. Throws StateError `held` when another holder keeps the lease for `waitMs`. */
  async runOnce(waitMs: number): Promise<CycleReport> {
    await this.open()
    this.#lease = await takeLease(this.context.store, this.#holder, waitMs, this.#leaseClock())
    this.#role = 'leader'
    try {
      return await this.#cycle(await initialMemory(this.context.store), 'start')
    } finally {
      await this.#releaseLease()
    }
  }

  /**
   * Schedules a cycle, one for a burst of triggers. A follower requests it from the leader through the state. Throws
   * StateError.
   */
  async trigger(trigger: Trigger): Promise<void> {
    if (this.#role === 'follower') {
      const at = new Date(this.#parts.clock.wallMs()).toISOString()
      return this.context.store.requestSync({ actor: `${trigger} at ${this.#holder}`, at })
    }
    this.#burst = withTrigger(this.#burst, trigger, this.#parts.clock.nowMs())
    if (this.#running === null) this.#waits.wake()
    else void this.#checkForNewCommit()
  }

  /** Reads the suspensions again: a new one stops a run between two operations. */
  async suspensionsChanged(): Promise<void> {
    await this.#suspensions.read(this.context)
    if (this.#running !== null && this.#suspensions.isWhole) this.#interrupt('suspended')
    else await this.trigger('api')
  }

  /** Reads requests and suspensions added to the state since the last renewal. */
  async #readRequests(): Promise<void> {
    try {
      if (await this.context.store.takeSyncRequest()) await this.trigger('webhook')
      const wasWhole = this.#suspensions.isWhole
      await this.#suspensions.read(this.context)
      if (this.#running !== null && !wasWhole && this.#suspensions.isWhole) this.#interrupt('suspended')
    } catch (error) {
      // The next renewal reports a failure of the state.
      if (!(error instanceof StateError)) this.#observer.onFault(error)
    }
  }

  /** Finishes operations in progress and releases the lease; `run` resolves then. */
  stop(): void {
    this.#isStopping = true
    this.#abort.abort(new Ending())
    this.#parts.endReads()
    this.#state.stop()
    this.#stopReason = 'stopping'
    this.#waits.end()
  }

  facts(): LoopFacts {
    return {
      role: this.#role,
      leaseHolder: this.#leaseHolder,
      report: this.#report,
      running: this.#running === null ? null : { ...this.#running, stopReason: this.#currentStopReason() },
      nextRunAtMs: this.#nextRunAtMs,
      failures: this.#failures,
      fault: this.#fault,
      suspensions: this.#suspensions.inForce,
      wait: this.#wait?.reported() ?? null,
    }
  }

  async #acquireLease(): Promise<void> {
    const { store } = this.context
    this.#lease = await takeLease(store, this.#holder, Number.POSITIVE_INFINITY, this.#leaseClock())
    this.#role = 'leader'
    this.#leaseHolder = this.#holder
    this.#observer.onLease('taken', this.#lease.epoch)
  }

  async #runAsLeader(): Promise<void> {
    let memory = await initialMemory(this.context.store)
    let trigger: Trigger = 'start'
    while (!this.#isStopping && this.#lease?.isLost() === false) {
      const report = await this.#cycle(memory, trigger)
      memory = report.memory
      trigger = await this.#nextTrigger(report)
    }
    const fault = this.#lease?.fault() ?? null
    if (fault === null || this.#isStopping) return
    // Another replica can take over while this one waits for its next attempt.
    await this.#releaseLease()
    throw fault
  }

  async #releaseLease(): Promise<void> {
    const lease = this.#lease
    if (lease === null) return
    this.#lease = null
    // This replica follows only if another one took over.
    const isTaken = lease.isLost() && lease.fault() === null
    this.#role = isTaken && !this.#isStopping ? 'follower' : 'starting'
    this.#leaseHolder = null
    this.#nextRunAtMs = null
    if (isTaken) this.#observer.onLease('lost', lease.epoch)
    await lease.release().catch((error: unknown) => this.#observer.onFault(error))
  }

  async #cycle(memory: SetMemory, trigger: Trigger): Promise<CycleReport> {
    const { clock } = this.#parts
    this.#burst = null
    this.#stopReason = this.#isStopping ? 'stopping' : null
    this.#nextRunAtMs = null
    this.#running = startedRun(trigger, clock.wallMs())
    const stopPolling = this.#pollWhileRunning()
    const stopWatching = this.#watchWhileRunning()
    try {
      await this.#suspensions.read(this.context)
      const report = await runCycle(this.context, memory, trigger, {
        stopReason: () => this.#currentStopReason(),
        onHead: (sha) => {
          this.#head = sha
        },
        onPhase: (phase, commit) => {
          if (this.#running !== null) this.#running = { ...this.#running, phase, commit }
          if (phase === 'planning' && this.#burst !== null) void this.#checkForNewCommit()
        },
        onCommit: this.#observer.onCommit,
        onProgress: (done, total) => {
          if (this.#running !== null) this.#running = { ...this.#running, done, total }
        },
        sleep: (delayMs) => this.#waits.wait(delayMs),
        signal: this.#abort.signal,
      })
      this.#failures = isFailed(report) ? this.#failures + 1 : 0
      this.#report = report
      this.#fault = null
      this.#running = null
      await this.#suspensions.read(this.context)
      this.#observer.onReport(report)
      this.#report = withoutServices(report)
      return this.#report
    } finally {
      this.#running = null
      stopPolling()
      stopWatching()
    }
  }

  /** Waits until the next cycle is due, and returns its trigger. */
  async #nextTrigger({ outcome }: CycleReport): Promise<Trigger> {
    const { clock, settings } = this.#parts
    if (outcome === 'superseded') return 'preempted'
    const nowMs = clock.nowMs()
    const due = {
      intervalAtMs: nowMs + jittered(settings.config.interval, clock.random()),
      retryAtMs: nowMs + (retryDelayMs(this.#failures, clock.random()) ?? Number.POSITIVE_INFINITY),
      openingAtMs: nowMs + untilOpensMs(this.#report?.window, clock.wallMs()),
    }
    for (;;) {
      if (this.#isStopping || this.#lease?.isLost() !== false) return 'interval'
      const { waitMs, trigger } = nextCycle(due, this.#burst, clock.nowMs())
      if (waitMs <= 0) return trigger
      this.#nextRunAtMs = clock.wallMs() + waitMs
      await this.#waits.wait(waitMs)
    }
  }

  /** Limits the time of a run, and reports its waits. */
  #watchWhileRunning(): () => void {
    const { clock, observer, settings, endWaitsWith } = this.#parts
    const { onWait } = this.#observer
    const wait = watchApiWait({ clock, timeoutMs: settings.config.timeout, onWait, observer })
    this.#wait = wait
    endWaitsWith(wait.signal)
    return () => {
      wait.stop()
      this.#wait = null
      endWaitsWith(undefined)
    }
  }

  /** Checks for newer commits during a long run as often as an idle set does. */
  #pollWhileRunning(): () => void {
    const { clock, settings } = this.#parts
    return every(clock.after, settings.config.interval, () => void this.#checkForNewCommit())
  }

  /** Fetches during a run, and stops the run when the head has moved. */
  async #checkForNewCommit(): Promise<void> {
    if (this.#isCheckingHead || this.#running === null || this.#running.phase === 'fetching') return
    this.#isCheckingHead = true
    const burst = this.#burst
    try {
      const head = await this.#parts.source.fetch(this.#abort.signal)
      if (head !== this.#head) this.#interrupt('superseded')
      else if (this.#burst === burst) this.#burst = null
    } catch (error) {
      // The next cycle fetches again and reports the failure.
      if (!(error instanceof SourceUnavailable || error instanceof Ending)) this.#observer.onFault(error)
    } finally {
      this.#isCheckingHead = false
    }
  }

  #currentStopReason(): StopReason | null {
    return this.#lease?.isLost() === true ? 'lease-lost' : this.#stopReason
  }

  #interrupt(reason: StopReason): void {
    if (this.#stopReason !== 'stopping') this.#stopReason = reason
    this.#waits.wake()
  }

  #leaseClock(): LeaseClock {
    const { clock, store } = this.context
    return {
      nowMs: clock.nowMs,
      sleep: async (delayMs) => {
        this.#leaseHolder = (await store.lease())?.holder ?? null
        // A lease that this replica could not release, because its state was unwritable, has to expire as well.
        this.#role = this.#leaseHolder === this.#holder ? 'starting' : 'follower'
        // Its pages show them, and any replica may add or end one.
        await this.#suspensions.read(this.context)
        await this.#waits.wait(delayMs)
        if (this.#isStopping) throw new Ending()
      },
      every: (periodMs, run) => every(clock.after, periodMs, run),
      onRenewed: () => void this.#readRequests(),
    }
  }
}
