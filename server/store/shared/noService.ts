import { ApiError } from '../../../api/contract/apiError.ts'

/** The refusal of a service that does not exist, or is of another organisation. Pure. */
export function noService(serviceId: string): ApiError {
  return new ApiError('not_found', `the organisation has no service ${serviceId}`)
}
