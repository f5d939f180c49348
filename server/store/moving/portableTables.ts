/** Names of the parts of the data that can be left behind. */
export const PARTS = ['monitoring', 'channels', 'status-pages', 'accounts', 'other'] as const
export type Part = (typeof PARTS)[number]

/** A table that moves between kinds of database. */
export interface PortableTable {
  readonly name: string
  /** The columns that order its rows. */
  readonly key: readonly string[]
  /** Its part; `null` for tables that every store has. */
  readonly part: Part | null
}

const table = (name: string, key: string, part: Part | null = null): PortableTable => ({
  ...{ name, part, key: key.split(' ') },
})

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
]

/** Tables with rows in a new store: the rows of the source replace them. */
export const SEEDED_TABLES: readonly string[] = ['plans']

/**
 * Tables that do not move. The moved store has a new identity, and its regions start with the complete feed: positions
 * in the old outbox and in the old results are meaningless there.
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
])
