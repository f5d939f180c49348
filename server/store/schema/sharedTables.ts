/** Tables of keys and of secrets of services; part of the first released step: never edit them. */
export const KEY_TABLES = `
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id),
  key_hash bytea NOT NULL UNIQUE,
  last4 text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('read_only', 'read_write')),
  created_by text,
  created_at text COLLATE "C" NOT NULL,
  revoked_at text
);
CREATE INDEX api_keys_of_org ON api_keys (org_id);

CREATE TABLE master_keys (
  id text PRIMARY KEY,
  is_active boolean NOT NULL,
  activated_at text COLLATE "C" NOT NULL
);

CREATE TABLE sealed_values (
  key_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  service_id uuid NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  endpoint_id uuid NOT NULL,
  slot text NOT NULL,
  master_key_id text NOT NULL REFERENCES master_keys (id),
  wrap_nonce bytea NOT NULL,
  wrapped_key bytea NOT NULL,
  nonce bytea NOT NULL,
  ciphertext bytea NOT NULL
);
CREATE INDEX sealed_values_of_service ON sealed_values (service_id);
CREATE INDEX sealed_values_of_master_key ON sealed_values (master_key_id);
`

/**
 * Tables that both kinds of database have, in PostgreSQL's dialect and with SQLite's WITHOUT ROWID. Part of a released
 * step: never edit them. Text columns that are compared or ordered use the collation "C", as everywhere in Pharos.
 *
 * A definition is copied to past_generations when it is replaced; bytes_up_to is the total size of those that the
 * organisation ever had, by which the oldest are found. Of every token only the hash is stored. A waiting delivery is
 * found by its channel, regardless of the deliveries of others. A component of a status page goes with its service, in
 * the same transaction; its own id is public.
 */
