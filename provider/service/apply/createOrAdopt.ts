import { ConnectionError } from '../../../api/client/attempt.ts'
import type { Client } from '../../../api/client/client.ts'
import { ApiError } from '../../../api/contract/apiError.ts'
import { diffService } from '../../../api/contract/fieldChange.ts'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { type Diagnostic, warningAt } from '../../protocol/authoring/diagnostics.ts'
import type { ServiceReads } from '../read/serviceReads.ts'
import { ambiguousCreation, type CreationGuard, type Decision, idempotencyKeyOf } from './creationGuard.ts'
import type { Intent } from './creationJournal.ts'
import { isOutcomeUnknown, resendIfAbsent } from './resendIfAbsent.ts'

/**
 * Time limit for reading a service that the API has just returned (milliseconds), which delays the end of an
 * interrupted run.
 */
const CONFIRM_MS = 20_000

/** The parts of a session that a creation uses. */
interface CreatingSession {
  readonly client: Client
  readonly reads: ServiceReads
  readonly guard: CreationGuard | undefined
  inTurn<T>(kind: string, work: () => Promise<T>): Promise<T>
}

interface Creation {
  readonly session: CreatingSession
  readonly request: ServiceRequest
  readonly signal: AbortSignal
  readonly report: (diagnostic: Diagnostic) => void
}

/**
 * Creates the service of `request` exactly once. A service that a killed run of this workspace created is adopted, and
 * after a lost response the list is searched before the creation is repeated. The caller must have checked the
 * organisation of the key. Throws errors of the client, and a DiagnosticError when existing services may be the created
 * one.
 */
export function createOrAdopt(creation: Creation): Promise<ServiceResponse> {
  const { session, request } = creation
  // Concurrent creations of one definition could not be distinguished.
  return session.inTurn(JSON.stringify(request), () => created(creation))
}

async function created(creation: Creation): Promise<ServiceResponse> {
  const { session } = creation
  const decision = await decided(creation)
  if (decision.kind === 'adopt') return adopted(creation, decision)
  const service = await sent(creation, decision.resumes)
  session.reads.wrote(service, 'created')
  return service
}

async function decided({ session, request, signal }: Creation): Promise<Decision> {
  if (session.guard === undefined) return { kind: 'create', resumes: undefined }
  const alike = await session.reads.preexisting(
    // An equal service that was created in the console is a different one.
    (service) => service.created_by_email == null && diffService(request, service).length === 0,
    signal,
  )
  return session.guard.decide(request, alike)
}

async function adopted(
  { session, request, signal, report }: Creation,
  decision: Extract<Decision, { kind: 'adopt' }>,
): Promise<ServiceResponse> {
  const { id } = decision.service
  // Secrets cannot be compared and may have changed, so the definition is sent again.
  const service = hasSecrets(request)
    ? await session.client.replaceService(id, request, { signal })
    : decision.service
  session.guard?.adopted(request, decision)
  session.reads.wrote(service, 'created')
  const detail = `An earlier run in this folder ended before the state had the service. Its id is ${id}.`
  report(warningAt(undefined, `Service "${request.name}" exists already and is taken over`, detail))
  return service
}

/** Sends the creation, with the idempotency key of the killed run in `resumes`, whose request may still arrive. */
async function sent(creation: Creation, resumes: Intent | undefined): Promise<ServiceResponse> {
  const { session, request, signal } = creation
  const { guard } = session
  const intent = guard?.begin(request, resumes)
  let service: ServiceResponse
  try {
    service = await resendIfAbsent({
      send: () => session.client.createService(request, idempotencyKeyOf(intent, request), { signal }),
      find: (isOurs) => found(creation, isOurs),
      signal,
    })
  } catch (error) {
    if (isRefusal(error)) guard?.refused(intent)
    throw error
  }
  if (resumes !== undefined && !(await isNew(creation, service))) {
    guard?.refused(intent)
    return sent(creation, undefined)
  }
  guard?.made(intent, service.id)
  return service
}

/** Finds the service of a creation without a response; `undefined` when there is none. */
async function found(
  { session, request, signal }: Creation,
  isOurs: (instant: string) => boolean,
): Promise<ServiceResponse | undefined> {
  const candidates = await session.reads.unclaimed(
    (candidate) =>
      isOurs(candidate.created_at) &&
      diffService(request, candidate).length === 0 &&
      session.guard?.isAnothers(candidate, request) !== true,
    signal,
  )
  if (candidates.length > 1) throw ambiguousCreation(request.name, candidates)
  return candidates[0]
}

/** Whether `service`, the response for the idempotency key of a killed run, belongs to no state and no other create. */
async function isNew({ session, request }: Creation, service: ServiceResponse): Promise<boolean> {
  if (session.reads.hasWritten(service.id) || session.guard?.isAnothers(service, request)) return false
  try {
    // Neither an interruption nor the queue may end the run before the state contains the service.
    await session.client.getService(service.id, { lane: 'next', signal: AbortSignal.timeout(CONFIRM_MS) })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return false
    throw error
  }
}

/** Whether the creation certainly had no effect. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'not-sent'
  // The server responds with 409 while it executes an earlier attempt (Gap G20).
  return error instanceof ApiError && !isOutcomeUnknown(error, 2)
}

function hasSecrets({ endpoints }: ServiceRequest): boolean {
  return endpoints.some(({ call: { Http } }) =>
    [Http.body, ...Object.values(Http.headers ?? {})].some((input) => input?.sensitive === true),
  )
}
