import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import type { Change } from '../plan/planValue.ts'
import type { StateKey } from '../state/stateKey.ts'
import type { Chosen } from './applySet.ts'
import { liveMark } from './liveMark.ts'
import type { ChangeOutcome } from './outcome.ts'
import { isOtherSource, type Situation } from './situation.ts'

/** Where a plan belongs: to no other organisation, state or folder is it applied. */
export interface PlanHome {
  readonly orgId: string
  readonly url: string
  /** Null where there was no state yet. */
  readonly stateId: string | null
  readonly sourceName: string
}

const savedPlanSchema = z.strictObject({
  version: z.literal(1),
  madeAt: z.string(),
  home: z.strictObject({
    orgId: z.string(),
    url: z.string(),
    stateId: z.string().nullable(),
    sourceName: z.string(),
  }),
  /** What each change did and what its service was, as a hash: nothing of either, least of all a secret. */
  changes: z.array(z.strictObject({ key: z.string(), kind: z.string(), mark: z.string() })),
  seal: z.strictObject({ by: z.enum(['state key', 'hash']), value: z.string() }),
})
type SavedPlan = z.output<typeof savedPlanSchema>

/** The saved plan cannot be used, or with `stale` is no longer what would be done. The message says what to do. */
export class SavedPlanError extends Error {
  override readonly name = 'SavedPlanError'
  readonly reason: 'unusable' | 'stale'

  constructor(message: string, reason: SavedPlanError['reason'] = 'unusable') {
    super(message)
    this.reason = reason
  }
}

/**
 * What `situation` would do, as a text to be kept and handed to an apply: hashes only. It is sealed with the
 * key of the state, or where there is none yet with a hash that only shows damage.
 */
export function savedPlanText(
  situation: Situation,
  home: PlanHome,
  stateKey: StateKey | undefined,
  madeAt: string,
): string {
  const plan: Omit<SavedPlan, 'seal'> = {
    version: 1,
    madeAt,
    home: { ...home },
    changes: situation.braked.changes
      .filter(({ kind }) => kind !== 'blocked' && kind !== 'drifted')
      .map((change) => ({ key: change.key, kind: change.kind, mark: markOf(change, situation) })),
  }
  return `${JSON.stringify({ ...plan, seal: sealOf(plan, stateKey) }, null, 2)}\n`
}

/** The saved plan `text`. Throws SavedPlanError when it was changed or belongs elsewhere. */
export function readSavedPlan(text: string, home: PlanHome, stateKey: StateKey | undefined): SavedPlan {
  const parsed = savedPlanSchema.safeParse(parsedJson(text))
  if (!parsed.success)
    throw new SavedPlanError('the saved plan is none of this version of pharos: plan again')
  const { seal, ...plan } = parsed.data
  const expected = sealOf(plan, seal.by === 'hash' ? undefined : stateKey)
  if (expected.by !== seal.by || !sameText(expected.value, seal.value)) {
    throw new SavedPlanError('the saved plan was changed, or sealed with another state key: plan again')
  }
  if (plan.home.orgId !== home.orgId) {
    throw new SavedPlanError(
      `the saved plan was made for organisation ${plan.home.orgId}, but the API key belongs to ${home.orgId}`,
    )
  }
  if (plan.home.stateId !== home.stateId) {
    throw new SavedPlanError(
      'the saved plan was made with another state, or before there was one: plan again',
    )
  }
  if (plan.home.sourceName !== home.sourceName) {
    throw new SavedPlanError(`the saved plan was made for "${plan.home.sourceName}"`)
  }
  return parsed.data
}

/**
 * Of what is to be done now, what `saved` said already: a change whose manifest or service is another one
 * since, and one that was not planned, is left out. With `strict` either throws SavedPlanError instead.
 */
export function chosenBy(saved: SavedPlan, situation: Situation, isStrict: boolean): Chosen {
  const marks = new Map(saved.changes.map(({ key, mark }) => [key, mark]))
  const due = situation.braked.changes.filter(({ kind }) => kind !== 'blocked' && kind !== 'drifted')
  const isPlanned = (change: Change): boolean => marks.get(change.key) === markOf(change, situation)
  const leftOut = due.filter((change) => !isPlanned(change))
  if (isStrict && (leftOut.length > 0 || isOtherSource(situation))) {
    const keys = leftOut
      .map(({ key }) => key)
      .sort()
      .join(', ')
    throw new SavedPlanError(
      `PLAN_STALE: changed since the plan was made: ${keys}; nothing was done`,
      'stale',
    )
  }
  return { changes: due.filter(isPlanned), leftOut: leftOut.map((change) => stale(change, marks)) }
}

function stale(change: Change, marks: ReadonlyMap<string, string>): ChangeOutcome {
  const message = marks.has(change.key)
    ? 'its manifest or its service changed since the plan was made: plan again'
    : 'the saved plan has nothing for it: plan again'
  const serviceId = 'id' in change ? change.id : null
  return { change, result: 'stale', serviceId, message, notes: [] }
}

/** A hash of `change` and of its service as it is. Marks of secrets are left out: each run reads secrets anew. */
function markOf(change: Change, situation: Situation): string {
  const text = JSON.stringify(change, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith('hmac:') ? 'secret' : value,
  )
  return createHash('sha256')
    .update(`${text}\n${liveMark(change, situation)}`)
    .digest('hex')
}

function sealOf(plan: Omit<SavedPlan, 'seal'>, stateKey: StateKey | undefined): SavedPlan['seal'] {
  const text = JSON.stringify(plan)
  if (stateKey === undefined) return { by: 'hash', value: createHash('sha256').update(text).digest('hex') }
  const value = createHmac('sha256', stateKey).update(`pharos saved plan\n${text}`).digest('hex')
  return { by: 'state key', value }
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
