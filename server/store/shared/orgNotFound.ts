import { ApiError } from '../../../api/contract/apiError.ts'

/** The error for an unknown organisation. Pure. */
export function orgNotFound(orgId: string): ApiError {
  return new ApiError('not_found', `there is no organisation ${orgId}: "pharos-server org list" shows them`)
}
