import { canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import { formatPath } from '../../api/contract/problem.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { DesiredService } from '../plan/desiredService.ts'
import type { Update } from '../plan/planValue.ts'
import { fieldPath } from '../text/fieldText.ts'

/** Fields that no request sets. */
const SERVER_FIELDS = [
  'auto_incident_enabled',
  'auto_incident_failure_threshold',
  'auto_incident_window_minutes',
] as const

/**
 * Notices about a response: fields for which the server stores other values than were sent, which may hide a mistake,
 * and fields that it changed without a request. `before` is the service before the request; `undefined` for a new one.
 * Pure.
 */
export function sideEffectsOf(
  desired: DesiredService,
  before: ServiceResponse | undefined,
  response: ServiceResponse,
  change?: Update,
): readonly string[] {
  const notes: string[] = []
  const kept = new Set(change?.keeps ?? [])
  const rewritten = changesBetween(desired.canonical, canonicalResponse(response), 'set-is-equal')
    .filter(({ pointer }) => !kept.has(pointer) && !desired.policy.isIgnored(pointer))
    .map(({ pointer }) => formatPath(fieldPath(pointer)))
  if (rewritten.length > 0) {
    notes.push(`the server stores other values than were sent for these fields: ${rewritten.join(', ')}`)
  }
  if (before === undefined) return notes
  const changed: string[] = SERVER_FIELDS.filter(
    (field) => (before[field] ?? null) !== (response[field] ?? null),
  )
  const wasPaused = before.paused_at != null || change?.pausing === 'pause'
  if (wasPaused !== (response.paused_at != null)) changed.push('paused_at')
  if (changed.length > 0) {
    notes.push(
      `ServerSideEffect: the new definition also changed ${changed.join(', ')}, which was not requested`,
    )
  }
  return notes
}
