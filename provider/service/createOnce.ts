import { randomUUID } from 'node:crypto'
import { diffService } from '../../api/contract/fieldChange.ts'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { DiagnosticError, errorAt } from '../protocol/diagnostics.ts'
import { sendOnce } from './sendOnce.ts'
import type { Session } from './session.ts'

/**
 * How old a service of the same definition may be to be taken for one that an earlier run made and could not
 * record (milliseconds): such a run was killed a moment ago, and whoever wants a twin on purpose made it earlier.
 */
const LOST_MS_MAX = 3_600_000

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
  return session.inTurn(JSON.stringify(request), () => created(session, request, signal))
}

async function created(
  session: Session,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  await refuseTwin(session, request, signal)
  const idempotencyKey = randomUUID()
  const service = await sendOnce({
    send: () => session.client.createService(request, idempotencyKey, { signal }),
    find: async (isOurs) => {
      const found = await session.reads.unclaimed(
        (candidate) => isOurs(candidate.created_at) && diffService(request, candidate).length === 0,
        signal,
      )
      if (found.length > 1) throw ambiguous(request.name, found)
      return found[0]
    },
    signal,
  })
  session.reads.wrote(service, 'created')
  return service
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
    'Import it with this id. To have another one like it, give that another name; to replace it before the hour is over, ' +
    'do so without create_before_destroy.'
  throw new DiagnosticError(errorAt(undefined, `Service "${request.name}" exists already`, detail))
}

function ambiguous(name: string, found: readonly ServiceResponse[]): DiagnosticError {
  const ids = found.map(({ id }) => id).join(', ')
  const detail =
    `No answer came to the creation of "${name}", and ${found.length} new services have this definition: ${ids}. ` +
    'Import the one that is to be managed, delete the others, and apply again.'
  return new DiagnosticError(errorAt(undefined, 'Cannot tell which service was created', detail))
}
