import { DiagnosticError, errorAt } from '../protocol/authoring/diagnostics.ts'
import type { Fingerprints } from './apply/fingerprint.ts'
import type { Session } from './session.ts'

/** The client of handlers, which has no session while the configuration of the provider is unknown. */
export interface Connection {
  readonly session: Session | undefined
  readonly fingerprints: Fingerprints
}

/** The session. Throws when the configuration of the provider is unknown, which happens only in plans. */
export function connected(connection: Connection): Session {
  if (connection.session !== undefined) return connection.session
  const detail =
    'The url or api_key of the provider "pharos" depends on a value that is only known after apply. ' +
    'Apply its source first with -target, or leave it out of the provider block and set PHAROS_URL or PHAROS_API_KEY.'
  throw new DiagnosticError(errorAt(undefined, 'The provider is not configured yet', detail))
}
