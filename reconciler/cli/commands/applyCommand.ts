import { randomUUID } from 'node:crypto'
import { REFILL_INTERVAL_MS } from '../../../api/contract/tokenBucket.ts'
import { eventsOfApplied } from '../../apply/appliedEvents.ts'
import { type Applied, type ApprovalResult, applySet } from '../../apply/applySet.ts'
import { guardOrg } from '../../apply/buildPlan.ts'
import type { Progress } from '../../apply/execute.ts'
import type { PlanInput } from '../../apply/planResult.ts'
import { runProblems } from '../../apply/runProblems.ts'
import type { ServiceSet } from '../../manifest/compile/declaredService.ts'
import { appliedDocument, appliedLines, countsOfApplied } from '../../render/appliedText.ts'
import { planDocument } from '../../render/planDocument.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { EXIT, runExitCode } from '../../run/exitCode.ts'
import { failureOf } from '../../run/failureOf.ts'
import { folderCommit } from '../../source/folderCommit.ts'
import { outcomeOfExit } from '../../state/model/runOutcome.ts'
import { reportFailure } from '../../text/output.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import type { Interruption } from '../session/interruption.ts'
import { withPlanInput } from '../session/planInput.ts'
import { reviewOf } from '../session/planReview.ts'
import { openSendingSession, sleepUnlessStopped, type WritingSession } from '../session/session.ts'
import { settingNames } from '../session/settings.ts'
import { requireDigest } from './operatorCommands.ts'

/** Applies the manifests below `path`. */
export async function applyCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output, options, env } = context
  const startedAt = new Date().toISOString()
  const commit = await folderCommit(path, env)
  if (commit?.notice != null) output.notice(commit.notice)
  const { approve, plan } = options
  if (approve !== undefined) requireDigest(approve)
  const review = plan === undefined ? undefined : reviewOf(plan)
  const how = { secrets: 'required', regions: 'looked-up', open: openSendingSession } as const
  return withPlanInput(path, context, how, async (input) => {
    output.problems([...input.set.problems, ...input.set.warnings])
    const applied = await applyWith(input, context, review, commit)
    for (const warning of applied.planResult.warnings) output.notice(warning)
    const { approval } = applied
    if (approve !== undefined && approval !== null && approval !== 'used')
      output.notice(`digest ${approve} ${UNUSED_APPROVAL[approval]}`)
    return ended(applied, input, { commitSha: commit?.name ?? null, startedAt }, context)
  })
}

/** Why `--approve` had no effect. */
const UNUSED_APPROVAL: Readonly<Record<Exclude<ApprovalResult, 'used'>, string>> = {
  notNeeded: 'was not needed: no change is blocked by a safety limit that an approval releases',
  noMatch: 'does not match the current plan; nothing was approved',
  stillBlocked: 'approves changes that other safety limits block as well; nothing was approved',
}

/** The parts of a run record that the command provides. */
interface RunOrigin {
  /** Commit of the manifests, with `-dirty` when they differ from it; null when unknown. */
  readonly commitSha: string | null
  readonly startedAt: string
}

