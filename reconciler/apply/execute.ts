import { ApiError } from '../../api/contract/apiError.ts'
import { phaseOf } from '../plan/plan.ts'
import type { Change } from '../plan/planValue.ts'
import { type WriteInput, writeChange } from './changeWriter.ts'
import { intended, intentsOf, stepName } from './intents.ts'
import type { LiveWatch } from './liveWatch.ts'
import {
  type ChangeOutcome,
  certainlyNotExecuted,
  endsTheRun,
  IntentNotWritten,
  reasonOf,
} from './outcome.ts'
import { exceedsByItself, refusalOf } from './refusal.ts'

/** Changes executed in parallel: enough to use the whole rate at a latency of a second. */
export const IN_FLIGHT = 6
/** Changes and time between checkpoints, for stores that do not write at once. */
const CHECKPOINT_CHANGES = 50
const CHECKPOINT_MS = 30_000

/** The progress of a run. */
export interface Progress {
  readonly done: number
  readonly total: number
  /** Number of finished changes that did not succeed. */
  readonly failed: number
  /** Requests of the remaining changes. */
  readonly requestsLeft: number
}

/** Observes and stops a run. */
export interface RunControl {
  /** Whether no further change may start. */
  readonly isStopping: () => boolean
  /** Whether another run may have taken over the state: from then on no request may be sent. */
  readonly isLost: () => boolean
  readonly onProgress: (progress: Progress) => void
}

/** The results of all changes, and the error that ended the run early, if any. */
export interface Executed {
  readonly outcomes: readonly ChangeOutcome[]
  readonly endedBy: unknown
}

/** The mutable state of a run. */
interface Run {
  readonly writing: WriteInput
  readonly watch: LiveWatch
  readonly control: RunControl
  readonly outcomes: ChangeOutcome[]
  readonly total: number
  failed: number
  requestsLeft: number
  limitReached: boolean
  endedBy: unknown
  checkpointAtMs: number
  checkpointAfter: number
}

/**
 * Executes `changes` phase by phase, several in parallel within a phase. When the plan limit of the organisation rejects a
 * creation or a resume, no other one is tried until a removal has freed quota; then each is tried once more.
 */
export async function execute(
  writing: WriteInput,
  changes: readonly Change[],
  watch: LiveWatch,
  control: RunControl,
): Promise<Executed> {
  const run: Run = {
    writing,
    watch,
    control,
    outcomes: [],
    total: changes.length,
    requestsLeft: changes.reduce((sum, change) => sum + intentsOf(change, writing.planResult).length, 0),
    failed: 0,
    limitReached: false,
    endedBy: undefined,
    checkpointAtMs: writing.nowMs() + CHECKPOINT_MS,
    checkpointAfter: CHECKPOINT_CHANGES,
  }
  await beginAhead(run, changes)
  for (const phase of [0, 1, 2, 3, 4, 5, 6]) {
    const due = changes.filter((change) => phaseOf(change) === phase)
    await inParallel(due, (change) => one(run, change))
  }
  const hasFreedQuota = run.outcomes.some(
    ({ change, result }) => change.kind === 'prune' && result === 'done',
  )
  if (run.limitReached && hasFreedQuota) await retryLimited(run)
  await settleUnsent(run)
  return { outcomes: run.outcomes, endedBy: run.endedBy }
}

/** Records the intents of all changes, for stores in which one write for each costs too much. */
async function beginAhead(run: Run, changes: readonly Change[]): Promise<void> {
  const { store, planResult, runId, newId, nowMs, begun, lost } = run.writing
  if (!store.beginsAhead || run.control.isStopping()) return
  const intents = changes
    .flatMap((change) => intentsOf(change, planResult))
    .map((step) => ({ ...intended(step, lost, newId), runId, sentAtMs: nowMs() }))
  if (intents.length === 0) return
  try {
    await store.begin(intents)
    for (const intent of intents) begun.set(stepName(intent), intent.opId)
  } catch (error) {
    run.endedBy = new IntentNotWritten(error)
  }
}

