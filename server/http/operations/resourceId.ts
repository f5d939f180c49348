import { ApiError } from '../../../api/contract/apiError.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * `text` in the stored form of an id, which is lower case. Throws `not_found` when it is not a UUID, as for an id that
 * does not exist or belongs to another organisation (Gap G19).
 */
export function readId(text: string): string {
  if (!UUID.test(text)) throw notFound()
  return text.toLowerCase()
}

/** The response for a resource that this organisation does not have. Contract: Errors. */
export function notFound(): ApiError {
  return new ApiError('not_found', 'not found')
}
