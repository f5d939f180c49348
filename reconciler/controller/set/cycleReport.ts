import type { Applied } from '../../apply/applySet.ts'
import { EXIT, runExitCode } from '../../run/exitCode.ts'
import { failureOf } from '../../run/failureOf.ts'
import type { WindowState } from '../schedule/window.ts'
import type { RunOutcome, StopReason, Trigger } from '../status/status.ts'
import type { SourceResult } from './readSource.ts'
import type { SetMemory } from './setContext.ts'
import type { HandedOver } from './transfer.ts'

/** The facts of a cycle at its start. */
export interface CycleStart {
  readonly runId: string
  readonly trigger: Trigger
  readonly startedAtMs: number
  /** Whether the set may write when the cycle starts. */
  readonly window: WindowState
}

/** The results of a cycle, up to the step that it reached. */
export interface CycleResults {
  readonly source: SourceResult | null
  /** The plan and its results; null when the cycle ended earlier. */
  readonly applied: Applied | null
  readonly handedOver: readonly HandedOver[]
  readonly memory: SetMemory
  /** The error that ended the cycle; undefined for none. */
  readonly error: unknown
}

/** The report of a cycle. */
export interface CycleReport extends CycleStart, CycleResults {
  readonly finishedAtMs: number
  readonly outcome: RunOutcome
  /** The exit code that `pharos apply` would have had. */
  readonly exitCode: number
  readonly counts: Readonly<Record<string, number>>
  readonly requests: number
}

/** `report` without the lists of all services, to be kept until the next cycle. Pure. */
export function withoutServices(report: CycleReport): CycleReport {
  if (report.applied === null) return report
  const none = { services: [], bindings: new Map(), desired: new Map(), declared: new Map() }
  const planResult = { ...report.applied.planResult, ...none }
  return { ...report, applied: { ...report.applied, planResult } }
}

/** The exit code that `pharos apply` would have had. Pure. */
export function exitCodeFor(found: CycleResults, stopReason: StopReason | null): number {
  const { applied, source } = found
  return runExitCode({
    interrupted: stopReason === 'stopping' ? EXIT.terminated : undefined,
    failed: failedWith(found),
    purpose: 'write',
    problems: source?.accepted?.set.problems ?? [],
    usableManifests: source?.accepted?.set.services.length ?? 0,
    tripped: applied?.planResult.limited.tripped ?? [],
    blocked: applied?.blocked ?? [],
    outcomes: applied?.outcomes ?? [],
    isCommitInDoubt: source?.isRewritten === true || (source?.refused ?? null) !== null,
  })
}

/** The exit code of a cycle that ended early, or had no manifests to apply; `undefined` for a complete one. */
function failedWith({ applied, error, source }: CycleResults): number | undefined {
  if (error !== undefined) return failureOf(error).exitCode
  if (applied === null || source?.sourceProblem !== null) return EXIT.couldNotRun
  return hasNoManifests({ applied, source }) ? EXIT.couldNotRun : undefined
}

/** Whether the path of the set does not exist. With services in the state, a safety limit reports it. */
function hasNoManifests({ applied, source }: Pick<CycleResults, 'applied' | 'source'>): boolean {
  return source?.accepted?.loaded.exists === false && applied?.planResult.plan.owned === 0
}

/** The outcome of a run. Pure. */
export function outcomeFor(
  exitCode: number,
  { applied, error, source }: CycleResults,
  stopReason: StopReason | null,
): RunOutcome {
  const skipped = applied?.outcomes.some(({ result }) => result === 'skipped') ?? true
  if (stopReason === 'superseded' && skipped) return 'superseded'
  if (stopReason !== null && skipped) return 'interrupted'
  if (error !== undefined) return 'failed'
  switch (exitCode) {
    case EXIT.converged:
      return 'converged'
    case EXIT.couldNotRun:
      // Only a commit or another path can add the manifests, so this run is not repeated like a failed one.
      return source?.sourceProblem === null && hasNoManifests({ applied, source }) ? 'partial' : 'failed'
    case EXIT.approvalNeeded:
      return 'withheld'
    default:
      return 'partial'
  }
}
