import { ApiError } from '../../../api/contract/apiError.ts'

/**
 * The entity tag of a service at `generation`. It differs between stores, and a restore creates a new store. Gap G20.
 * Pure.
 */
export function entityTag(storeId: string, generation: number): string {
  return `"${storeId}.${generation}"`
}

/**
 * Throws `precondition_failed` unless `ifMatch`, the If-Match header, allows a change of the service with the entity
 * tag `current`. An absent header allows everything; a weak tag never matches (RFC 9110). Gap G20. Pure.
 */
export function assertIfMatch(ifMatch: string | undefined, current: string): void {
  if (ifMatch === undefined) return
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  if (tags.includes('*') || tags.includes(current)) return
  throw new ApiError('precondition_failed', 'If-Match: the service has changed since it was read')
}
