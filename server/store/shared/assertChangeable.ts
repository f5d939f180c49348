import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../../api/contract/apiError.ts'
import type { MaintenanceWindow } from '../store.ts'

/** Throws `invalid` when `window` has ended at the instant `now`, and `conflict` when it is not as in `seen`. Pure. */
export function assertChangeable(
  window: MaintenanceWindow,
  now: string,
  seen: MaintenanceWindow | undefined,
): void {
  if (window.endsAt <= now) throw new ApiError('invalid', 'the window has ended')
  if (seen !== undefined && !isDeepStrictEqual(content(window), content(seen))) {
    throw new ApiError('conflict', 'the window was changed meanwhile')
  }
}

function content({ title, startsAt, endsAt, serviceIds }: MaintenanceWindow): readonly unknown[] {
  return [title, startsAt, endsAt, serviceIds.toSorted()]
}
