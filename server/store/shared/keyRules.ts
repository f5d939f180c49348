import { ApiError } from '../../../api/contract/apiError.ts'

/** Maximum number of keys of an organisation that are not revoked. Gap G31. */
const KEYS_MAX = 500

/** Throws `invalid` when an organisation cannot have more than `keys` unrevoked keys. */
export function assertMayAddKey(keys: number): void {
  if (keys < KEYS_MAX) return
  throw new ApiError('invalid', `an organisation has at most ${KEYS_MAX} API keys: revoke one first`)
}

/** The error for an unknown key. Pure. */
export function keyNotFound(id: string): ApiError {
  return new ApiError('not_found', `there is no key ${id}`)
}
