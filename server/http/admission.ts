import { ApiError } from '../../api/contract/apiError.ts'
import type { Allowance } from '../domain/allowance.ts'
import type { Caller } from '../domain/apiKeys.ts'
import type { Admission, KeyStore } from '../store/store.ts'
import { presentedHash } from './bearerKey.ts'
import type { SpendRequest } from './rateLimit.ts'

const MUTATING: ReadonlySet<string> = new Set(['POST', 'PATCH', 'DELETE'])

/** Admission with the keys in `keys` and a limiter of this process. */
export function localAdmission(keys: KeyStore, spendRequest: SpendRequest): Admission {
  return {
    admit: async (keyHash) => {
      const caller = await keys.callerOf(keyHash)
      return caller === undefined ? undefined : { caller, allowance: await spendRequest(caller.keyId) }
    },
  }
}

/** The parts of a request that admission uses. It gets neither path nor body, so a refusal reveals neither. */
interface Presented {
  readonly method: string
  readonly rawHeaders: readonly string[]
  /** The connection of the request, which other callers may share. */
  readonly connection: object
}

/** A request to admit. */
export interface AccessRequest extends Presented {
  /** Called with the caller as soon as it is known. */
  readonly onCaller: (caller: Caller) => void
  /** Called with the remaining allowance, also when the request is refused. */
  readonly onAllowance: (allowance: Allowance) => void
}

/**
 * Admits a request or throws: `unauthorized`, then `rate_limited`, then `forbidden` for the plan, then `forbidden` for
 * the scope. Gap G19 decides the order: a caller without a key learns nothing, and every request with a key costs a
 * token, even a refused one.
 */
export async function admit(request: AccessRequest, admission: Admission): Promise<void> {
  const keyHash = presentedHash(request.rawHeaders, request.connection)
  const admitted = keyHash === undefined ? undefined : await admission.admit(keyHash)
  if (admitted === undefined) throw unauthorized()
  const { caller, allowance } = admitted
  request.onCaller(caller)
  request.onAllowance(allowance)
  if (!allowance.isAllowed) throw new ApiError('rate_limited', 'rate limit exceeded')
  assertAllowed(caller, request.method)
}

/**
 * Checks the key again once the body has arrived, and throws like `admit`: a body may take half a minute, during which
 * the key may be revoked.
 */
export async function readmit({ method, rawHeaders, connection }: Presented, keys: KeyStore): Promise<void> {
  const keyHash = presentedHash(rawHeaders, connection)
  const caller = keyHash === undefined ? undefined : await keys.callerOf(keyHash)
  if (caller === undefined) throw unauthorized()
  assertAllowed(caller, method)
}

function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'unauthorized')
}

function assertAllowed({ hasApiAccess, scope }: Caller, method: string): void {
  if (!hasApiAccess) throw new ApiError('forbidden', 'plan does not include API access')
  if (scope === 'read_only' && MUTATING.has(method)) throw new ApiError('forbidden', 'read-only key')
}
