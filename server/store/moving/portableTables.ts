import { RESULTS_PREFIX } from '../portable.ts'

/** Names of the parts of the data that can be left behind. */
export const PARTS = ['results', 'monitoring', 'channels', 'status-pages', 'accounts', 'other'] as const
export type Part = (typeof PARTS)[number]

/** A table that moves between kinds of database. */
export interface PortableTable {
  readonly name: string
  /** The columns that order its rows. */
  readonly key: readonly string[]
  /** Its part; `null` for tables that every store has. */
  readonly part: Part | null
  /** Condition on the rows that move; all of them when absent. */
  readonly where?: string
}

const table = (name: string, key: string, part: Part | null = null): PortableTable => ({
  ...{ name, part, key: key.split(' ') },
})

const results = (name: string, key: string): PortableTable =>
  table(`${RESULTS_PREFIX}${name}`, key, 'results')

/**
 * Every table that moves, after the tables it refers to. A table moves when both databases have it with the same
 * columns; otherwise its rows must be left behind.
 */
export const PORTABLE_TABLES: readonly PortableTable[] = [
  table('plans', 'name'),
  table('orgs', 'id'),
  table('api_keys', 'id'),
  table('api_key_uses', 'key_id'),
  table('services', 'position'),
  table('past_generations', 'sequence'),
  table('master_keys', 'id'),
  table('sealed_values', 'key_id'),
  table('remembered_creations', 'org_id key_hash'),
  table('incidents', 'position'),
  table('incident_updates', 'incident_id place'),
  table('audit', 'seq'),
  table('region_modes', 'region'),
  table('agent_tokens', 'id'),
  table('numbered_endpoints', 'number', 'monitoring'),
  table('auto_incidents', 'service_id', 'monitoring'),
  table('failing_rounds', 'service_id endpoint_id round', 'monitoring'),
  table('muted_until_up', 'service_id', 'monitoring'),
  table('certificate_notices', 'org_id host port fingerprint threshold_s', 'monitoring'),
  table('channels', 'id', 'channels'),
  table('sealed_secrets', 'key_id', 'channels'),
  table('events', 'seq', 'channels'),
  table('deliveries', 'event_seq channel_id', 'channels'),
  table('attempts', 'event_seq channel_id number', 'channels'),
  table('status_pages', 'id', 'status-pages'),
  table('status_hosts', 'host', 'status-pages'),
  table('status_sections', 'id', 'status-pages'),
  table('status_components', 'id', 'status-pages'),
  table('status_hidden', 'page_id incident_id', 'status-pages'),
  table('people', 'id', 'accounts'),
  table('memberships', 'org_id person_id', 'accounts'),
  table('invitations', 'token_hash', 'accounts'),
  table('sessions', 'id_hash', 'accounts'),
  table('password_resets', 'token_hash', 'accounts'),
  // Not the identity of the file, nor whether a move into it was interrupted.
  { ...results('meta', 'key'), where: "key NOT IN ('file id', 'unfinished move')" },
  results('log', 'due_s series'),
  results('late', 'series due_s'),
  results('details', 'series due_s'),
  results('hours', 'series hour'),
  results('endpoints', 'number'),
  results('series_states', 'series'),
  results('spans', 'endpoint from_s'),
  results('endpoint_days', 'endpoint day'),
  results('service_now', 'service_id'),
  results('service_spans', 'service_id from_s'),
  results('service_days', 'service_id day'),
  results('service_latency', 'service_id'),
  results('service_watches', 'service_id'),
  results('maintenance_windows', 'service_id from_s until_s'),
  results('certificates', 'org_id host port fingerprint'),
  results('certificate_endpoints', 'org_id host port endpoint'),
  results('transitions', 'sequence'),
  results('removals', 'service_id'),
]

/** Whether `name` is of a table of packed results: there is one for each day and retention. Pure. */
export function isChunkTable(name: string): boolean {
  return /^results\.chunks_\d+_\d+$/.test(name)
}

/** Tables with rows in a new store: the rows of the source replace them. */
export const SEEDED_TABLES: readonly string[] = ['plans']

/**
 * Tables that do not move. The moved store has a new identity, and its regions start with the complete feed: positions
 * in the old outbox and among the old transitions are meaningless there. Transitions start anew, as after a restore.
 */
export const UNMOVED_TABLES: ReadonlySet<string> = new Set([
  ...[
    'store_identity',
    'commands',
    'outbox_readers',
    'outbox_horizon',
    'quiet_changes',
    'applied_transitions',
  ],
  // Derived from other tables.
  ...['incident_services', 'incident_authors', 'incident_counts'],
  // Specific to one database, or short-lived.
  ...['meta', 'moved', 'heartbeat', 'rate_limits', 'channel_turns', 'agent_sightings'],
  `${RESULTS_PREFIX}schema_steps`,
])
