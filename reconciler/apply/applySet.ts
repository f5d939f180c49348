import type { ServiceClient } from '../../api/client/client.ts'
import type { ChangeSource } from '../../api/contract/changeSource.ts'
import type { Org } from '../../api/contract/org.ts'
import type { Binding } from '../plan/binding.ts'
import type { OpenCreate } from '../plan/createResolution.ts'
import type { Blocked, Change } from '../plan/planValue.ts'
import { ExpectedFailure } from '../run/failure.ts'
import type { OpenIntent } from '../state/model/record.ts'
import type { StateStore } from '../state/model/store.ts'
import { isReleasable, withApproval } from './approval.ts'
import { buildPlan, guardOrg, isOtherSource } from './buildPlan.ts'
import { type Executed, execute, type RunControl } from './execute.ts'
import { LiveWatch } from './liveWatch.ts'
import type { ChangeOutcome } from './outcome.ts'
import type { PlanInput, PlanResult } from './planResult.ts'

/** The inputs of an apply. */
export interface ApplyInput extends PlanInput {
  readonly client: ServiceClient
  /** The run holds its lease. */
  readonly store: StateStore
  readonly runId: string
  readonly newId: () => string
  /** The organisation of the key, if it was just checked by guardOrg; saves a request. */
  readonly org?: Org | undefined
  /** Digest of the blocked changes that the user approves. */
  readonly approved: string | undefined
  /** The commit that is applied, and the digests that its message approves. */
  readonly commit?: { readonly sha: string; readonly approvals: readonly string[] }
  /** The source of the manifests, for the history of the services; absent when unknown. */
  readonly origin?: Pick<ChangeSource, 'repository' | 'commit'> | undefined
  /** Checks the plan before the first write; its error ends the run. */
  readonly review?: ((planResult: PlanResult) => Promise<void>) | undefined
  readonly control: RunControl
  /** Resolves after `delayMs`, or at once when the run is to stop. */
  readonly sleep: (delayMs: number) => Promise<void>
  readonly onWait: (waitMs: number) => void
}

/** The result of an apply. */
export interface Applied {
  readonly planResult: PlanResult
  readonly outcomes: readonly ChangeOutcome[]
  readonly blocked: readonly Blocked[]
  /** What became of the approval with `--approve`; null without one. */
  readonly approval: ApprovalResult | null
  /** The error that ended the run early; `undefined` for none. */
  readonly endedBy: unknown
}

/**
 * `notNeeded`: no change was blocked that an approval can release; `noMatch`: the digest is that of other changes;
 * `stillBlocked`: it matches, but other safety limits block the same changes.
 */
export type ApprovalResult = 'used' | 'notNeeded' | 'noMatch' | 'stillBlocked'

/** The API key has the scope read_only. */
export class ReadOnlyKey extends ExpectedFailure {
  override readonly name = 'ReadOnlyKey'
  readonly code = 'E_READ_ONLY_KEY'
}

/** Throws ReadOnlyKey when the key of `org` is read-only. */
export function requireWriteScope(org: Org): void {
  if (org.scope === 'read_only')
    throw new ReadOnlyKey('the API key is read-only: apply needs one with scope read_write')
}

/** Maximum of attempts of one run to resolve creations whose responses were lost. */
const ROUNDS_MAX = 3

/**
 * Applies the manifests to the services. Before the first write it throws OrgMismatch, ReadOnlyKey and errors of the
 * client; from then on the result contains every error.
 */
export async function applySet(input: ApplyInput): Promise<Applied> {
  const org = input.org ?? (await guardOrg(input))
  requireWriteScope(org)
  const found = await buildPlan(input)
  await input.review?.(found)
  const planResult = await approved(found, input)
  const source = isOtherSource(planResult) ? null : input.sourceName
  await input.store.settleIn({ orgId: org.id, url: input.url, source })
  const first = await executeIn(input, planResult, planResult.limited.changes)
  const outcomes = new Map(first.outcomes.map((outcome) => [outcome.change.key, outcome]))
  let blocked = blockedIn(planResult)
  let { endedBy } = first
  const waiting = new Set(planResult.resolution.unsettled.map(({ key }) => key))
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    if (endedBy !== undefined || input.control.isStopping()) break
    const undecided = new Set(blocked.filter((one) => one.needsDecision).map((one) => one.key))
    // The others were left out, or blocked by a safety limit.
    const isDue = ({ key, runId }: OpenIntent): boolean => waiting.has(key) || runId === input.runId
    const open = (await input.store.openIntents()).filter(
      (intent) => intent.kind === 'create' && !undecided.has(intent.key) && isDue(intent),
    )
    try {
      const retried = await resolveAgain(input, open)
      if (retried === null) break
      blocked = retried.blocked
      for (const outcome of retried.outcomes) outcomes.set(outcome.change.key, outcome)
      endedBy = retried.endedBy
    } catch (error) {
      // The result keeps the earlier outcomes, and the intents stay open for the next run.
      endedBy = error
    }
  }
  const approval = input.approved === undefined ? null : approvalResult(input.approved, found, planResult)
  return { planResult, outcomes: [...outcomes.values()], blocked, approval, endedBy }
}

