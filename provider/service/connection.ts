import { DiagnosticError, errorAt } from '../protocol/authoring/diagnostics.ts'
import type { Fingerprints } from './apply/fingerprint.ts'
import type { Session } from './session.ts'

/** What handlers get: no session while the provider's own configuration is not known yet. */
export interface Connection {
  readonly session: Session | undefined
  readonly fingerprints: Fingerprints
}

/** The session. Throws when the provider's configuration was not known, which only planning may meet. */
export function connected(connection: Connection): Session {
  if (connection.session !== undefined) return connection.session
  const detail =
    'The url or api_key of the provider "pharos" depends on a value that is only known after apply. ' +
    'Apply its source first with -target, or set PHAROS_URL and PHAROS_API_KEY.'
  throw new DiagnosticError(errorAt(undefined, 'The provider is not configured yet', detail))
}
