import { visible } from '../../api/contract/visibleText.ts'
import type { Applied } from '../apply/applySet.ts'
import { isReleasable } from '../apply/approval.ts'
import type { ChangeOutcome } from '../apply/outcome.ts'
import { refusedPlace } from '../apply/refusal.ts'
import { formatPlace, type ManifestProblem } from '../manifest/manifestProblem.ts'
import { grouped } from '../plan/grouped.ts'
import { counted, listed } from '../text/counts.ts'
import type { Output } from '../text/output.ts'
import { changeDocument } from './planDocument.ts'
import { driftedText, faultyText } from './planText.ts'

type Paint = Output['paint']

/** The result of an apply as text: a line for each change, then the counts. Pure. */
export function appliedLines(
  applied: Applied,
  { requests, problems }: { readonly requests: number; readonly problems: readonly ManifestProblem[] },
  paint: Paint,
): readonly string[] {
  const { limited, digest, declared } = applied.planResult
  const lines = applied.outcomes.flatMap((outcome) => [
    ...outcomeLines(outcome, paint),
    ...placeLines(outcome, declared, paint),
  ])
  lines.push(...togetherLines(applied.outcomes, paint))
  for (const change of applied.blocked)
    lines.push(paint.red(`  x ${change.key}: ${visible(`${change.message} (${change.hint})`)}`))
  for (const change of limited.changes) {
    if (change.kind === 'drifted') lines.push(paint.magenta(`  ! ${change.key}: ${driftedText(change)}`))
  }
  for (const limit of limited.tripped) {
    lines.push(
      paint.yellow(
        `  blocked by a safety limit: ${listed(limit.keys, KEYS_SHOWN_MAX)} (${limit.brake}: ${visible(limit.message)})`,
      ),
    )
  }
  if (isReleasable(applied.planResult))
    lines.push(`  see "pharos plan"; to approve: pharos apply … --approve ${digest}`)
  const counts = `${summaryCounts(applied)}${faultyText(problems)}`
  return [...lines, `${counts} (${counted(requests, 'API request')})`]
}

function outcomeLines({ change, result, message, notes }: ChangeOutcome, paint: Paint): readonly string[] {
  const noteLines = notes.map((note) => paint.yellow(`      ${visible(note)}`))
  switch (result) {
    case 'done':
      return [paint.green(`  ${doneText(change)}`), ...noteLines]
    case 'failed':
      return [paint.red(`  x ${change.key}: ${change.kind} failed: ${visible(message)}`)]
    case 'lost':
      return [
        paint.red(
          `  ? ${change.key}: creation sent, response lost: ${visible(message)} (apply again in a minute)`,
        ),
      ]
    case 'stale':
      return [paint.yellow(`  x ${change.key}: PLAN_STALE: ${visible(message)}`)]
    // Summarised by togetherLines.
    case 'limited':
    case 'skipped':
      return []
  }
}

/** The place of a refused definition, on a separate line that editors and terminals can link. */
function placeLines(
  outcome: ChangeOutcome,
  declared: Applied['planResult']['declared'],
  paint: Paint,
): readonly string[] {
  const place = refusedPlace(outcome, declared)
  if (place === undefined) return []
  const key = outcome.result === 'limited' ? `${outcome.change.key}: ${visible(outcome.refusal ?? '')} ` : ''
  return [paint.red(`      ${key}at ${visible(formatPlace(place))}`)]
}

/** Maximum of keys in one line; --json has all of them. */
const KEYS_SHOWN_MAX = 20

/** One line for each reason: a run that ended early or reached a plan limit may have left thousands of changes. */
function togetherLines(outcomes: readonly ChangeOutcome[], paint: Paint): readonly string[] {
  const reasons = grouped(outcomes, ({ message, result }) => {
    if (result === 'limited') return `plan limit of the organisation: ${message}`
    return result === 'skipped' ? message : undefined
  })
  return [...reasons].map(([why, left]) => {
    const keys = left.map(({ change }) => change.key)
    return paint.yellow(`  x not done, ${visible(why)}: ${listed(keys, KEYS_SHOWN_MAX)}`)
  })
}

function doneText(change: ChangeOutcome['change']): string {
  switch (change.kind) {
    case 'create':
      return `+ ${change.key}: created${change.paused ? ' and paused' : ''}`
    case 'update':
      return `~ ${change.key}: ${change.replace ? 'updated' : change.pausing === 'pause' ? 'paused' : 'resumed'}`
    case 'record':
      return `= ${change.key}: remembered as service ${change.id}`
    case 'prune': {
      const done = { delete: 'deleted', pause: 'paused', detach: 'detached', forget: 'forgotten' }[change.how]
      return `- ${change.key}: ${done} (service ${change.id})`
    }
    case 'drifted':
    case 'blocked':
      return `x ${change.key}`
  }
}

/** Number of changes by result. Pure. */
export function countsOfApplied(applied: Applied): Readonly<Record<string, number>> {
  const { outcomes, blocked, planResult } = applied
  const done = (kind: string): number =>
    outcomes.filter(({ change, result }) => change.kind === kind && result === 'done').length
  return {
    created: done('create'),
    updated: done('update'),
    removed: done('prune'),
    remembered: done('record'),
    failed: outcomes.filter(({ result }) => result !== 'done' && result !== 'skipped').length,
    skipped: outcomes.filter(({ result }) => result === 'skipped').length,
    blocked: blocked.length,
    withheld: planResult.limited.withheld.length,
    unchanged: planResult.plan.unchanged.length,
  }
}

function summaryCounts(applied: Applied): string {
  const parts = Object.entries(countsOfApplied(applied)).flatMap(([word, count]) =>
    count === 0 && word !== 'unchanged'
      ? []
      : [`${count} ${word === 'withheld' ? 'blocked by safety limits' : word}`],
  )
  const isIdle = parts.length === 1
  return `${isIdle ? 'Nothing to do' : 'Applied'}: ${parts.join(', ')}`
}

/** The result of an apply as data for --json. Pure. */
export function appliedDocument(applied: Applied): object {
  return {
    outcomes: applied.outcomes.map((outcome) => {
      const { change, result, message, serviceId, notes } = outcome
      const place = refusedPlace(outcome, applied.planResult.declared)
      return {
        ...changeDocument(change),
        ...(serviceId === null ? {} : { serviceId }),
        result,
        ...(message === '' ? {} : { message }),
        ...(place === undefined ? {} : { file: place.file, line: place.line, column: place.column }),
        ...(notes.length === 0 ? {} : { notes }),
      }
    }),
    applied: countsOfApplied(applied),
  }
}
