import type { Applied } from '../apply/applySet.ts'
import { EXIT, exitCodeOf } from '../cli/exitCode.ts'
import { isSomebodyElses } from '../state/stateError.ts'
import type { SourceLook } from './readSource.ts'
import type { SetMemory } from './setContext.ts'
import type { RunningStatus, RunOutcome } from './status.ts'
import type { HandedOver } from './transfer.ts'

/** What a cycle found, as far as it came. */
export interface Found {
  readonly source: SourceLook | null
  readonly applied: Applied | null
  readonly handedOver: readonly HandedOver[]
  readonly memory: SetMemory
  readonly error: unknown
}

/** Why a cycle ends early; null when it does not. */
export type StopReason = RunningStatus['stopReason']

/** As `pharos apply` would have ended. Pure. */
export function exitCodeFor({ applied, error, source }: Found, stopReason: StopReason): number {
  if (stopReason === 'stopping') return EXIT.terminated
  if (error !== undefined) {
    return isSomebodyElses(error) ? EXIT.stateHeld : EXIT.couldNotRun
  }
  if (applied === null || source === null || source.sourceProblem !== null) return EXIT.couldNotRun
  const { braked } = applied.situation
  const problems = source.accepted?.set.problems ?? []
  return exitCodeOf({
    manifestsInvalid: problems.length > 0 && source.accepted?.set.services.length === 0,
    decisionNeeded:
      source.isRewritten || source.refused !== null || applied.blocked.some((change) => change.needsDecision),
    approvalNeeded: braked.tripped.some((brake) => brake.approvable),
    partial:
      problems.length > 0 ||
      braked.tripped.length > 0 ||
      applied.blocked.length > 0 ||
      applied.outcomes.some(({ result }) => result !== 'done'),
  })
}

/** How the run ended, in a word. Pure. */
export function outcomeFor(exitCode: number, { applied, error }: Found, stopReason: StopReason): RunOutcome {
  const skipped = applied?.outcomes.some(({ result }) => result === 'skipped') ?? true
  if (stopReason === 'superseded' && skipped) return 'superseded'
  if (stopReason !== null && skipped) return 'interrupted'
  if (error !== undefined) return 'failed'
  switch (exitCode) {
    case EXIT.converged:
      return 'converged'
    case EXIT.couldNotRun:
      return 'failed'
    case EXIT.approvalNeeded:
      return 'withheld'
    default:
      return 'partial'
  }
}
