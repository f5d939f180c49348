import { ApiError } from '../../api/contract/apiError.ts'
import { phaseOf } from '../plan/plan.ts'
import type { Change } from '../plan/planValue.ts'
import { type Writing, writeChange } from './changeWriter.ts'
import { type ChangeOutcome, certainlyNotExecuted, endsTheRun, reasonOf } from './outcome.ts'

/** Changes that are under way at the same time: enough to use the whole rate at a latency of a second. */
const IN_FLIGHT = 6

/** How a run is watched and stopped. */
export interface RunControl {
  /** Whether no further change may start. */
  readonly isStopping: () => boolean
  readonly onProgress: (done: number, total: number) => void
}

/** What became of all changes, and the error that ended the run early if one did. */
export interface CarriedOut {
  readonly outcomes: readonly ChangeOutcome[]
  readonly endedBy: unknown
}

interface RunState {
  readonly outcomes: ChangeOutcome[]
  readonly total: number
  limitReached: boolean
  endedBy: unknown
}

/**
 * Carries out `changes` phase by phase, several at a time within a phase. After the first refusal of a
 * creation or a resume for the plan's limits no other is tried, until a removal made room; then each is
 * tried once more.
 */
export async function carryOut(
  writing: Writing,
  changes: readonly Change[],
  control: RunControl,
): Promise<CarriedOut> {
  const run: RunState = { outcomes: [], total: changes.length, limitReached: false, endedBy: undefined }
  for (const phase of [0, 1, 2, 3, 4, 5, 6]) {
    const due = changes.filter((change) => phaseOf(change) === phase)
    await inParallel(due, (change) => one(writing, change, control, run))
  }
  const madeRoom = run.outcomes.some(({ change, result }) => change.kind === 'prune' && result === 'done')
  if (run.limitReached && madeRoom) await retryLimited(writing, control, run)
  return { outcomes: run.outcomes, endedBy: run.endedBy }
}

async function retryLimited(writing: Writing, control: RunControl, run: RunState): Promise<void> {
  const limited = run.outcomes.filter(({ result }) => result === 'limited')
  for (const outcome of limited) run.outcomes.splice(run.outcomes.indexOf(outcome), 1)
  run.limitReached = false
  await inParallel(
    limited.map(({ change }) => change),
    (change) => one(writing, change, control, run),
  )
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items]
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, items.length) }, worker))
}

async function one(writing: Writing, change: Change, control: RunControl, run: RunState): Promise<void> {
  run.outcomes.push(await outcomeOf(writing, change, control, run))
  control.onProgress(run.outcomes.length, run.total)
}

async function outcomeOf(
  writing: Writing,
  change: Change,
  control: RunControl,
  run: RunState,
): Promise<ChangeOutcome> {
  const outcome = (result: ChangeOutcome['result'], message: string): ChangeOutcome => ({
    change,
    result,
    message,
    serviceId: 'id' in change ? change.id : null,
    notes: [],
  })
  if (run.endedBy !== undefined) return outcome('skipped', 'the run ended before its turn')
  if (control.isStopping()) return outcome('skipped', 'interrupted before its turn')
  if (needsRoom(change) && run.limitReached) return outcome('limited', LIMITED)
  try {
    return { change, result: 'done', message: '', ...(await writeChange(writing, change)) }
  } catch (error) {
    if (needsRoom(change) && error instanceof ApiError && error.code === 'forbidden') {
      run.limitReached = true
      return outcome('limited', reasonOf(error))
    }
    if (endsTheRun(error)) run.endedBy = error
    if (change.kind === 'create' && !certainlyNotExecuted(error)) return outcome('lost', reasonOf(error))
    return outcome('failed', reasonOf(error))
  }
}

const LIMITED = 'not tried: the plan of the organisation has no room for it'

function needsRoom(change: Change): boolean {
  return change.kind === 'create' || (change.kind === 'update' && change.pausing === 'resume')
}
