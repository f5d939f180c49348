import type { Change, Plan, Prune, Update } from './planValue.ts'
import { environmentOf, isFile } from './sourceName.ts'

/** Maximum of one kind of change per run without approval: the greater of a count and a share of owned services. */
export interface SafetyLimit {
  readonly count: number
  readonly percent: number
}

/** The safety limits of one run. */
export interface SafetyLimits {
  readonly maxDeletes: SafetyLimit
  readonly maxUpdates: SafetyLimit
  readonly maxRecreates: SafetyLimit
}

/** Share of a set that the count of deletions may reach; a larger configured percentage is not limited by it. */
const COUNTED_DELETES_PERCENT = 50

/** Small sets are protected by the counts, large ones by the shares. */
export const DEFAULT_SAFETY_LIMITS: SafetyLimits = {
  maxDeletes: { count: 3, percent: 10 },
  maxUpdates: { count: 10, percent: 30 },
  maxRecreates: { count: 3, percent: 10 },
}

/** The source of the manifests. */
export interface SourceFacts {
  readonly exists: boolean
  readonly services: number
  readonly isValid: boolean
  /** Name of the folder or file and its environment, as returned by sourceName. */
  readonly name: string
  /** Name of the source last applied with this state; null when it is unknown. */
  readonly formerName: string | null
}

/** A suspension that is in force. */
export interface SuspensionFact {
  /** Name of a manifest; `*` matches any characters. */
  readonly scope: string
  readonly reason: string
  readonly actor: string
}

/** Inputs of the safety limits besides the plan. */
export interface LimitFacts extends SourceFacts {
  readonly liveServices: number
  /** Removals in the whole plan, when this plan is narrowed to some services; absent otherwise. */
  readonly removalsOfWhole?: number
  readonly suspensions: readonly SuspensionFact[]
  /** Safety limits that the caller adds. */
  readonly holds?: readonly TrippedLimit[] | undefined
}

/** All safety limits, as output and JSON name them; `docs/manifests.md` says when each blocks what. */
export const SAFETY_LIMIT_NAMES = [
  'maxDeletes',
  'maxUpdates',
  'maxHeals',
  'maxRecreates',
  'emptySource',
  'missingPath',
  'invalidSource',
  'emptyLive',
  'otherSource',
  'suspended',
  'suspectedServerChange',
  'historyRewritten',
  'windowClosed',
  'sourceUnavailable',
  'pruneOff',
  'otherSet',
] as const
export type SafetyLimitName = (typeof SAFETY_LIMIT_NAMES)[number]

/** A safety limit that blocks changes. An approvable one releases them when the plan's digest is approved. */
export interface TrippedLimit {
  readonly brake: SafetyLimitName
  readonly message: string
  readonly keys: readonly string[]
  readonly approvable: boolean
}

/** A plan divided into the changes to execute and the blocked ones, each in order. */
export interface LimitedPlan {
  readonly changes: readonly Change[]
  readonly withheld: readonly Change[]
  readonly tripped: readonly TrippedLimit[]
}

/**
 * Blocks changes that are more likely mistakes: too many deletions, updates or re-creations at once, and removals while
 * the source or the list of live services looks broken. Pure.
 */
export function applySafetyLimits(
  plan: Plan,
  facts: LimitFacts,
  policy: SafetyLimits = DEFAULT_SAFETY_LIMITS,
): LimitedPlan {
  const groups = groupsOf(plan)
  const tripped = [
    ...(facts.holds ?? []),
    ...facts.suspensions.map((suspension) => suspended(plan, suspension)),
    ...sourceLimits(groups.prunes, facts),
    ...otherSource(plan, facts.removalsOfWhole ?? groups.prunes.length, facts),
    ...(facts.liveServices === 0 && plan.owned > 0 ? emptyLive(groups, plan.owned) : []),
    ...suspectedServerChange(groups.heals, plan.owned),
    ...countLimits(groups, plan.owned, policy),
  ].filter((limit) => limit.keys.length > 0)
  const held = new Set(tripped.flatMap((limit) => limit.keys))
  return {
    changes: plan.changes.filter((change) => !held.has(change.key)),
    withheld: plan.changes.filter((change) => held.has(change.key)),
    tripped,
  }
}

