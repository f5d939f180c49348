import { ApiError } from '../../api/contract/apiError.ts'

/** The entity tag of a generation. Gap G20. Pure. */
export function entityTag(generation: number): string {
  return `"${generation}"`
}

/**
 * Throws `precondition_failed` unless `ifMatch`, the If-Match header, allows changing what has `generation`.
 * An absent header allows everything; a weak tag never matches (RFC 9110). Gap G20. Pure.
 */
export function assertIfMatch(ifMatch: string | undefined, generation: number): void {
  if (ifMatch === undefined) return
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  if (tags.includes('*') || tags.includes(entityTag(generation))) return
  throw new ApiError('precondition_failed', 'If-Match: the service has changed since it was read')
}
