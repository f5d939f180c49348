import type { ServiceClient } from '../../api/client/client.ts'
import type { ChangeSource } from '../../api/contract/changeSource.ts'
import type { Org } from '../../api/contract/org.ts'
import type { Binding } from '../plan/binding.ts'
import type { Blocked, Change } from '../plan/planValue.ts'
import { ExpectedFailure } from '../run/failure.ts'
import type { OpenIntent, StateStore } from '../state/model/store.ts'
import { isOpened, withApproval } from './approval.ts'
import { buildPlan, guardOrg, isOtherSource } from './buildPlan.ts'
import { type Executed, execute, type RunControl } from './execute.ts'
import { LiveWatch } from './liveWatch.ts'
import type { ChangeOutcome } from './outcome.ts'
import type { PlanInput, PlanResult } from './planResult.ts'

/** What an apply is given. */
export interface ApplyInput extends PlanInput {
  readonly client: ServiceClient
  /** Whose lease the run holds. */
  readonly store: StateStore
  readonly runId: string
  readonly newId: () => string
  /** The organisation of the key, where it was guarded lately: a request less. */
  readonly org?: Org | undefined
  /** Digest of the blocked changes that the user approves. */
  readonly approved: string | undefined
  /** The commit that is applied, and the digests that its message approves. */
  readonly commit?: { readonly sha: string; readonly approvals: readonly string[] }
  /** Where the manifests come from, for the history of the services; absent when that is not known. */
  readonly origin?: Pick<ChangeSource, 'repository' | 'commit'> | undefined
  /** Runs before the first write of an apply that is bound to a reviewed plan; what it throws ends the run. */
  readonly review?: ((planResult: PlanResult) => Promise<void>) | undefined
  readonly control: RunControl
  /** Resolves after `delayMs`, or at once when the run is to stop. */
  readonly sleep: (delayMs: number) => Promise<void>
  readonly onWait: (waitMs: number) => void
}

/** What an apply did. */
export interface Applied {
  readonly planResult: PlanResult
  readonly outcomes: readonly ChangeOutcome[]
  /** Keys for which nothing could be done. */
  readonly blocked: readonly Blocked[]
  /** The error that ended the run early, `undefined` when none did. */
  readonly endedBy: unknown
}

/** The key may only read: an apply stops after that one request. */
export class ReadOnlyKey extends ExpectedFailure {
  override readonly name = 'ReadOnlyKey'
  readonly code = 'E_READ_ONLY_KEY'
}

/** Throws ReadOnlyKey when the key of `org` may change nothing. */
export function requireWriteScope(org: Org): void {
  if (org.scope === 'read_only')
    throw new ReadOnlyKey('the API key is read-only: apply needs one with scope read_write')
}

/** How often a run looks again for creations whose answers were lost. */
const ROUNDS_MAX = 3

/**
 * Makes the services as the manifests say. Throws OrgMismatch, ReadOnlyKey and what the client throws before
 * the first write; from then on everything that happens is in the result.
 */
export async function applySet(input: ApplyInput): Promise<Applied> {
  const org = input.org ?? (await guardOrg(input))
  requireWriteScope(org)
  const found = await buildPlan(input)
  await input.review?.(found)
  const planResult = await approved(found, input)
  const source = isOtherSource(planResult) ? null : input.sourceName
  await input.store.settleIn({ orgId: org.id, url: input.url, source })
  await settleIntents(input.store, planResult)
  const first = await executeIn(input, planResult, planResult.braked.changes)
  const outcomes = new Map(first.outcomes.map((outcome) => [outcome.change.key, outcome]))
  let blocked = blockedIn(planResult)
  let { endedBy } = first
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    if (endedBy !== undefined || input.control.isStopping()) break
    const undecided = new Set(blocked.filter((one) => one.needsDecision).map((one) => one.key))
    const open = (await input.store.openIntents()).filter(
      (intent) => intent.kind === 'create' && !undecided.has(intent.key),
    )
    try {
      const retried = await resolveAgain(input, open)
      if (retried === null) break
      blocked = retried.blocked
      for (const outcome of retried.outcomes) outcomes.set(outcome.change.key, outcome)
      endedBy = retried.endedBy
    } catch (error) {
      // What was done before is in the result all the same, and the intents stay open for the next run.
      endedBy = error
    }
  }
  return { planResult, outcomes: [...outcomes.values()], blocked, endedBy }
}

