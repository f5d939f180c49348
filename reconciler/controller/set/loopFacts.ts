import type { WaitReport } from '../../run/apiWait.ts'
import type { Suspension } from '../../state/model/record.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { CommitStatus, RunningStatus, Trigger } from '../status/status.ts'
import type { CycleReport } from './cycleReport.ts'

/** What a loop reports. Each returns at once. */
export interface LoopObserver {
  readonly onReport: (report: CycleReport) => void
  /** A cycle works on this commit, which may be the one of the cycle before. */
  readonly onCommit: (commit: CommitStatus, runId: string) => void
  readonly onLease: (change: 'taken' | 'lost', epoch: number) => void
  /** A cycle waits for the API, and has for at least ten seconds. */
  readonly onWait: (report: WaitReport) => void
  /** An unexpected error; the loop goes on. */
  readonly onFault: (error: unknown) => void
}

/** What there is to know of a loop now. */
export interface LoopFacts {
  readonly role: 'leader' | 'follower' | 'starting'
  readonly leaseHolder: string | null
  readonly report: CycleReport | null
  readonly running: RunningStatus | null
  /** Wall clock (milliseconds); null while a run is under way, or another replica does the work. */
  readonly nextRunAtMs: number | null
  /** Failed runs in a row. */
  readonly failures: number
  /** What has kept this replica from any cycle since the last one, such as a state that is away; null when nothing has. */
  readonly fault: string | null
  readonly suspensions: readonly Suspension[]
  /** What the cycle under way waits for, once that was reported; null when there is nothing. */
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
