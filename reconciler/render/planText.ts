import type { Situation } from '../apply/situation.ts'
import type { Output } from '../cli/output.ts'
import { formatProblem, type ManifestProblem } from '../manifest/manifestProblem.ts'
import type { Change, PlannedField, Prune } from '../plan/planValue.ts'
import { fieldText } from './fieldText.ts'

type Paint = Output['paint']

/** Problems and warnings, one to a line, as editors and terminals make them clickable. Pure. */
export function problemLines(problems: readonly ManifestProblem[], paint: Paint): readonly string[] {
  return problems.map((problem) =>
    problem.code.startsWith('W_') ? paint.yellow(formatProblem(problem)) : paint.red(formatProblem(problem)),
  )
}

/** A plan for people: what happens to each service and why, then what is held back, then the counts. Pure. */
export function planLines(situation: Situation, paint: Paint): readonly string[] {
  const { braked, digest } = situation
  const lines = braked.changes.flatMap((change) => changeLines(change, paint))
  if (braked.withheld.length > 0) {
    lines.push('', paint.yellow('Held back:'))
    lines.push(...braked.withheld.flatMap((change) => changeLines(change, paint)))
    lines.push(...braked.tripped.map((brake) => paint.yellow(`  ${brake.brake}: ${brake.message}`)))
  }
  if (digest !== null) lines.push(`  to let it through: pharos apply … --approve ${digest}`)
  lines.push(...(lines.length === 0 ? [] : ['']), summaryLine(situation))
  return lines
}

function changeLines(change: Change, paint: Paint): readonly string[] {
  switch (change.kind) {
    case 'create': {
      const { desired } = change
      const what = `"${desired.name}", ${counted(desired.endpoints.length, 'endpoint')} from ${desired.regions.join(', ')}`
      const lost =
        change.replacesLost === null
          ? ''
          : ` (deleted outside: it gets a new id; incidents and status pages keep ${change.replacesLost})`
      return [paint.green(`  + ${change.key}: create ${what}${change.paused ? ', paused' : ''}${lost}`)]
    }
    case 'update':
      return [
        paint.yellow(`  ~ ${change.key}: ${updateWord(change)}${renamed(change.renamedFrom)}`),
        ...change.fields.map((field) => `      ${fieldText(field)}  ${paint.dim(`(${reasonText(field)})`)}`),
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
        paint.magenta(`  ! ${change.key}: changed outside, left as it is (policy.drift: report)`),
        ...change.fields.map((field) => `      ${fieldText({ ...field, from: field.to, to: field.from })}`),
      ]
    case 'blocked':
      return [paint.red(`  x ${change.key}: ${change.message} (${change.hint})`)]
  }
}

function updateWord(change: Extract<Change, { kind: 'update' }>): string {
  if (change.replace) return change.pausing === null ? 'update' : `update and ${change.pausing}`
  return change.pausing ?? 'update'
}

function renamed(from: string | null): string {
  return from === null ? '' : ` (renamed from ${from})`
}

function pruneLine(prune: Prune, paint: Paint): string {
  const what = `service ${prune.id} "${prune.name}"`
  switch (prune.how) {
    case 'delete':
      return paint.red(
        `  - ${prune.key}: delete ${what}, created ${prune.createdAt ?? 'at an unknown time'}: irreversible`,
      )
    case 'pause':
      return paint.red(`  - ${prune.key}: pause ${what} (its manifest is gone, policy.onDelete: pause)`)
    case 'detach':
      return paint.cyan(`  - ${prune.key}: let go of ${what}, no request (policy.onDelete: detach)`)
    case 'forget':
      return paint.cyan(`  - ${prune.key}: forget ${what}, which is gone already`)
  }
}

function reasonText(field: PlannedField): string {
  switch (field.reason) {
    case 'git':
    case 'secret':
      return 'git'
    case 'drift':
      return 'changed outside, put back'
    case 'first-apply':
      return 'first apply'
    case 'differs':
      return 'differs'
  }
}

/** How many changes of each kind a plan has. Pure. */
export function countsOf({ plan, braked }: Situation): Readonly<Record<string, number>> {
  const of = (kind: Change['kind']): number => braked.changes.filter((change) => change.kind === kind).length
  return {
    create: of('create'),
    update: of('update'),
    prune: of('prune'),
    record: of('record'),
    drifted: of('drifted'),
    blocked: of('blocked'),
    withheld: braked.withheld.length,
    unchanged: plan.unchanged.length,
  }
}

function summaryLine(situation: Situation): string {
  const counts = countsOf(situation)
  const words = [
    [counts.create, 'to create'],
    [counts.update, 'to update'],
    [counts.prune, 'to remove'],
    [counts.record, 'to remember'],
    [counts.drifted, 'changed outside'],
    [counts.blocked, 'blocked'],
    [counts.withheld, 'held back'],
  ] as const
  const parts = words.flatMap(([count, word]) =>
    count === undefined || count === 0 ? [] : [`${count} ${word}`],
  )
  const unchanged = `${counts.unchanged} unchanged`
  return parts.length === 0 ? `No changes: ${unchanged}` : `Plan: ${[...parts, unchanged].join(', ')}`
}

/** `1 endpoint`, `2 endpoints`. Pure. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
