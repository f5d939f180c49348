import { canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import { formatPath } from '../../api/contract/problem.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { DesiredService } from '../plan/desiredService.ts'
import type { Update } from '../plan/planValue.ts'
import { fieldPath } from '../text/fieldText.ts'

/** Fields that no request sets: whatever we send, they stay. */
const NOT_OURS = [
  'auto_incident_enabled',
  'auto_incident_failure_threshold',
  'auto_incident_window_minutes',
] as const

/**
 * What to tell once about an answer: fields that the server stores otherwise than they were sent, because it
 * may be a slip that it "fixed", and fields that it changed unasked. `before` is the
 * service before the request, `undefined` for a new one. Pure.
 */
export function sideEffectsOf(
  desired: DesiredService,
  before: ServiceResponse | undefined,
  answer: ServiceResponse,
  change?: Update,
): readonly string[] {
  const notes: string[] = []
  const kept = new Set(change?.keeps ?? [])
  const rewritten = changesBetween(desired.canonical, canonicalResponse(answer), 'set-is-equal')
    .filter(({ pointer }) => !kept.has(pointer) && !desired.policy.isIgnored(pointer))
    .map(({ pointer }) => formatPath(fieldPath(pointer)))
  if (rewritten.length > 0) {
    notes.push(`the server stores these fields otherwise than they were sent: ${rewritten.join(', ')}`)
  }
  if (before === undefined) return notes
  const changed: string[] = NOT_OURS.filter((field) => (before[field] ?? null) !== (answer[field] ?? null))
  const wasPaused = before.paused_at != null || change?.pausing === 'pause'
  if (wasPaused !== (answer.paused_at != null)) changed.push('paused_at')
  if (changed.length > 0) {
    notes.push(
      `ServerSideEffect: the new definition also changed ${changed.join(', ')}, which was not requested`,
    )
  }
  return notes
}
