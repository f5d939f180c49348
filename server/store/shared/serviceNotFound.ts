import { ApiError } from '../../../api/contract/apiError.ts'

/** The error for an unknown service, or one of another organisation. Pure. */
export function serviceNotFound(serviceId: string): ApiError {
  return new ApiError('not_found', `the organisation has no service ${serviceId}`)
}