function suspended(plan: Plan, { scope, reason, actor }: SuspensionFact): TrippedLimit {
  const touched = plan.changes.filter(({ kind }) => kind !== 'blocked' && kind !== 'drifted')
  const keys = touched.map(({ key }) => key).filter((key) => isInScope(key, scope))
  const message = `${actor} suspended ${scope === '*' ? 'everything' : scope}: ${reason}`
  return { brake: 'suspended', message, keys, approvable: false }
}

/** Whether `scope` covers the manifest `key`; `*` in it matches any characters. Pure. */
export function isInScope(key: string, scope: string): boolean {
  const pattern = scope.split('*').map((part) => part.replace(/[.\\^$+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${pattern.join('.*')}$`).test(key)
}

interface Groups {
  readonly prunes: readonly Prune[]
  readonly updates: readonly Change[]
  readonly heals: readonly Update[]
  readonly recreates: readonly Change[]
}

function groupsOf(plan: Plan): Groups {
  const updates = plan.changes.filter((change) => change.kind === 'update')
  const isHeal = (change: (typeof updates)[number]): boolean =>
    change.fields.every((field) => field.reason === 'drift')
  return {
    // A prune that only forgets a binding removes no service.
    prunes: plan.changes
      .filter((change) => change.kind === 'prune')
      .filter((prune) => prune.how !== 'forget'),
    updates: updates.filter((change) => !isHeal(change)),
    heals: updates.filter(isHeal),
    recreates: plan.changes.filter((change) => change.kind === 'create' && change.replacesLost !== null),
  }
}

function sourceLimits(prunes: readonly Prune[], facts: SourceFacts): readonly TrippedLimit[] {
  const keys = prunes.map((prune) => prune.key)
  if (!facts.exists) {
    const message = 'the path does not exist, so its services are not removed'
    return [{ brake: 'missingPath', message, keys, approvable: false }]
  }
  if (!facts.isValid) {
    const message = 'some manifests are invalid, so no service is removed'
    return [{ brake: 'invalidSource', message, keys, approvable: false }]
  }
  if (facts.services > 0) return []
  return [{ brake: 'emptySource', message: 'the source has no Service manifest', keys, approvable: true }]
}

/** The manifests seem to belong to another state. */
function otherSource(plan: Plan, removals: number, facts: SourceFacts): readonly TrippedLimit[] {
  const message =
    otherEnvironment(plan, facts) ?? fileOfFolder(plan, facts) ?? otherServices(plan, removals, facts)
  if (message === undefined) return []
  return [{ brake: 'otherSource', message, keys: plan.changes.map(({ key }) => key), approvable: true }]
}

/** Removals from which a source is suspected to be another set's even if its name is the same. */
const OTHER_SOURCE_PRUNES_MIN = 2

/** No manifest has an owned service and every owned service would be removed. */
function otherServices(plan: Plan, removals: number, facts: SourceFacts): string | undefined {
  if (plan.kept > 0 || removals === 0 || facts.services === 0) return undefined
  const isRenamed = facts.formerName !== null && facts.formerName !== facts.name
  if (!isRenamed && removals < OTHER_SOURCE_PRUNES_MIN) return undefined
  const former = facts.formerName === null ? '' : `, last applied from "${facts.formerName}",`
  return `the state${former} has no service of these manifests and would lose all of its services (${plan.owned}): use the state that belongs to "${facts.name}", or approve if "${facts.name}" replaces the others`
}

/** The manifests are compiled for another environment than the services of this state. */
function otherEnvironment({ owned }: Plan, { name, formerName }: SourceFacts): string | undefined {
  if (formerName === null || owned === 0) return undefined
  const [former, now] = [environmentOf(formerName), environmentOf(name)]
  if (former === now) return undefined
  return `the state was last applied with ${former}, and this is ${now}: use the state of that environment, or approve if it replaces the other one`
}

/** The state belongs to a folder, and the manifests are one file, without the other manifests and the Defaults. */
function fileOfFolder({ owned }: Plan, { name, formerName }: SourceFacts): string | undefined {
  if (formerName === null || owned === 0 || isFile(formerName) || !isFile(name)) return undefined
  return `the state was last applied from "${formerName}", and "${name}" is one file, without the other manifests and Defaults: name the folder, with --target for some of its services, or approve if the file replaces it`
}

function emptyLive(groups: Groups, owned: number): readonly TrippedLimit[] {
  const keys = groups.recreates.map((change) => change.key)
  const message = `the organisation has no services, but the state has ${owned}: check the address and the API key, or approve if they were deleted`
  return [{ brake: 'emptyLive', message, keys, approvable: true }]
}

/** More services than this with the same difference were not changed by hand. */
const SAME_DRIFT: SafetyLimit = { count: 10, percent: 20 }

/** Many services differ in the same fields: the API has probably changed how it shows them. */
function suspectedServerChange(heals: readonly Update[], owned: number): readonly TrippedLimit[] {
  const alike = new Map<string, string[]>()
  for (const { key, fields } of heals) {
    const pointers = fields
      .map(({ pointer }) => pointer)
      .sort()
      .join(',')
    alike.set(pointers, [...(alike.get(pointers) ?? []), key])
  }
  const most = Math.max(SAME_DRIFT.count, Math.floor((owned * SAME_DRIFT.percent) / 100))
  return [...alike].flatMap(([pointers, keys]): readonly TrippedLimit[] => {
    if (keys.length <= most) return []
    const message = `${keys.length} of ${owned} services changed in the same fields, so the API may have changed how it shows them: "pharos approve --pointers ${pointers}" records the present values, approving the digest puts the old ones back`
    return [{ brake: 'suspectedServerChange', message, keys, approvable: true }]
  })
}

function countLimits(groups: Groups, owned: number, policy: SafetyLimits): readonly TrippedLimit[] {
  const { maxDeletes, maxUpdates, maxRecreates } = policy
  const deletes = groups.prunes.filter((prune) => prune.how !== 'detach')
  // Three deletions in a set of four are within a count of three, but remove nearly the whole set.
  const counted = Math.min(maxDeletes.count, Math.ceil((owned * COUNTED_DELETES_PERCENT) / 100))
  const limits = [
    ['maxDeletes', 'deletion', 'deletions', deletes, { ...maxDeletes, count: counted }],
    ['maxUpdates', 'update from git', 'updates from git', groups.updates, maxUpdates],
    ['maxHeals', 'update that undoes drift', 'updates that undo drift', groups.heals, maxUpdates],
    ['maxRecreates', 're-creation', 're-creations', groups.recreates, maxRecreates],
  ] as const
  return limits.flatMap(([brake, one, several, changes, { count, percent }]) => {
    const most = Math.max(count, Math.floor((owned * percent) / 100))
    if (changes.length <= most) return []
    const what = changes.length === 1 ? one : several
    const message = `${changes.length} ${what} of ${owned} ${owned === 1 ? 'service' : 'services'}: more than ${most} need approval`
    return [{ brake, message, keys: changes.map((change) => change.key), approvable: true }]
  })
}

/** Keys blocked by a safety limit that an approval releases. Pure. */
export function approvableKeys({ tripped }: LimitedPlan): ReadonlySet<string> {
  return new Set(tripped.filter(({ approvable }) => approvable).flatMap(({ keys }) => keys))
}

/** The `approvableKeys` that no other safety limit blocks as well: an approval releases them now. Pure. */
export function releasedKeys(limited: LimitedPlan): ReadonlySet<string> {
  const others = new Set(limited.tripped.filter(({ approvable }) => !approvable).flatMap(({ keys }) => keys))
  return new Set([...approvableKeys(limited)].filter((key) => !others.has(key)))
}