export const SHARED_TABLES = `
CREATE TABLE past_generations (
  sequence bigint PRIMARY KEY,
  org_id uuid NOT NULL,
  service_id uuid NOT NULL,
  generation integer NOT NULL,
  until_ms bigint NOT NULL,
  origin text,
  definition text,
  bytes_up_to bigint NOT NULL
);
CREATE INDEX past_generations_of_service ON past_generations (service_id, generation);
CREATE INDEX past_generations_by_age ON past_generations (org_id, until_ms);
CREATE INDEX past_generations_by_bytes ON past_generations (org_id, bytes_up_to);

CREATE TABLE api_key_uses (
  key_id uuid PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
  used_at_ms bigint NOT NULL,
  tool text
) WITHOUT ROWID WITH (fillfactor = 70);

CREATE TABLE audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id uuid NOT NULL,
  at text COLLATE "C" NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('person', 'key', 'cli', 'system')),
  actor text,
  action text NOT NULL,
  target_kind text NOT NULL,
  target_id text NOT NULL,
  detail text NOT NULL
);
CREATE INDEX audit_of_org ON audit (org_id, seq);
CREATE INDEX audit_by_age ON audit (at);

CREATE TABLE region_modes (
  region text PRIMARY KEY,
  mode text NOT NULL CHECK (mode IN ('embedded', 'remote', 'off'))
) WITHOUT ROWID;

CREATE TABLE agent_tokens (
  id text COLLATE "C" PRIMARY KEY,
  region text NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL UNIQUE,
  last4 text NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  revoked_at text
);

CREATE TABLE people (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  email_folded text COLLATE "C" NOT NULL UNIQUE,
  name text NOT NULL,
  password_hash text,
  look text NOT NULL DEFAULT 'auto' CHECK (look IN ('auto', 'light', 'dark')),
  created_at text COLLATE "C" NOT NULL
);

CREATE TABLE memberships (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
  created_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (org_id, person_id)
) WITHOUT ROWID;
CREATE INDEX memberships_of_person ON memberships (person_id);

CREATE TABLE invitations (
  token_hash bytea PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  email text NOT NULL,
  email_folded text COLLATE "C" NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
  expires_at_ms bigint NOT NULL,
  UNIQUE (org_id, email_folded)
) WITHOUT ROWID;
CREATE INDEX invitations_by_expiry ON invitations (expires_at_ms);

CREATE TABLE sessions (
  id_hash bytea PRIMARY KEY,
  person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  created_at_ms bigint NOT NULL,
  seen_at_ms bigint NOT NULL,
  elevated_at_ms bigint,
  browser text NOT NULL
) WITHOUT ROWID WITH (fillfactor = 70);
CREATE INDEX sessions_of_person ON sessions (person_id);
CREATE INDEX sessions_by_use ON sessions (seen_at_ms);

CREATE TABLE password_resets (
  token_hash bytea PRIMARY KEY,
  person_id uuid NOT NULL UNIQUE REFERENCES people (id) ON DELETE CASCADE,
  expires_at_ms bigint NOT NULL
) WITHOUT ROWID;

CREATE TABLE channels (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id),
  kind text NOT NULL CHECK (kind IN ('webhook', 'slack')),
  name text NOT NULL,
  host text NOT NULL,
  events text[] NOT NULL,
  service_ids uuid[],
  old_secret_until_ms bigint,
  state text NOT NULL CHECK (state IN ('active', 'disabled')),
  disabled_reason text,
  disabled_at_ms bigint,
  enabled_at_ms bigint NOT NULL,
  last_success_at_ms bigint,
  created_at_ms bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX channels_of_org ON channels (org_id);

CREATE TABLE sealed_secrets (
  key_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  channel_id uuid NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('target', 'secret', 'old_secret')),
  slot text NOT NULL,
  master_key_id text NOT NULL REFERENCES master_keys (id),
  wrap_nonce bytea NOT NULL,
  wrapped_key bytea NOT NULL,
  nonce bytea NOT NULL,
  ciphertext bytea NOT NULL,
  UNIQUE (channel_id, role)
);
CREATE INDEX sealed_secrets_by_master_key ON sealed_secrets (master_key_id);

CREATE TABLE events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  org_id uuid NOT NULL,
  type text NOT NULL,
  at_ms bigint NOT NULL,
  incident_id uuid,
  sequence integer,
  body text NOT NULL
);
CREATE INDEX events_by_age ON events (at_ms);

CREATE TABLE deliveries (
  event_seq bigint NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
  channel_id uuid NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  webhook_id text NOT NULL UNIQUE,
  incident_id uuid,
  state text NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  attempts_before integer NOT NULL DEFAULT 0,
  due_ms bigint NOT NULL,
  ended_ms bigint,
  failed_reason text,
  PRIMARY KEY (event_seq, channel_id)
) WITHOUT ROWID WITH (fillfactor = 80);
CREATE INDEX deliveries_of_channel ON deliveries (channel_id, event_seq);
CREATE INDEX deliveries_waiting ON deliveries (channel_id, due_ms, event_seq) WHERE state = 'waiting';
CREATE INDEX deliveries_of_incident ON deliveries (channel_id, incident_id, event_seq)
  WHERE state = 'waiting' AND incident_id IS NOT NULL;
CREATE INDEX deliveries_ended ON deliveries (state, ended_ms) WHERE ended_ms IS NOT NULL;

CREATE TABLE attempts (
  event_seq bigint NOT NULL,
  channel_id uuid NOT NULL,
  number integer NOT NULL,
  at_ms bigint NOT NULL,
  status integer,
  error text,
  ms integer NOT NULL,
  PRIMARY KEY (event_seq, channel_id, number),
  FOREIGN KEY (event_seq, channel_id) REFERENCES deliveries (event_seq, channel_id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE status_pages (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id),
  slug text COLLATE "C" NOT NULL UNIQUE,
  title text NOT NULL,
  text text NOT NULL,
  is_public boolean NOT NULL,
  incidents_shown text NOT NULL CHECK (incidents_shown IN ('people', 'all', 'none')),
  created_at text COLLATE "C" NOT NULL,
  generation integer NOT NULL
);
CREATE INDEX status_pages_of_org ON status_pages (org_id);

CREATE TABLE status_hosts (
  host text COLLATE "C" PRIMARY KEY,
  page_id uuid NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX status_hosts_of_page ON status_hosts (page_id);

CREATE TABLE status_sections (
  id uuid PRIMARY KEY,
  page_id uuid NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
  place integer NOT NULL,
  name text NOT NULL
);
CREATE INDEX status_sections_of_page ON status_sections (page_id, place);

CREATE TABLE status_components (
  id uuid PRIMARY KEY,
  section_id uuid NOT NULL REFERENCES status_sections (id) ON DELETE CASCADE,
  place integer NOT NULL,
  service_id uuid NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  public_name text NOT NULL,
  text text NOT NULL,
  shows_uptime boolean NOT NULL
);
CREATE INDEX status_components_of_section ON status_components (section_id, place);
CREATE INDEX status_components_of_service ON status_components (service_id);

CREATE TABLE status_hidden (
  page_id uuid NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
  incident_id uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  PRIMARY KEY (page_id, incident_id)
) WITHOUT ROWID;
CREATE INDEX status_hidden_by_incident ON status_hidden (incident_id);

CREATE INDEX incidents_by_creation ON incidents (org_id, created_at) WHERE kind = 'incident';
CREATE INDEX incidents_by_resolution ON incidents (org_id, resolved_at)
  WHERE kind = 'incident' AND resolved_at IS NOT NULL;
`

