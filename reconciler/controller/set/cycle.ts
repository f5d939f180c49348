import type { Applied } from '../../apply/applySet.ts'
import { guardOrg } from '../../apply/buildPlan.ts'
import { countsOfApplied } from '../../render/appliedText.ts'
import { windowStateAt } from '../schedule/window.ts'
import type { Trigger } from '../status/status.ts'
import { applyCommit } from './applyCommit.ts'
import type { CycleControl } from './cycleControl.ts'
import {
  type CycleReport,
  type CycleResults,
  type CycleStart,
  exitCodeFor,
  outcomeFor,
} from './cycleReport.ts'
import { readSource } from './readSource.ts'
import { recordRun } from './recordRun.ts'
import { Ending, type SetContext, type SetMemory } from './setContext.ts'
import { handOver } from './transfer.ts'

/** Time for which a check of the organisation is valid (milliseconds). */
const ORG_MS = 3_600_000

type Progress = { -readonly [Part in keyof CycleResults]: CycleResults[Part] }

/**
 * One cycle: fetch, compile, plan, check limits, apply, record. A cycle without changes takes one request. Errors are in the
 * report; only bugs are thrown.
 */
export async function runCycle(
  context: SetContext,
  memory: SetMemory,
  trigger: Trigger,
  control: CycleControl,
): Promise<CycleReport> {
  const { clock, settings, newId, requests } = context
  const startedAtMs = clock.wallMs()
  const window = windowStateAt(settings.config.windows, startedAtMs)
  const start: CycleStart = { runId: newId(), trigger, startedAtMs, window }
  const requestsBefore = requests()
  const found: Progress = { source: null, applied: null, handedOver: [], memory, error: undefined }
  try {
    await reconcile(context, start, found, control)
  } catch (error) {
    // A requested stop is an outcome of the cycle, not an error.
    found.error = error instanceof Ending ? undefined : error
  }
  const exitCode = exitCodeFor(found, control.stopReason())
  const report = {
    ...start,
    ...found,
    finishedAtMs: clock.wallMs(),
    outcome: outcomeFor(exitCode, found, control.stopReason()),
    exitCode,
    counts: found.applied === null ? {} : countsOfApplied(found.applied),
    requests: requests() - requestsBefore,
  }
  return { ...report, memory: await recordRun(context, report) }
}

/** A cycle without its record; its results are in `found`, even if it throws. */
async function reconcile(
  context: SetContext,
  start: CycleStart,
  found: Progress,
  control: CycleControl,
): Promise<void> {
  control.onPhase('fetching', null)
  found.source = await readSource(context, found.memory, control.signal)
  const { accepted, baseline, head } = found.source
  if (head !== null) control.onHead(head)
  found.memory = { ...found.memory, accepted, baseline }
  if (accepted === null || control.stopReason() !== null) return
  const { commit } = accepted.loaded
  control.onPhase('planning', commit.sha)
  control.onCommit(commit, start.runId)
  found.memory = await withGuardedOrg(context, found.memory)
  found.handedOver = await handOver(context, found.source, start)
  found.applied = await applyCommit(context, { ...start, ...found, accepted, source: found.source }, control)
  found.error = found.applied.endedBy instanceof Ending ? undefined : found.applied.endedBy
  context.claims.settle(context.settings.config.name, servicesAfter(found.applied))
}

/** Checks at the start, hourly and after suspicious results that the key belongs to the organisation of the state. */
async function withGuardedOrg(context: SetContext, memory: SetMemory): Promise<SetMemory> {
  const { clock, client, store, settings } = context
  if (memory.org !== null && clock.nowMs() - memory.org.atMs < ORG_MS) return memory
  const org = await guardOrg({ client, store, url: settings.apiUrl })
  return { ...memory, org: { org, atMs: clock.nowMs() } }
}

/** The services of a set after `applied`, including planned ones. Pure. */
function servicesAfter({ planResult, outcomes }: Applied): ReadonlySet<string> {
  const ids = new Set([...planResult.bindings.values()].map(({ serviceId }) => serviceId))
  const ofOthers = new Set(
    planResult.limited.tripped.flatMap(({ brake, keys }) => (brake === 'otherSet' ? keys : [])),
  )
  for (const change of planResult.plan.changes)
    if ('id' in change && !ofOthers.has(change.key)) ids.add(change.id)
  for (const { change, result, serviceId } of outcomes) {
    const isRemoved = change.kind === 'prune' && change.how !== 'pause' && result === 'done'
    if (isRemoved) ids.delete(change.id)
    else if (serviceId !== null) ids.add(serviceId)
  }
  return ids
}
