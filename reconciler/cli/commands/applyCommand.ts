import { randomUUID } from 'node:crypto'
import { REFILL_INTERVAL_MS } from '../../../api/contract/tokenBucket.ts'
import { eventsOfApplied } from '../../apply/appliedEvents.ts'
import { type Applied, applySet } from '../../apply/applySet.ts'
import { guardOrg } from '../../apply/buildPlan.ts'
import type { Progress } from '../../apply/execute.ts'
import { runProblems } from '../../apply/runProblems.ts'
import { appliedDocument, appliedLines, countsOfApplied } from '../../render/appliedText.ts'
import { planDocument } from '../../render/planDocument.ts'
import { problemDocument } from '../../render/problemDocument.ts'
import { EXIT, runExitCode } from '../../run/exitCode.ts'
import { failureOf } from '../../run/failureOf.ts'
import { folderCommit } from '../../source/folderCommit.ts'
import { outcomeOfExit } from '../../state/model/runOutcome.ts'
import { tellFailure } from '../../text/output.ts'
import type { CommandContext, CommandResult } from '../session/context.ts'
import type { Interruption } from '../session/interruption.ts'
import type { LoadedManifests } from '../session/manifests.ts'
import { reviewOf } from '../session/planReview.ts'
import { type OpenScene, withScene } from '../session/scene.ts'
import { openSendingSession, sleepUnlessStopped, type WritingSession } from '../session/session.ts'
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
  const requested = { secrets: 'required', regions: 'looked-up', open: openSendingSession } as const
  return withScene(path, context, requested, async (open) => {
    output.problems([...open.loaded.set.problems, ...open.loaded.set.warnings])
    const applied = await applyWith(open, context, review, commit)
    for (const warning of applied.situation.warnings) output.notice(warning)
    if (approve !== undefined && applied.situation.digest !== null)
      output.notice(`digest ${approve} does not match the current plan; nothing was approved`)
    return ended(applied, open, { commitSha: commit?.name ?? null, startedAt }, context)
  })
}

/** What the record of a run says besides what was applied. */
interface RunOrigin {
  /** Commit of the manifests, with `-dirty` where they differ from it; null when that is not known. */
  readonly commitSha: string | null
  readonly startedAt: string
}

/** Tells what was applied, and records it. What a run did is told also where that cannot be written down. */
async function ended(
  applied: Applied,
  { loaded, session }: OpenScene<WritingSession>,
  origin: RunOrigin,
  { output, interruption }: CommandContext,
): Promise<CommandResult> {
  const { problems, warnings } = loaded.set
  for (const line of appliedLines(applied, session.requests(), output.paint)) output.result(line)
  const { situation } = applied
  const found = runProblems(situation.braked.changes, applied.outcomes, situation.declared)
  output.annotations(found)
  const ran = applyExitCode(applied, loaded, interruption)
  const unrecorded = await recordRun(applied, { ...origin, exitCode: ran }, session).then(
    () => undefined,
    failureOf,
  )
  // Whoever interrupted a run knows why it ended.
  const isInterrupted = interruption.exitCode() !== undefined
  const failure = applied.endedBy === undefined || isInterrupted ? unrecorded : failureOf(applied.endedBy)
  if (failure !== undefined) tellFailure(failure, output)
  return {
    exitCode: unrecorded === undefined || isInterrupted ? ran : unrecorded.exitCode,
    document: {
      runId: session.runId,
      problems: problems.map(problemDocument),
      warnings: warnings.map(problemDocument),
      plan: planDocument(applied.situation),
      ...appliedDocument(applied),
      ...(failure === undefined ? {} : { error: failure }),
      requests: session.requests(),
    },
    problems: [...problems, ...warnings, ...found],
  }
}

async function recordRun(
  applied: Applied,
  { commitSha, startedAt, exitCode }: RunOrigin & { readonly exitCode: number },
  { store, runId }: WritingSession,
): Promise<void> {
  // Who lost the lease has nothing more to say in this state.
  if (exitCode === EXIT.stateHeld) return
  const finishedAt = new Date().toISOString()
  await store.note(eventsOfApplied(applied, runId, finishedAt))
  await store.recordRun({
    runId,
    command: 'apply',
    trigger: 'command',
    commitSha,
    planDigest: applied.situation.digest,
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
  open: OpenScene<WritingSession>,
  context: CommandContext,
  review: ReturnType<typeof reviewOf> | undefined,
  commit: Awaited<ReturnType<typeof folderCommit>>,
): Promise<Applied> {
  const { scene, session } = open
  const { output, options, interruption } = context
  interruption.onStop(() =>
    output.notice('stopping: requests under way are finished first; once more to abandon them'),
  )
  const org = await guardOrg(scene)
  return applySet({
    ...scene,
    org,
    ...(review === undefined ? {} : { review: (situation) => review(situation, org, open) }),
    newId: randomUUID,
    approved: options.approve,
    ...(commit?.name == null ? {} : { commit: { sha: commit.name, approvals: commit.approvals } }),
    origin: { repository: null, commit: commit?.name ?? null },
    control: {
      isStopping: () => interruption.exitCode() !== undefined || session.lease.isLost(),
      isLost: session.lease.isLost,
      onProgress: (progress) => output.progress(progressText(progress)),
    },
    sleep: (delayMs) => sleepUnlessStopped(delayMs, interruption),
    onWait: (waitMs) =>
      output.notice(
        `the answer to a creation was lost: waiting ${Math.ceil(waitMs / 1_000)} s to see whether it took effect`,
      ),
  })
}

/** `applied 140 of 2000, 0 failed, about 6 min left`: the rate limit alone decides what remains. */
function progressText({ done, total, failed, requestsLeft }: Progress): string {
  if (done === total) return ''
  const leftSecs = Math.ceil((requestsLeft * REFILL_INTERVAL_MS) / 1_000)
  const left = leftSecs < 90 ? `${leftSecs} s` : `${Math.round(leftSecs / 60)} min`
  return `applied ${done} of ${total}, ${failed} failed, about ${left} left`
}

function applyExitCode(applied: Applied, { set }: LoadedManifests, interruption: Interruption): number {
  return runExitCode({
    interrupted: interruption.exitCode(),
    failed: applied.endedBy === undefined ? undefined : failureOf(applied.endedBy).exitCode,
    purpose: 'write',
    problems: set.problems,
    usableManifests: set.services.length,
    tripped: applied.situation.braked.tripped,
    blocked: applied.blocked,
    outcomes: applied.outcomes,
  })
}
