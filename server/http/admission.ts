import { ApiError } from '../../api/contract/apiError.ts'
import type { Caller } from '../domain/apiKeys.ts'
import type { KeyStore } from '../store/store.ts'
import { presentedHash } from './bearerKey.ts'
import type { Allowance, SpendRequest } from './rateLimit.ts'

const MUTATING: ReadonlySet<string> = new Set(['POST', 'PATCH', 'DELETE'])

/** What is needed to let a request in. */
export interface AdmissionParts {
  readonly store: KeyStore
  readonly spendRequest: SpendRequest
}

/** What is looked at: nothing of path or body, so that a refusal tells nothing of either. */
interface Presented {
  readonly method: string
  readonly rawHeaders: readonly string[]
  /** What the request came on, with others before and after it. */
  readonly connection: object
}

/** A request that wants to be let in. */
export interface AccessRequest extends Presented {
  /** Told who calls, as soon as that is known. */
  readonly onCaller: (caller: Caller) => void
  /** Told what became of the token, also when the request is refused. */
  readonly onAllowance: (allowance: Allowance) => void
}

/**
 * Lets a request in or throws: `unauthorized`, then `rate_limited`, then `forbidden` for the plan, then
 * `forbidden` for the scope. The order is Gap G19: whoever has no key learns nothing, and every request of a
 * key costs a token, whatever becomes of it.
 */
export async function admit(request: AccessRequest, { store, spendRequest }: AdmissionParts): Promise<void> {
  const caller = await identify(request, store)
  request.onCaller(caller)
  const allowance = await spendRequest(caller.keyId)
  request.onAllowance(allowance)
  if (!allowance.isAllowed) throw new ApiError('rate_limited', 'rate limit exceeded')
  assertAllowed(caller, request.method)
}

/**
 * Lets a request whose body has come go on, or throws as `admit`: a body may take half a minute, and a key that was
 * revoked meanwhile has stopped.
 */
export async function readmit(presented: Presented, store: KeyStore): Promise<void> {
  assertAllowed(await identify(presented, store), presented.method)
}

async function identify({ rawHeaders, connection }: Presented, store: KeyStore): Promise<Caller> {
  const hash = presentedHash(rawHeaders, connection)
  const caller = hash === undefined ? undefined : await store.callerOf(hash)
  if (caller === undefined) throw new ApiError('unauthorized', 'unauthorized')
  return caller
}

function assertAllowed({ hasApiAccess, scope }: Caller, method: string): void {
  if (!hasApiAccess) throw new ApiError('forbidden', 'plan does not include API access')
  if (scope === 'read_only' && MUTATING.has(method)) throw new ApiError('forbidden', 'read-only key')
}