/** Settles the intents that were recorded ahead and never sent, except those of lost creations. */
async function settleUnsent({ writing: { begun, lost, store } }: Run): Promise<void> {
  const sentEarlier = new Set([...lost.values()].map(({ opId }) => opId))
  try {
    for (const opId of begun.values()) if (!sentEarlier.has(opId)) await store.settle(opId, {})
  } catch {
    // The intents stay open, and the next run determines that they had no effect.
  }
  begun.clear()
}

async function retryLimited(run: Run): Promise<void> {
  const limited = run.outcomes.filter(({ result }) => result === 'limited')
  for (const outcome of limited) run.outcomes.splice(run.outcomes.indexOf(outcome), 1)
  run.limitReached = false
  run.failed -= limited.length
  // Their requests are sent once more.
  run.requestsLeft += limited.flatMap(({ change }) => intentsOf(change, run.writing.planResult)).length
  await inParallel(
    limited.map(({ change }) => change),
    (change) => one(run, change),
  )
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const next = items.values()
  const worker = async (): Promise<void> => {
    for (const item of next) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, items.length) }, worker))
}

async function one(run: Run, change: Change): Promise<void> {
  const outcome = await outcomeOf(run, change)
  run.outcomes.push(outcome)
  if (outcome.result !== 'done' && outcome.result !== 'skipped') run.failed += 1
  run.requestsLeft -= intentsOf(change, run.writing.planResult).length
  const { total, failed, requestsLeft, outcomes } = run
  run.control.onProgress({ done: outcomes.length, total, failed, requestsLeft })
  await checkpoint(run)
}

async function checkpoint(run: Run): Promise<void> {
  const { store, nowMs } = run.writing
  if (nowMs() < run.checkpointAtMs && run.outcomes.length < run.checkpointAfter) return
  run.checkpointAtMs = nowMs() + CHECKPOINT_MS
  run.checkpointAfter = run.outcomes.length + CHECKPOINT_CHANGES
  try {
    await store.checkpoint()
  } catch (error) {
    run.endedBy ??= error
  }
}

async function outcomeOf(run: Run, planned: Change): Promise<ChangeOutcome> {
  const outcome = (result: ChangeOutcome['result'], message: string, change = planned): ChangeOutcome => ({
    change,
    result,
    message,
    serviceId: 'id' in change ? change.id : null,
    notes: [],
  })
  const refused = (result: ChangeOutcome['result'], error: unknown): ChangeOutcome => {
    const refusal = refusalOf(error)
    return { ...outcome(result, reasonOf(error)), ...(refusal === undefined ? {} : { refusal }) }
  }
  if (run.endedBy !== undefined) return outcome('skipped', 'the run ended before this change')
  if (run.control.isStopping()) return outcome('skipped', INTERRUPTED)
  if (countsTowardsLimit(planned) && run.limitReached) return outcome('limited', LIMITED)
  const due = await run.watch.due(planned).catch((error: unknown) => {
    if (run.control.isStopping()) return { kind: 'stopped' as const }
    if (endsTheRun(error)) run.endedBy ??= error
    return { kind: 'stale' as const, message: `the services could not be listed again: ${reasonOf(error)}` }
  })
  try {
    if (due.kind === 'stopped') return outcome('skipped', INTERRUPTED)
    if (due.kind === 'stale') return outcome('stale', due.message)
    if (due.kind === 'settled') return { ...outcome('done', ''), notes: [NO_LONGER_DUE] }
    const { change, planResult } = due
    const written = await writeChange({ ...run.writing, planResult }, change)
    return { change, result: 'done', message: '', ...written }
  } catch (error) {
    if (countsTowardsLimit(planned) && isForbidden(error) && !exceedsByItself(error)) {
      run.limitReached = true
      return refused('limited', error)
    }
    if (endsTheRun(error)) run.endedBy ??= error
    if (planned.kind === 'create' && !certainlyNotExecuted(error)) return outcome('lost', reasonOf(error))
    return refused('failed', error)
  }
}

function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'forbidden'
}

const INTERRUPTED = 'interrupted before this change'
const LIMITED = 'not tried after an earlier refusal'
const NO_LONGER_DUE = 'no request was needed: the service changed meanwhile'

function countsTowardsLimit(change: Change): boolean {
  return change.kind === 'create' || (change.kind === 'update' && change.pausing === 'resume')
}
