import { formatDuration } from '../../api/contract/duration.ts'
import { visible } from '../../api/contract/visibleText.ts'
import { isReleasable } from '../apply/approval.ts'
import type { PlanResult } from '../apply/planResult.ts'
import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import type { Change, PlannedField, Prune } from '../plan/planValue.ts'
import { counted, quoted } from '../text/counts.ts'
import { fieldText, leafText } from '../text/fieldText.ts'
import type { Output } from '../text/output.ts'

type Paint = Output['paint']

/** The parts of a plan's result that are shown. */
export type ShownPlan = Pick<PlanResult, 'plan' | 'limited' | 'digest'> & {
  /** Result of planDigestOf; absent when no plan is shown for review. */
  readonly planDigest?: string | null
}

/**
 * A plan as text: the change of each service with its reason, then changes blocked by safety limits, then the counts, including
 * `problems` of the manifests. Pure.
 */
export function planLines(
  planResult: ShownPlan,
  paint: Paint,
  problems: readonly ManifestProblem[] = [],
): readonly string[] {
  const { limited, digest } = planResult
  const lines = [...changesText(limited.changes, paint)]
  if (limited.withheld.length > 0) {
    lines.push('', paint.yellow('Blocked by safety limits:'))
    lines.push(...changesText(limited.withheld, paint))
    lines.push(...limited.tripped.map((limit) => paint.yellow(`  ${limit.brake}: ${visible(limit.message)}`)))
  }
  if (isReleasable(planResult)) lines.push(`  to approve: pharos apply … --approve ${digest}`)
  if (lines.length > 0) lines.push('')
  if (planResult.planDigest !== undefined) lines.push(planDigestText(planResult.planDigest))
  return [...lines, summaryLine(planResult, problems)]
}

/** The line with the digest of a plan. Pure. */
export function planDigestText(digest: string | null): string {
  if (digest === null) return 'Digest: none, because a change needs a secret that is not available here'
  return `Digest: ${digest}`
}

/** The changes with their reasons, a line for each change and one for each of its fields. Pure. */
export function changesText(changes: readonly Change[], paint: Paint): readonly string[] {
  return changes.flatMap((change) => changeLines(change, paint))
}

function changeLines(change: Change, paint: Paint): readonly string[] {
  switch (change.kind) {
    case 'create':
      return createLines(change, paint)
    case 'update':
      return [
        paint.yellow(`  ~ ${change.key}: ${updateWord(change)}${renamed(change.renamedFrom)}`),
        ...change.shown.map((field) => `      ${fieldText(field)}  ${paint.dim(`(${reasonText(field)})`)}`),
      ]
    case 'record':
      return [
        paint.cyan(
          `  = ${change.key}: remember service ${change.id}, no request${renamed(change.renamedFrom)}`,
        ),
      ]
    case 'prune':
      return [pruneLine(change, paint)]
    case 'drifted':
      return [
        paint.magenta(`  ! ${change.key}: ${driftedText(change)}`),
        ...change.shown.map((field) => `      ${fieldText({ ...field, from: field.to, to: field.from })}`),
      ]
    case 'blocked':
      return [paint.red(`  x ${change.key}: ${visible(`${change.message} (${change.hint})`)}`)]
  }
}

function createLines(change: Extract<Change, { kind: 'create' }>, paint: Paint): readonly string[] {
  const { desired, paused, replacesLost } = change
  const every = formatDuration({ secs: desired.interval_secs, nanos: 0 })
  const what = `${quoted(desired.name)}, ${counted(desired.endpoints.length, 'endpoint')} from ${visible(desired.regions.join(', '))} every ${every}`
  const lost =
    replacesLost === null
      ? ''
      : ` (deleted outside: it gets a new id; incidents and status pages keep ${replacesLost})`
  return [
    paint.green(`  + ${change.key}: create ${what}${paused ? ', paused' : ''}${lost}`),
    ...desired.endpoints.map((endpoint, index) => `      ${leafText(`/endpoints/${index}`, endpoint)}`),
  ]
}

/** Why a manual change is not reverted. Pure. */
export function driftedText({ looping }: Extract<Change, { kind: 'drifted' }>): string {
  if (looping.length === 0) return 'changed outside git, not reverted (policy.drift)'
  return `changed outside git repeatedly, no longer reverted: another tool or person sets ${looping.join(', ')} (HealLoop)`
}

function updateWord(change: Extract<Change, { kind: 'update' }>): string {
  if (change.replace) return change.pausing === null ? 'update' : `update and ${change.pausing}`
  return change.pausing ?? 'update'
}

function renamed(from: string | null): string {
  return from === null ? '' : ` (renamed from ${from})`
}

function pruneLine(prune: Prune, paint: Paint): string {
  const what = `service ${prune.id} ${quoted(prune.name)}`
  switch (prune.how) {
    case 'delete':
      return paint.red(
        `  - ${prune.key}: delete ${what}, created ${prune.createdAt ?? 'at an unknown time'}: irreversible`,
      )
    case 'pause':
      return paint.red(`  - ${prune.key}: pause ${what} (its manifest was removed, policy.onDelete: pause)`)
    case 'detach':
      return paint.cyan(`  - ${prune.key}: detach ${what}, no request (policy.onDelete: detach)`)
    case 'forget':
      return paint.cyan(`  - ${prune.key}: forget ${what}, which was already deleted`)
  }
}

function reasonText(field: PlannedField): string {
  switch (field.reason) {
    case 'git':
    case 'secret':
      return field.outside === undefined ? 'git' : 'git, over a manual change'
    case 'drift':
      return 'changed outside git, reverted'
    case 'first-apply':
      return 'first apply'
    case 'differs':
      return 'differs'
  }
}

/** Number of changes by kind. Pure. */
export function countsOf(planResult: Pick<PlanResult, 'plan' | 'limited'>): Readonly<Record<string, number>> {
  const { plan, limited } = planResult
  const of = (kind: Change['kind']): number => limited.changes.filter((change) => change.kind === kind).length
  return {
    create: of('create'),
    update: of('update'),
    prune: of('prune'),
    record: of('record'),
    drifted: of('drifted'),
    blocked: of('blocked'),
    withheld: limited.withheld.length,
    unchanged: plan.unchanged.length,
  }
}

/** `Plan: 1 to create, 3 unchanged`, and manifests that cannot be used. Pure. */
export function summaryLine(planResult: ShownPlan, problems: readonly ManifestProblem[] = []): string {
  const counts = countsOf(planResult)
  const words = [
    [counts.create, 'to create'],
    [counts.update, 'to update'],
    [counts.prune, 'to remove'],
    [counts.record, 'to remember'],
    [counts.drifted, 'changed outside git'],
    [counts.blocked, 'blocked'],
    [counts.withheld, 'blocked by safety limits'],
  ] as const
  const parts = words.flatMap(([count, word]) =>
    count === undefined || count === 0 ? [] : [`${count} ${word}`],
  )
  const unchanged = `${counts.unchanged} unchanged${faultyText(problems)}`
  return parts.length === 0 ? `No changes: ${unchanged}` : `Plan: ${[...parts, unchanged].join(', ')}`
}

/** `, 2 manifests with problems`; empty for none. A file that is no YAML counts as one manifest. Pure. */
export function faultyText(problems: readonly ManifestProblem[]): string {
  const faults = problems.filter(({ code }) => code.startsWith('E_'))
  const { size } = new Set(faults.map(({ file, origin }) => `${file} ${origin?.document ?? ''}`))
  return size === 0 ? '' : `, ${counted(size, 'manifest')} with problems`
}
