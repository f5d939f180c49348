import { type Reason, reasonName } from '../../../monitoring/protocol/outcomes.ts'
import type { SeriesState } from '../../domain/serviceState.ts'

/**
 * The reason why a series in `state` is not up: that of its last check, `no_result` before the first check, and `stale`
 * when results stopped. Pure.
 */
export function reasonOfSeries({
  reason,
  lastDueS,
}: Pick<SeriesState, 'reason' | 'lastDueS'>): Reason | 'no_result' | 'stale' {
  if (reason !== 0) return reasonName(reason)
  return lastDueS === 0 ? 'no_result' : 'stale'
}
