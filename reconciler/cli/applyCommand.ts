import { randomUUID } from 'node:crypto'
import { type Applied, applySet } from '../apply/applySet.ts'
import { isOtherSource } from '../apply/situation.ts'
import { appliedDocument, appliedLines, countsOfApplied } from '../render/appliedText.ts'
import { planDocument } from '../render/planDocument.ts'
import { EXIT, exitCodeOf } from './exitCode.ts'
import { type LoadedManifests, loadManifests } from './manifests.ts'
import { refuseMissingPath } from './planCommand.ts'
import { type CommandContext, type CommandResult, failureOf, type Interruption } from './runCommand.ts'
import { openSession, type Session } from './session.ts'
import { createGraceMs } from './settings.ts'

/** Makes the services as the manifests say. */
export async function applyCommand(path: string, context: CommandContext): Promise<CommandResult> {
  const { output, options, env } = context
  const startedAt = new Date().toISOString()
  const loaded = await loadManifests(path, options, env, 'required')
  const session = await openSession(options, env, output, 'write')
  try {
    await refuseMissingPath(path, loaded, session.store)
    const { set } = loaded
    output.problems([...set.problems, ...set.warnings])
    const applied = await applyWith(session, loaded, context)
    for (const warning of applied.situation.warnings) output.notice(warning)
    for (const line of appliedLines(applied, session.requests(), output.paint)) output.result(line)
    const exitCode = applyExitCode(applied, loaded, context.interruption)
    if (applied.endedBy !== undefined) output.error(failureOf(applied.endedBy).message)
    const counts = countsOfApplied(applied)
    const { runId } = session
    await session.store.recordRun({
      runId,
      command: 'apply',
      startedAt,
      finishedAt: new Date().toISOString(),
      exitCode,
      counts,
    })
    return {
      exitCode,
      document: {
        runId,
        problems: set.problems,
        warnings: set.warnings,
        plan: planDocument(applied.situation),
        ...appliedDocument(applied),
        ...(applied.endedBy === undefined ? {} : { error: failureOf(applied.endedBy) }),
        requests: session.requests(),
      },
      problems: [...set.problems, ...set.warnings],
    }
  } finally {
    await session.close()
  }
}

function applyWith(session: Session, loaded: LoadedManifests, context: CommandContext): Promise<Applied> {
  const { output, options, interruption } = context
  interruption.onStop(() =>
    output.notice('stopping: requests under way are finished first; once more to abandon them'),
  )
  return applySet({
    ...session,
    set: loaded.set,
    sourceExists: loaded.exists,
    sourceName: loaded.name,
    regions: 'looked-up',
    createGraceMs: createGraceMs(options),
    nowMs: Date.now,
    newId: randomUUID,
    approved: options.approve,
    control: {
      isStopping: () => interruption.exitCode() !== undefined,
      onProgress: (done, total) => output.progress(done === total ? '' : `applying: ${done} of ${total}`),
    },
    sleep: (delayMs) => sleepUnlessStopped(delayMs, interruption),
    onWait: (waitMs) =>
      output.notice(
        `the answer to a creation was lost: waiting ${Math.ceil(waitMs / 1_000)} s to see whether it took effect`,
      ),
  })
}

function sleepUnlessStopped(delayMs: number, interruption: Interruption): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs)
    interruption.onStop(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function applyExitCode(applied: Applied, { set }: LoadedManifests, interruption: Interruption): number {
  const interrupted = interruption.exitCode()
  if (interrupted !== undefined) return interrupted
  if (applied.endedBy !== undefined) return EXIT.couldNotRun
  const { tripped } = applied.situation.braked
  return exitCodeOf({
    // With some manifests usable the others are left out and the run is partial.
    manifestsInvalid: set.problems.length > 0 && set.services.length === 0,
    decisionNeeded:
      isOtherSource(applied.situation) || applied.blocked.some((change) => change.needsDecision),
    approvalNeeded: tripped.some((brake) => brake.brake !== 'invalidSource'),
    partial:
      set.problems.length > 0 ||
      applied.blocked.length > 0 ||
      applied.outcomes.some(({ result }) => result !== 'done'),
  })
}
