import { type Applied, applySet } from '../../apply/applySet.ts'
import { sourceName } from '../../plan/sourceName.ts'
import { EVENTS_KEPT, RUNS_KEPT } from '../../state/model/record.ts'
import { windowStateAt } from '../schedule/window.ts'
import type { CycleControl } from './cycleControl.ts'
import type { CycleStart } from './cycleReport.ts'
import { holdsOf } from './holds.ts'
import type { SourceResult } from './readSource.ts'
import { commandOf } from './recordRun.ts'
import type { Accepted, SetContext, SetMemory } from './setContext.ts'

/** Inputs of applyCommit. */
export interface CommitToApply extends CycleStart {
  readonly memory: SetMemory
  readonly accepted: Accepted
  readonly source: SourceResult
}

/**
 * Plans, checks limits and applies `accepted`. Throws errors of client and store before the first write; the result contains
 * later ones.
 */
export async function applyCommit(
  context: SetContext,
  { accepted, source, memory, runId, window }: CommitToApply,
  control: CycleControl,
): Promise<Applied> {
  const { client, store, stateKey, settings, clock, newId } = context
  const { config } = settings
  const { loaded, set } = accepted
  await noteApprovals(context, loaded.commit)
  const { sourceProblem, isRewritten } = source
  const holdFacts = {
    sourceProblem,
    isRewritten,
    window,
    prune: config.prune,
    otherOwner: (id: string) => context.claims.claim(config.name, id),
  }
  const mayOverrun = config.overrun
  const { path } = config.repository
  return applySet({
    client,
    store,
    stateKey,
    url: settings.apiUrl,
    set,
    sourceExists: loaded.exists,
    sourceName: sourceName(
      path === '.' ? config.name : (path.replace(/\/+$/, '').split('/').at(-1) ?? path),
      config.environment,
    ),
    origin: { repository: config.repository.url, commit: loaded.commit.sha },
    regions: 'looked-up',
    createGraceMs: config.createGrace,
    nowMs: clock.wallMs,
    safetyLimits: config.brakes,
    holds: (plan) => {
      control.onPhase('applying', loaded.commit.sha)
      return holdsOf(plan, holdFacts)
    },
    org: memory.org?.org,
    runId,
    newId,
    approved: undefined,
    control: {
      isStopping: () =>
        control.stopReason() !== null ||
        (!mayOverrun && !windowStateAt(config.windows, clock.wallMs()).isOpen),
      isLost: () => control.stopReason() === 'lease-lost',
      onProgress: ({ done, total }) => control.onProgress(done, total),
    },
    sleep: control.sleep,
    onWait: () => {},
  })
}

/** A line `Pharos-Approve: DIGEST` below a commit message approves that digest, once. */
async function noteApprovals(
  { store, clock, settings }: SetContext,
  commit: Accepted['loaded']['commit'],
): Promise<void> {
  if (commit.approvals.length === 0) return
  // Every recorded run of this set has begun with this, and runs of the head are among the newest.
  const command = commandOf(settings)
  const runs = await store.runs(RUNS_KEPT)
  if (runs.some((run) => run.command === command && run.commitSha === commit.sha)) return
  const known = new Set((await store.events(EVENTS_KEPT)).map(({ type, message }) => `${type} ${message}`))
  for (const digest of commit.approvals) {
    const message = `${digest} by commit ${commit.sha}`
    if (known.has(`Approved ${message}`)) continue
    const at = new Date(clock.wallMs()).toISOString()
    await store.approve({ digest, actor: `commit ${commit.sha}`, at })
    await store.note([{ at, runId: null, key: null, type: 'Approved', severity: 'info', message }])
  }
}