/** Prints the result, even if it cannot be recorded, and records it. */
async function ended(
  applied: Applied,
  input: PlanInput & WritingSession,
  origin: RunOrigin,
  { output, options, env, interruption }: CommandContext,
): Promise<CommandResult> {
  const { set, requests, runId } = input
  const { problems, warnings } = set
  const lines = appliedLines(applied, { requests: requests(), problems }, output.paint)
  for (const line of lines) output.result(line)
  const { planResult } = applied
  const found = runProblems(planResult.limited.changes, applied.outcomes, planResult.declared)
  output.annotations(found)
  const ran = applyExitCode(applied, set, interruption)
  const unrecorded = await recordRun(applied, { ...origin, exitCode: ran }, input)
    // Here, because a release that fails after the command would replace its document by that of the failure.
    .finally(() => input.lease.release())
    .then(() => undefined, failureOf)
  // The user knows why an interrupted run ended.
  const isInterrupted = interruption.exitCode() !== undefined
  const failure =
    applied.endedBy === undefined || isInterrupted
      ? unrecorded
      : failureOf(applied.endedBy, settingNames(options, env))
  if (failure !== undefined) reportFailure(failure, output)
  return {
    exitCode: unrecorded === undefined || isInterrupted ? ran : unrecorded.exitCode,
    document: {
      runId,
      problems: problems.map(problemDocument),
      warnings: warnings.map(problemDocument),
      plan: planDocument(applied.planResult),
      ...appliedDocument(applied),
      ...(applied.approval === null ? {} : { approval: applied.approval }),
      ...(failure === undefined ? {} : { error: failure }),
      requests: requests(),
    },
    problems: [...problems, ...warnings, ...found],
  }
}

async function recordRun(
  applied: Applied,
  { commitSha, startedAt, exitCode }: RunOrigin & { readonly exitCode: number },
  { store, runId }: WritingSession,
): Promise<void> {
  // A run that lost the lease must not write to the state.
  if (exitCode === EXIT.stateHeld) return
  const finishedAt = new Date().toISOString()
  await store.note(eventsOfApplied(applied, runId, finishedAt))
  await store.recordRun({
    runId,
    command: 'apply',
    trigger: 'command',
    commitSha,
    planDigest: applied.planResult.digest,
    outcome: outcomeOfExit(exitCode),
    startedAt,
    finishedAt,
    exitCode,
    isHistoryRewritten: false,
    counts: countsOfApplied(applied),
  })
  await store.checkpoint()
}

async function applyWith(
  input: PlanInput & WritingSession,
  context: CommandContext,
  review: ReturnType<typeof reviewOf> | undefined,
  commit: Awaited<ReturnType<typeof folderCommit>>,
): Promise<Applied> {
  const { output, options, interruption } = context
  interruption.onStop(() =>
    output.notice('stopping after the requests in progress; interrupt again to abandon them'),
  )
  const org = await guardOrg(input)
  return applySet({
    ...input,
    org,
    ...(review === undefined ? {} : { review: (planResult) => review(planResult, org, input) }),
    newId: randomUUID,
    approved: options.approve,
    ...(commit?.name == null ? {} : { commit: { sha: commit.name, approvals: commit.approvals } }),
    origin: { repository: null, commit: commit?.name ?? null },
    control: {
      isStopping: () => interruption.exitCode() !== undefined || input.lease.isLost(),
      isLost: input.lease.isLost,
      onProgress: (progress) => output.progress(progressText(progress)),
    },
    sleep: (delayMs) => sleepUnlessStopped(delayMs, interruption),
    onWait: (waitMs) =>
      output.notice(
        `the response to a creation was lost: waiting ${Math.ceil(waitMs / 1_000)} s to see whether it took effect`,
      ),
  })
}

/** `applied 140 of 2000, 0 failed, about 6 min left`, estimated from the rate limit. */
function progressText({ done, total, failed, requestsLeft }: Progress): string {
  if (done === total) return ''
  const leftSecs = Math.ceil((requestsLeft * REFILL_INTERVAL_MS) / 1_000)
  const left = leftSecs < 90 ? `${leftSecs} s` : `${Math.round(leftSecs / 60)} min`
  return `applied ${done} of ${total}, ${failed} failed, about ${left} left`
}

function applyExitCode(applied: Applied, set: ServiceSet, interruption: Interruption): number {
  return runExitCode({
    interrupted: interruption.exitCode(),
    failed: applied.endedBy === undefined ? undefined : failureOf(applied.endedBy).exitCode,
    purpose: 'write',
    problems: set.problems,
    usableManifests: set.services.length,
    tripped: applied.planResult.limited.tripped,
    blocked: applied.blocked,
    outcomes: applied.outcomes,
  })
}
