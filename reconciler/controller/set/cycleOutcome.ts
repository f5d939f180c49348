import type { Applied } from '../../apply/applySet.ts'
import { EXIT, runExitCode } from '../../run/exitCode.ts'
import { failureOf } from '../../run/failureOf.ts'
import type { RunningStatus, RunOutcome } from '../status/status.ts'
import type { SourceLook } from './readSource.ts'
import type { SetMemory } from './setContext.ts'
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
  return runExitCode({
    interrupted: stopReason === 'stopping' ? EXIT.terminated : undefined,
    failed: failedWith(error, applied !== null && source?.sourceProblem === null),
    purpose: 'write',
    problems: source?.accepted?.set.problems ?? [],
    usableManifests: source?.accepted?.set.services.length ?? 0,
    tripped: applied?.situation.braked.tripped ?? [],
    blocked: applied?.blocked ?? [],
    outcomes: applied?.outcomes ?? [],
    isCommitInDoubt: source?.isRewritten === true || (source?.refused ?? null) !== null,
  })
}

/** The exit code of a cycle that did not come to its end; `undefined` for one that did. */
function failedWith(error: unknown, hasPlanned: boolean): number | undefined {
  if (error !== undefined) return failureOf(error).exitCode
  return hasPlanned ? undefined : EXIT.couldNotRun
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