/**
 * Tables of monitoring. The number of an endpoint is never reused: results refer to it. Open automatic incidents, the
 * rounds that count towards one, and services that wait to be up first.
 */
export const MONITORING_TABLES = `
CREATE TABLE numbered_endpoints (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  endpoint_id uuid NOT NULL UNIQUE,
  service_id uuid NOT NULL,
  ended_at_ms bigint
);
CREATE INDEX numbered_endpoints_of_service ON numbered_endpoints (service_id);
CREATE INDEX numbered_endpoints_ended ON numbered_endpoints (ended_at_ms) WHERE ended_at_ms IS NOT NULL;

CREATE TABLE certificate_notices (
  org_id uuid NOT NULL,
  host text COLLATE "C" NOT NULL,
  port integer NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  threshold_s integer NOT NULL,
  not_after_s bigint NOT NULL,
  PRIMARY KEY (org_id, host, port, fingerprint, threshold_s)
) WITHOUT ROWID;
CREATE INDEX certificate_notices_by_end ON certificate_notices (not_after_s);

CREATE TABLE agent_sightings (
  token_id text COLLATE "C" PRIMARY KEY REFERENCES agent_tokens (id) ON DELETE CASCADE,
  seen_at_ms bigint NOT NULL,
  agents integer NOT NULL,
  version text NOT NULL,
  clock_ahead_ms bigint NOT NULL,
  spooled integer NOT NULL,
  checks_in_flight integer NOT NULL
) WITHOUT ROWID;

CREATE TABLE auto_incidents (
  service_id uuid PRIMARY KEY,
  incident_id uuid NOT NULL UNIQUE,
  is_taken_over boolean NOT NULL,
  is_failing boolean NOT NULL,
  updates_made integer NOT NULL,
  investigating_at_s bigint NOT NULL,
  monitoring_at_s bigint NOT NULL,
  reported_down text NOT NULL
) WITHOUT ROWID;

CREATE TABLE failing_rounds (
  service_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  round bigint NOT NULL,
  PRIMARY KEY (service_id, endpoint_id, round)
) WITHOUT ROWID;

CREATE TABLE muted_until_up (
  service_id uuid PRIMARY KEY
) WITHOUT ROWID;
`

/** Types of SQLite; TEXT for all others. */
const SQLITE_TYPES: Readonly<Record<string, string>> = {
  ...{ bigint: 'INTEGER', integer: 'INTEGER', boolean: 'INTEGER', bytea: 'BLOB' },
}

/** Shared tables in SQLite's dialect. Pure. */
export function inSqlite(tables: string): string {
  return tables
    .replaceAll('bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY', 'INTEGER PRIMARY KEY AUTOINCREMENT')
    .replaceAll(
      /^( {2}[a-z_\d]+) ([a-z]+)(?:\[\])?(?: COLLATE "C")?/gm,
      (_, column: string, type: string) => `${column} ${SQLITE_TYPES[type] ?? 'TEXT'}`,
    )
    .replaceAll(/^\)( WITHOUT ROWID)?.*;/gm, (_, option?: string) =>
      option === undefined ? ') STRICT;' : `) STRICT,${option};`,
    )
}

/** Shared tables in PostgreSQL's dialect. Pure. */
export function inPostgres(tables: string): string {
  return tables.replaceAll(' WITHOUT ROWID', '')
}
