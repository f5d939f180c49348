import { ApiError } from '../../../api/contract/apiError.ts'

/** What is thrown when whoever administrates names an organisation that there is not. Pure. */
export function noOrg(orgId: string): ApiError {
  return new ApiError('not_found', `there is no organisation ${orgId}`)
}
