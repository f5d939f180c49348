import { ApiError } from '../../../api/contract/apiError.ts'

/** The refusal of an organisation id that does not exist. Pure. */
export function noOrg(orgId: string): ApiError {
  return new ApiError('not_found', `there is no organisation ${orgId}: "pharos-server org list" shows them`)
}
