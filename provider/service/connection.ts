import { failure } from '../protocol/authoring/diagnostics.ts'
import type { Fingerprints } from './apply/fingerprint.ts'
import type { Session } from './session.ts'

/** The environment variable of each setting of the provider that has one. */
const VARIABLES: Readonly<Record<string, string>> = {
  url: 'PHAROS_URL',
  api_key: 'PHAROS_API_KEY',
  ca_file: 'PHAROS_CA_FILE',
  expected_org_id: 'PHAROS_EXPECTED_ORG_ID',
}

/** The client of handlers. */
export interface Connection {
  /** Absent while settings of the provider are unknown. */
  readonly session: Session | undefined
  /** Names of the unknown settings. */
  readonly unknown: readonly string[]
  readonly fingerprints: Fingerprints
}

/** The session. Throws when settings of the provider are unknown, which happens only in plans. */
export function connected({ session, unknown }: Connection): Session {
  if (session !== undefined) return session
  const variables = unknown.flatMap((name) => VARIABLES[name] ?? [])
  const more = variables.length === 0 ? '' : ` and set ${variables.join(', ')}`
  const detail =
    `These settings of the provider "pharos" depend on values that are only known after apply: ${unknown.join(', ')}. ` +
    `Apply their sources first with -target, or leave them out of the provider block${more}.`
  throw failure('The provider is not configured yet', detail)
}