/** `planResult` with the approval of `--approve`, the commit or the state. An approval of the state is used up. */
async function approved(planResult: PlanResult, input: ApplyInput): Promise<PlanResult> {
  const { digest } = planResult
  // A stored approval is kept while other safety limits block the same changes.
  if (digest === null || !isReleasable(planResult)) return planResult
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

function approvalResult(digest: string, found: PlanResult, planResult: PlanResult): ApprovalResult {
  if (found.digest === null) return 'notNeeded'
  if (planResult.digest === null) return 'used'
  return digest === found.digest ? 'stillBlocked' : 'noMatch'
}

async function executeIn(
  input: ApplyInput,
  planResult: PlanResult,
  changes: readonly Change[],
): Promise<Executed> {
  const lost = await settleIntents(input.store, planResult)
  const replan = (): Promise<PlanResult> =>
    buildPlan({ ...input, regions: 'trusted', runUnderWay: input.runId })
  const watch = new LiveWatch(planResult, replan, { nowMs: input.nowMs, replans: input.review === undefined })
  const writing = { ...input, planResult, begun: new Map(), lost, isLost: input.control.isLost }
  return execute(writing, actionable(changes), watch, input.control)
}

function actionable(changes: readonly Change[]): readonly Change[] {
  return changes.filter((change) => change.kind !== 'blocked' && change.kind !== 'drifted')
}

function blockedIn(planResult: PlanResult): readonly Blocked[] {
  return planResult.limited.changes.filter((change) => change.kind === 'blocked')
}

/**
 * Records the results of lost requests. For all but creations the current plan has everything that is still due. Returns the
 * lost creations that are to be sent again, by key: their intents stay open until then, even if this run leaves them out.
 */
async function settleIntents(
  store: StateStore,
  { bindings, desired, resolution, services }: PlanResult,
): Promise<ReadonlyMap<string, OpenCreate>> {
  for (const intent of await store.openIntents()) {
    if (intent.kind !== 'create') await store.settle(intent.opId, {})
  }
  for (const { opId, binding } of resolution.recovered) await store.settle(opId, { put: binding })
  const ids = new Set(services.map(({ id }) => id))
  const isMissing = (key: string): boolean => desired.has(key) && !ids.has(bindings.get(key)?.serviceId ?? '')
  const lost = resolution.void.filter(({ key, mayStillLand }) => mayStillLand && isMissing(key))
  for (const create of resolution.void) if (!lost.includes(create)) await store.settle(create.opId, {})
  return new Map(lost.map((create) => [create.key, create]))
}

/** Waits until the results of lost creations are certain, plans again, and executes the changes of their keys. */
async function resolveAgain(
  input: ApplyInput,
  open: readonly OpenIntent[],
): Promise<Pick<Applied, 'outcomes' | 'blocked' | 'endedBy'> | null> {
  if (open.length === 0) return null
  const nowMs = input.nowMs()
  const waiting = open.filter(({ mayStillLand }) => mayStillLand)
  // The clock was set back, or was that of another machine: the grace begins again.
  const early = waiting.filter(({ sentAtMs }) => sentAtMs > nowMs)
  if (early.length > 0) await input.store.begin(early.map((intent) => ({ ...intent, sentAtMs: nowMs })))
  const sentAtMs = Math.max(...waiting.map((intent) => Math.min(intent.sentAtMs, nowMs)))
  const waitMs = sentAtMs + input.createGraceMs - nowMs
  if (waitMs > 0) {
    input.onWait(waitMs)
    await input.sleep(waitMs)
    if (input.control.isStopping()) return null
  }
  const keys = new Set(open.map((intent) => intent.key))
  const planResult = await buildPlan(input)
  const due = planResult.limited.changes.filter((change) => keys.has(change.key))
  const { outcomes, endedBy } = await executeIn(input, planResult, due)
  const recovered = planResult.resolution.recovered.flatMap(({ binding }) =>
    recoveredOutcome(binding, planResult),
  )
  return { outcomes: [...recovered, ...outcomes], blocked: blockedIn(planResult), endedBy }
}

/** A lost creation whose service was found counts as done. */
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
  const notes = ['the response was lost, but the service was created']
  return [{ change, result: 'done', message: '', serviceId, notes }]
}