/** `planResult` with what `--approve`, the commit or a stored approval approves. A stored one is used up. */
async function approved(planResult: PlanResult, input: ApplyInput): Promise<PlanResult> {
  const { digest } = planResult
  // A stored one that would let nothing through yet, because something else holds that back, is kept.
  if (digest === null || !isOpened(planResult)) return planResult
  if (input.approved !== undefined) return withApproval(planResult, input.approved)
  const { commit, runId, store } = input
  if (commit?.approvals.includes(digest) === true) {
    const at = new Date(input.nowMs()).toISOString()
    const message = `${digest} by commit ${commit.sha}`
    await store.note([{ at, runId, key: null, type: 'Approved', severity: 'info', message }])
    return withApproval(planResult, digest)
  }
  return (await store.useApproval(digest)) ? withApproval(planResult, digest) : planResult
}

function executeIn(input: ApplyInput, planResult: PlanResult, changes: readonly Change[]): Promise<Executed> {
  const look = (): Promise<PlanResult> =>
    buildPlan({ ...input, regions: 'trusted', runUnderWay: input.runId })
  const watch = new LiveWatch(planResult, look, { nowMs: input.nowMs, replans: input.review === undefined })
  const writing = { ...input, planResult, begun: new Map(), isLost: input.control.isLost }
  return execute(writing, actionable(changes), watch, input.control)
}

function actionable(changes: readonly Change[]): readonly Change[] {
  return changes.filter((change) => change.kind !== 'blocked' && change.kind !== 'drifted')
}

function blockedIn(planResult: PlanResult): readonly Blocked[] {
  return planResult.braked.changes.filter((change) => change.kind === 'blocked')
}

/** Writes down what was found out of lost requests. All but creations need nothing but the present plan. */
async function settleIntents(store: StateStore, planResult: PlanResult): Promise<void> {
  for (const intent of await store.openIntents()) {
    if (intent.kind !== 'create') await store.settle(intent.opId, {})
  }
  for (const { opId, binding } of planResult.resolution.recovered) await store.settle(opId, { put: binding })
  for (const opId of planResult.resolution.void) await store.settle(opId, {})
}

/** Waits until the result of lost creations is certain, plans again, and executes what is then due for their keys. */
async function resolveAgain(
  input: ApplyInput,
  open: readonly OpenIntent[],
): Promise<Pick<Applied, 'outcomes' | 'blocked' | 'endedBy'> | null> {
  if (open.length === 0) return null
  const landed = open.map((intent) => (intent.mayStillLand ? intent.sentAtMs + input.createGraceMs : 0))
  const waitMs = Math.max(...landed) - input.nowMs()
  if (waitMs > 0) {
    input.onWait(waitMs)
    await input.sleep(waitMs)
    if (input.control.isStopping()) return null
  }
  const keys = new Set(open.map((intent) => intent.key))
  const planResult = await buildPlan(input)
  await settleIntents(input.store, planResult)
  const due = planResult.braked.changes.filter((change) => keys.has(change.key))
  const { outcomes, endedBy } = await executeIn(input, planResult, due)
  const recovered = planResult.resolution.recovered.flatMap(({ binding }) =>
    recoveredOutcome(binding, planResult),
  )
  return { outcomes: [...recovered, ...outcomes], blocked: blockedIn(planResult), endedBy }
}

/** A creation that turned out to have happened counts as done. */
function recoveredOutcome({ key, serviceId }: Binding, planResult: PlanResult): readonly ChangeOutcome[] {
  const desired = planResult.desired.get(key)
  if (desired === undefined) return []
  const change = {
    kind: 'create',
    key,
    desired: desired.canonical,
    paused: false,
    replacesLost: null,
  } as const
  const notes = ['its answer was lost, but the service is there']
  return [{ change, result: 'done', message: '', serviceId, notes }]
}
