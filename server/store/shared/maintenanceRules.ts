import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../../api/contract/apiError.ts'
import type { MaintenanceWindow } from '../store.ts'
import type { AuditedAction } from './auditedAction.ts'

/** Throws `invalid` when `window` has ended at `now`, and `conflict` when it differs from `seen`. */
export function assertChangeable(
  window: MaintenanceWindow,
  now: string,
  seen: MaintenanceWindow | undefined,
): void {
  if (window.endsAt <= now) throw new ApiError('invalid', 'the window has ended')
  if (seen !== undefined && !isDeepStrictEqual(content(window), content(seen))) {
    throw new ApiError('conflict', 'the window has changed since it was read')
  }
}

function content({ title, startsAt, endsAt, serviceIds }: MaintenanceWindow): readonly unknown[] {
  return [title, startsAt, endsAt, serviceIds.toSorted()]
}

/** Maximum number of windows of an organisation that have not ended: each list of services reads them. Gap G6. */
const OPEN_MAX = 200

/** Throws `invalid` when an organisation cannot have more than `open` windows that have not ended. */
export function assertMayAddWindow(open: number): void {
  if (open < OPEN_MAX) return
  const text = `an organisation has at most ${OPEN_MAX} maintenance windows that have not ended`
  throw new ApiError('invalid', text)
}

/** Throws `invalid` when a window that starts at `startsAt` has begun at the instant `now`. */
export function assertNotBegun(startsAt: string, now: string): void {
  if (startsAt <= now) throw new ApiError('invalid', 'the window has begun: end it instead')
}

/** The error for an unknown window. Pure. */
export function windowNotFound(id: string): ApiError {
  return new ApiError('not_found', `there is no maintenance window ${id}`)
}

/** The audit entry of a window that is created, changed or, without content, cancelled. Pure. */
export function windowAction(
  action: 'create' | 'update' | 'cancel',
  window: Pick<MaintenanceWindow, 'id' | 'orgId'> & Partial<MaintenanceWindow>,
  by: AuditedAction['by'],
  nowMs: number,
): AuditedAction {
  const { id, orgId, title, startsAt, endsAt } = window
  const detail = title === undefined ? {} : { title, starts_at: startsAt, ends_at: endsAt }
  return { orgId, by, action: `maintenance.${action}`, targetId: id, nowMs, detail }
}
