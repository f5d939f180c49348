import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ConnectionError } from '../../api/client/attempt.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { diffService } from '../../api/contract/fieldChange.ts'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { DiagnosticError, errorAt } from '../protocol/diagnostics.ts'
import type { Session } from './session.ts'

/** How often a creation whose outcome is unknown is sent. */
const ATTEMPTS_MAX = 4
/** Pause before the first look at what became of it (milliseconds); each further one is twice as long. */
const LOOK_AFTER_MS = 250
/**
 * How old a service of the same definition may be to be taken for one that an earlier run made and could not
 * record (milliseconds): such a run was killed a moment ago, and whoever wants a twin on purpose made it earlier.
 */
const LOST_MS_MAX = 3_600_000
/** How far the server's clock may be behind ours (milliseconds): an older service is not the one that we made. */
const CLOCK_SKEW_MS = 60_000

/**
 * Creates the service of `request`, once: a creation of which no answer came is looked for in the list before it
 * is sent again, and carries the same idempotency key then. The organisation of the
 * key is for the caller to check.
 *
 * Throws what the client throws for a refusal, and a DiagnosticError when several services could be the one.
 */
export function createOnce(
  session: Session,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  // Two services of one definition could not be told apart while both are on their way.
  return session.inTurn(JSON.stringify(request), () => attempts(session, request, signal))
}

async function attempts(
  session: Session,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  await refuseTwin(session, request, signal)
  const idempotencyKey = randomUUID()
  const sentAtMs = Date.now()
  for (let attempt = 1; ; attempt += 1) {
    try {
      const created = await session.client.createService(request, idempotencyKey, { signal })
      session.reads.wrote(created, 'created')
      return created
    } catch (error) {
      if (!isOutcomeUnknown(error, attempt) || attempt === ATTEMPTS_MAX) throw error
      await wait(LOOK_AFTER_MS * 2 ** (attempt - 1), undefined, { signal })
      const found = await session.reads.unclaimed(
        (service) =>
          Date.parse(service.created_at) >= sentAtMs - CLOCK_SKEW_MS &&
          diffService(request, service).length === 0,
        signal,
      )
      const [only] = found
      if (found.length > 1) throw ambiguous(request.name, found)
      if (only === undefined) continue
      session.reads.wrote(only, 'created')
      return only
    }
  }
}

/**
 * Throws when a service of this definition was created a moment ago and not by this process: a run that was killed
 * after its request, before the state was written, leaves one.
 */
async function refuseTwin(session: Session, request: ServiceRequest, signal: AbortSignal): Promise<void> {
  const youngestMs = Date.now() - LOST_MS_MAX
  const twins = await session.reads.thereBefore(
    (service) =>
      service.created_by_email == null &&
      Date.parse(service.created_at) >= youngestMs &&
      diffService(request, service).length === 0,
    signal,
  )
  if (twins.length === 0) return
  const ids = twins.map(({ id }) => id).join(', ')
  const detail =
    `A service with this name and definition was created within the last hour, perhaps by a run that was killed: ${ids}. ` +
    'Import it with this id. To have another one like it, give that another name.'
  throw new DiagnosticError(errorAt(undefined, `Service "${request.name}" exists already`, detail))
}

/** Whether the service may exist although the answer says otherwise, or none came. */
function isOutcomeUnknown(error: unknown, attempt: number): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'unknown'
  if (!(error instanceof ApiError)) return false
  // 409 says that our own earlier attempt is still being carried out (Gap G20).
  return error.status >= 500 || (error.code === 'conflict' && attempt > 1)
}

function ambiguous(name: string, found: readonly ServiceResponse[]): DiagnosticError {
  const ids = found.map(({ id }) => id).join(', ')
  const detail =
    `No answer came to the creation of "${name}", and ${found.length} new services have this definition: ${ids}. ` +
    'Import the one that is to be managed, delete the others, and apply again.'
  return new DiagnosticError(errorAt(undefined, 'Cannot tell which service was created', detail))
}
