import { ApiError } from '../../../api/contract/apiError.ts'

/** What is refused, for `part` of the program. Pure. */
export function notOnPostgres(part: string): ApiError {
  return new ApiError('unavailable', `${part}: not available on PostgreSQL yet, use --data-dir`)
}
