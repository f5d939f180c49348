import type { WaitReport } from '../../run/apiWait.ts'
import type { Failure } from '../../run/failure.ts'
import type { Suspension } from '../../state/model/record.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { CommitStatus, RunningStatus, Trigger } from '../status/status.ts'
import type { CycleReport } from './cycleReport.ts'

/** Receives the events of a loop. Each method returns at once. */
export interface LoopObserver {
  readonly onReport: (report: CycleReport) => void
  /** The state was opened. */
  readonly onOpen: () => void
  /** A cycle works on this commit, possibly the same as before. */
  readonly onCommit: (commit: CommitStatus, runId: string) => void
  readonly onLease: (change: 'taken' | 'lost', epoch: number) => void
  /** A cycle has waited for the API for at least ten seconds. */
  readonly onWait: (report: WaitReport) => void
  /** An unexpected error; the loop continues. */
  readonly onFault: (error: unknown) => void
}

/** The current state of a loop. */
export interface LoopFacts {
  readonly role: 'leader' | 'follower' | 'starting'
  readonly leaseHolder: string | null
  readonly report: CycleReport | null
  readonly running: RunningStatus | null
  /** Wall clock (milliseconds); null during a run, or when another replica leads. */
  readonly nextRunAtMs: number | null
  /** Failed runs in a row. */
  readonly failures: number
  /** What has prevented cycles since the last one, such as an unreachable state; null for nothing. */
  readonly fault: Failure | null
  readonly suspensions: readonly Suspension[]
  /** The reported wait of the current cycle; null for none. */
  readonly wait: WaitReport | null
}

/** Whether the next attempt should come sooner than the interval. Pure. */
export function isFailed({ outcome, applied, error }: CycleReport): boolean {
  if (outcome === 'interrupted' || outcome === 'superseded') return false
  if (error instanceof StateError && error.reason === 'lost') return false
  return outcome === 'failed' || applied?.outcomes.some(({ result }) => result !== 'done') === true
}

/** A run that starts at `wallMs` (milliseconds since the epoch). Pure. */
export function startedRun(trigger: Trigger, wallMs: number): RunningStatus {
  const startedAt = new Date(wallMs).toISOString()
  return { trigger, commit: null, startedAt, phase: 'fetching', done: 0, total: 0, stopReason: null }
}
