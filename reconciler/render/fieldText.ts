import { formatDuration } from '../../api/contract/duration.ts'
import { formatPath } from '../../api/contract/problem.ts'
import { manifestPathOf } from '../manifest/compile.ts'
import type { ManifestPath } from '../manifest/position.ts'
import type { PlannedField } from '../plan/planValue.ts'

/** Longest value that is shown whole (characters); --json has all of it. */
const VALUE_CHARS_MAX = 120

/** Where the field at `pointer` of a canonical service stands in a manifest, from `spec` on. Pure. */
export function fieldPath(pointer: string): ManifestPath {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step, index, all) => (/^\d+$/.test(step) && all[index - 1] !== 'headers' ? Number(step) : step))
  return manifestPathOf(steps, false).slice(1)
}

/** `endpoints[0].timeout: 5s → 10s`; a secret is never more than the word. Pure. */
export function fieldText(field: PlannedField): string {
  const path = formatPath(fieldPath(field.pointer))
  if (isSealed(field.from) && isSealed(field.to)) return `${path}: secret ${secretWord(field)}`
  return `${path}: ${valueText(field.from, path)} → ${valueText(field.to, path)}`
}

function secretWord(field: PlannedField): string {
  switch (field.reason) {
    case 'git':
    case 'secret':
      return 'changed'
    case 'drift':
      return 'replaced outside'
    case 'first-apply':
    case 'differs':
      return 'sent, because what is set cannot be compared'
  }
}

function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'sealed' in value
}

function valueText(value: unknown, path: string): string {
  if (value === undefined || value === null) return 'none'
  if (path === 'interval' && typeof value === 'number') return formatDuration({ secs: value, nanos: 0 })
  if (isSealed(value)) return '(secret)'
  if (typeof value === 'object' && 'plain' in value) return shortened(JSON.stringify(value.plain))
  if (isDuration(value)) return formatDuration(value)
  return shortened(JSON.stringify(value, hideMarks))
}

/** Inside a whole endpoint the marks of its secrets say nothing to a reader. */
function hideMarks(_key: string, value: unknown): unknown {
  return isSealed(value) ? '(secret)' : value
}

function isDuration(
  value: object | string | number | boolean | bigint | symbol,
): value is { secs: number; nanos: number } {
  return (
    typeof value === 'object' &&
    'secs' in value &&
    typeof value.secs === 'number' &&
    'nanos' in value &&
    typeof value.nanos === 'number'
  )
}

function shortened(text: string): string {
  return text.length <= VALUE_CHARS_MAX ? text : `${text.slice(0, VALUE_CHARS_MAX)}…`
}
