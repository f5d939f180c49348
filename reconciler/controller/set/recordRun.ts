import { ApiError } from '../../../api/contract/apiError.ts'
import { eventsOfApplied } from '../../apply/appliedEvents.ts'
import { outcomeOfExit } from '../../state/model/runOutcome.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { CycleReport } from './cycleReport.ts'
import type { SetContext, SetMemory } from './setContext.ts'

/** The command in the run records of a controller. Pure. */
export function commandOf({ config }: SetContext['settings']): string {
  return `controller ${config.name}`
}

/** Records a run with changes, or with another outcome than the last one; returns the memory for the next cycle. */
export async function recordRun({ store, settings }: SetContext, report: CycleReport): Promise<SetMemory> {
  const { memory, applied, source, outcome } = report
  const commit = source?.accepted?.loaded.commit.sha ?? null
  const isSame = memory.recorded?.commit === commit && memory.recorded.outcome === outcome
  const isIdle = (applied?.outcomes.length ?? 0) === 0
  const org = isSuspicious(report) ? null : memory.org
  if ((isSame && isIdle) || applied === null || isFenced(report.error)) return { ...memory, org }
  const isRewritten = source?.isRewritten ?? false
  try {
    await store.recordRun({
      runId: report.runId,
      command: commandOf(settings),
      trigger: report.trigger,
      commitSha: commit,
      planDigest: applied.planResult.digest,
      outcome: outcomeOfExit(report.exitCode),
      startedAt: new Date(report.startedAtMs).toISOString(),
      finishedAt: new Date(report.finishedAtMs).toISOString(),
      exitCode: report.exitCode,
      isHistoryRewritten: isRewritten,
      counts: report.counts,
    })
    await store.note(eventsOfApplied(applied, report.runId, new Date(report.finishedAtMs).toISOString()))
  } catch (error) {
    // A replica that lost the lease must not write to the state.
    if (!isFenced(error)) throw error
    return { ...memory, org }
  }
  return { ...memory, org, recorded: { commit, outcome }, baseline: isRewritten ? memory.baseline : commit }
}

function isFenced(error: unknown): boolean {
  return error instanceof StateError && error.reason === 'lost'
}

/** Whether the next cycle should check again that the key belongs to the organisation of the state. */
function isSuspicious({ applied, error }: Pick<CycleReport, 'applied' | 'error'>): boolean {
  if (error instanceof ApiError) return error.status === 401 || error.status === 403
  if (applied === null) return false
  return applied.planResult.services.length === 0 && applied.planResult.plan.owned > 0
}
