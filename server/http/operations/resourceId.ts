import { ApiError } from '../../../api/contract/apiError.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * `text` as an id is stored, lower case. Throws `not_found` when it is no UUID: the same answer as for an id
 * that does not exist or is another organisation's (Gap G19).
 */
export function readId(text: string): string {
  if (!UUID.test(text)) throw notFound()
  return text.toLowerCase()
}

/** The answer for whatever this organisation does not have. Contract: Errors. */
export function notFound(): ApiError {
  return new ApiError('not_found', 'not found')
}
