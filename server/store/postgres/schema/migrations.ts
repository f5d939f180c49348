/**
 * Steps from an empty database to the newest schema. Never edit a released step: add one that corrects it. Text columns
 * that are compared or ordered use the collation "C", as everywhere in Pharos.
 */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE store_identity (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  id uuid NOT NULL
);
INSERT INTO store_identity (id) VALUES (gen_random_uuid());

CREATE TABLE plans (
  name text PRIMARY KEY,
  has_api_access boolean NOT NULL,
  services_max integer NOT NULL,
  endpoints_max integer NOT NULL,
  service_endpoints_max integer NOT NULL,
  interval_secs_min integer NOT NULL,
  regions_allowed text NOT NULL,
  incidents_mib_max integer NOT NULL,
  results_days integer NOT NULL,
  hours_days integer NOT NULL
);
INSERT INTO plans VALUES
  ('free', false, 3, 5, 5, 300, 'eu-west-1', 16, 7, 90),
  ('starter', false, 15, 50, 20, 60, 'eu-west-1,eu-central-1,us-east-1', 64, 7, 90),
  ('business', true, 100, 500, 50, 30, 'all', 1024, 30, 396),
  ('enterprise', true, 1000, 10000, 100, 10, 'all', 4096, 90, 396);

-- Every mutation of an organisation updates its row, which its revision guards: its counts and counters are exact.
CREATE TABLE orgs (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  plan text NOT NULL REFERENCES plans,
  created_at text COLLATE "C" NOT NULL,
  services_max integer,
  endpoints_max integer,
  service_endpoints_max integer,
  interval_secs_min integer,
  regions_allowed text,
  incidents_mib_max integer,
  results_days integer,
  auto_incident_threshold integer,
  auto_incident_window_minutes integer,
  active_services integer NOT NULL DEFAULT 0,
  active_endpoints integer NOT NULL DEFAULT 0,
  stored_services integer NOT NULL DEFAULT 0,
  incidents_made integer NOT NULL DEFAULT 0,
  incident_bytes bigint NOT NULL DEFAULT 0,
  commands_made bigint NOT NULL DEFAULT 0,
  past_bytes bigint NOT NULL DEFAULT 0,
  short_answers_made bigint NOT NULL DEFAULT 0,
  long_answer_bytes bigint NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
  key_hash bytea NOT NULL UNIQUE,
  last4 text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('read_only', 'read_write')),
  created_by text,
  note text,
  created_at text COLLATE "C" NOT NULL,
  revoked_at text
);
CREATE INDEX api_keys_of_org ON api_keys (org_id);

CREATE TABLE api_key_uses (
  key_id uuid PRIMARY KEY REFERENCES api_keys ON DELETE CASCADE,
  used_at_ms bigint NOT NULL,
  tool text
) WITH (fillfactor = 70);

-- A crash empties it, and no flush waits for it: every key then starts full.
CREATE UNLOGGED TABLE rate_limits (
  key_id uuid PRIMARY KEY,
  full_at_us bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE services (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
  position bigint GENERATED ALWAYS AS IDENTITY,
  generation integer NOT NULL,
  definition_generation integer NOT NULL,
  running_in text NOT NULL,
  -- As answered: jsonb would order the keys anew.
  response text NOT NULL,
  origin text
) WITH (fillfactor = 90);
CREATE INDEX services_of_org ON services (org_id, position);

CREATE TABLE past_generations (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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

CREATE TABLE master_keys (
  id text PRIMARY KEY,
  is_active boolean NOT NULL,
  activated_at text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX one_active_master_key ON master_keys ((true)) WHERE is_active;

CREATE TABLE sealed_values (
  key_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  service_id uuid NOT NULL REFERENCES services ON DELETE CASCADE,
  endpoint_id uuid NOT NULL,
  slot text NOT NULL,
  master_key_id text NOT NULL REFERENCES master_keys,
  wrap_nonce bytea NOT NULL,
  wrapped_key bytea NOT NULL,
  nonce bytea NOT NULL,
  ciphertext bytea NOT NULL
);
CREATE INDEX sealed_values_of_service ON sealed_values (service_id);
CREATE INDEX sealed_values_of_master_key ON sealed_values (master_key_id);

-- Transactions become visible in another order than that of their sequence numbers: readers go by xid, below the oldest
-- one that is still running.
CREATE TABLE commands (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  type text NOT NULL,
  region text NOT NULL,
  service_id uuid NOT NULL,
  generation integer NOT NULL,
  org_id uuid NOT NULL,
  number bigint NOT NULL,
  created_at_ms bigint NOT NULL
);
CREATE INDEX commands_in_order ON commands (xid, sequence);
CREATE INDEX commands_of_org ON commands (org_id, number);

CREATE TABLE outbox_readers (
  name text PRIMARY KEY,
  xid xid8 NOT NULL,
  sequence bigint NOT NULL
);

CREATE TABLE remembered_creations (
  org_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  body_mark bytea NOT NULL,
  answer text NOT NULL,
  created_at_ms bigint NOT NULL,
  -- Of a short answer: how many the organisation had. Of a long one: the bytes that it had, with this one.
  short_number bigint,
  long_bytes_up_to bigint,
  PRIMARY KEY (org_id, key_hash)
);
CREATE INDEX remembered_creations_by_age ON remembered_creations (created_at_ms);
CREATE INDEX remembered_creations_short ON remembered_creations (org_id, short_number)
  WHERE short_number IS NOT NULL;
CREATE INDEX remembered_creations_long ON remembered_creations (org_id, long_bytes_up_to)
  WHERE long_bytes_up_to IS NOT NULL;

CREATE TABLE incidents (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
  position bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL CHECK (kind IN ('incident', 'maintenance')),
  number integer,
  title text NOT NULL,
  title_folded text NOT NULL,
  display_id_folded text NOT NULL,
  status text NOT NULL,
  severity text NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  resolved_at text COLLATE "C",
  auto_managed boolean NOT NULL,
  starts_at text COLLATE "C",
  ends_at text COLLATE "C",
  service_ids uuid[] NOT NULL,
  UNIQUE (org_id, number)
);
CREATE INDEX incidents_by_section ON incidents (org_id, (status = 'resolved'), position) WHERE kind = 'incident';
CREATE INDEX maintenance_of_org ON incidents (org_id) WHERE kind = 'maintenance';
CREATE INDEX incidents_by_service ON incidents USING gin (service_ids);

CREATE TABLE incident_updates (
  incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
  place integer NOT NULL,
  id uuid NOT NULL UNIQUE,
  body text NOT NULL,
  status_at_update text NOT NULL,
  created_at text NOT NULL,
  is_automatic boolean NOT NULL,
  -- Who wrote it; the API never shows it.
  actor_kind text CHECK (actor_kind IN ('person', 'key')),
  actor text,
  PRIMARY KEY (incident_id, place)
);

-- write_id is of the statement that wrote the entry: it tells whether a statement without an answer was executed.
CREATE TABLE audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id uuid NOT NULL,
  at text COLLATE "C" NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('person', 'key', 'cli', 'system')),
  actor text,
  action text NOT NULL,
  target_kind text NOT NULL,
  target_id text NOT NULL,
  detail text NOT NULL,
  write_id uuid
);
CREATE INDEX audit_of_org ON audit (org_id, seq);
CREATE INDEX audit_by_age ON audit (at);

CREATE TABLE region_modes (
  region text PRIMARY KEY,
  mode text NOT NULL CHECK (mode IN ('embedded', 'remote', 'off'))
);

CREATE TABLE agent_tokens (
  id text COLLATE "C" PRIMARY KEY,
  region text NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL UNIQUE,
  last4 text NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  revoked_at text
);

CREATE TABLE heartbeat (
  only_row boolean PRIMARY KEY CHECK (only_row),
  beaten_at_ms bigint NOT NULL
);
`,
  // Accounts of the console. Of every token only the hash is stored.
  `
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
  org_id uuid NOT NULL REFERENCES orgs ON DELETE CASCADE,
  person_id uuid NOT NULL REFERENCES people ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
  created_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (org_id, person_id)
);
CREATE INDEX memberships_of_person ON memberships (person_id);

CREATE TABLE invitations (
  token_hash bytea PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs ON DELETE CASCADE,
  email text NOT NULL,
  email_folded text COLLATE "C" NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
  expires_at_ms bigint NOT NULL,
  UNIQUE (org_id, email_folded)
);
CREATE INDEX invitations_by_expiry ON invitations (expires_at_ms);

CREATE TABLE sessions (
  id_hash bytea PRIMARY KEY,
  person_id uuid NOT NULL REFERENCES people ON DELETE CASCADE,
  created_at_ms bigint NOT NULL,
  seen_at_ms bigint NOT NULL,
  elevated_at_ms bigint,
  browser text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX sessions_of_person ON sessions (person_id);
CREATE INDEX sessions_by_use ON sessions (seen_at_ms);
CREATE INDEX sessions_by_age ON sessions (created_at_ms);

CREATE TABLE password_resets (
  token_hash bytea PRIMARY KEY,
  person_id uuid NOT NULL UNIQUE REFERENCES people ON DELETE CASCADE,
  expires_at_ms bigint NOT NULL
);
`,
  // The place to which the data went: programs then refuse to use what is left.
  `
CREATE TABLE moved (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  place text NOT NULL
);
`,
  // Notification channels, and what they have to deliver. A waiting delivery is found by its channel, whatever waits for
  // others; channel_turns names the process that sends to a channel, by the clock of the database.
  `
CREATE TABLE channels (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
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

CREATE TABLE channel_turns (
  channel_id uuid PRIMARY KEY,
  holder uuid NOT NULL,
  until timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE sealed_secrets (
  key_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  channel_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('target', 'secret', 'old_secret')),
  slot text NOT NULL,
  master_key_id text NOT NULL REFERENCES master_keys,
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
  event_seq bigint NOT NULL REFERENCES events ON DELETE CASCADE,
  channel_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
  webhook_id text NOT NULL UNIQUE,
  incident_id uuid,
  state text NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  attempts_before integer NOT NULL DEFAULT 0,
  due_ms bigint NOT NULL,
  ended_ms bigint,
  failed_reason text,
  PRIMARY KEY (event_seq, channel_id)
) WITH (fillfactor = 80);
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
  FOREIGN KEY (event_seq, channel_id) REFERENCES deliveries ON DELETE CASCADE
);
`,
  // Status pages. A component goes with its service, in the same transaction; its own id is the one that the public sees.
  // Most pages show the incidents of people only: automatic ones, which can be many more, are not read past.
  `
CREATE TABLE status_pages (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
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
  page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE
);
CREATE INDEX status_hosts_of_page ON status_hosts (page_id);

CREATE TABLE status_sections (
  id uuid PRIMARY KEY,
  page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE,
  place integer NOT NULL,
  name text NOT NULL
);
CREATE INDEX status_sections_of_page ON status_sections (page_id, place);

CREATE TABLE status_components (
  id uuid PRIMARY KEY,
  section_id uuid NOT NULL REFERENCES status_sections ON DELETE CASCADE,
  place integer NOT NULL,
  service_id uuid NOT NULL REFERENCES services ON DELETE CASCADE,
  public_name text NOT NULL,
  text text NOT NULL,
  shows_uptime boolean NOT NULL
);
CREATE INDEX status_components_of_section ON status_components (section_id, place);
CREATE INDEX status_components_of_service ON status_components (service_id);

CREATE TABLE status_hidden (
  page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE,
  incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
  PRIMARY KEY (page_id, incident_id)
);
CREATE INDEX status_hidden_by_incident ON status_hidden (incident_id);

CREATE INDEX incidents_by_creation ON incidents (org_id, created_at) WHERE kind = 'incident';
CREATE INDEX incidents_by_resolution ON incidents (org_id, resolved_at)
  WHERE kind = 'incident' AND resolved_at IS NOT NULL;
CREATE INDEX people_incidents_by_creation ON incidents (org_id, created_at)
  WHERE kind = 'incident' AND NOT auto_managed;
CREATE INDEX people_incidents_by_resolution ON incidents (org_id, resolved_at)
  WHERE kind = 'incident' AND NOT auto_managed AND resolved_at IS NOT NULL;
`,
  // Monitoring. An endpoint is numbered when it is first monitored, and the number is never reused: results refer to it. Of
  // changes without a command only the newest of each service is kept.
  `
CREATE TABLE numbered_endpoints (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  endpoint_id uuid NOT NULL UNIQUE,
  service_id uuid NOT NULL,
  ended_at_ms bigint
);
CREATE INDEX numbered_endpoints_of_service ON numbered_endpoints (service_id);
CREATE INDEX numbered_endpoints_ended ON numbered_endpoints (ended_at_ms) WHERE ended_at_ms IS NOT NULL;

CREATE TABLE quiet_changes (
  service_id uuid PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX quiet_changes_in_order ON quiet_changes (xid);

CREATE INDEX commands_of_region ON commands (region, xid);
CREATE TABLE outbox_horizon (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  deleted_up_to xid8 NOT NULL
);
INSERT INTO outbox_horizon (deleted_up_to) SELECT coalesce(
  (SELECT xid FROM commands ORDER BY xid LIMIT 1), pg_current_xact_id());
CREATE FUNCTION note_deleted_commands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE outbox_horizon h SET deleted_up_to = d.xid
    FROM (SELECT xid FROM deleted ORDER BY xid DESC LIMIT 1) d WHERE h.deleted_up_to < d.xid;
  RETURN NULL;
END $$;
CREATE TRIGGER commands_deleted AFTER DELETE ON commands REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_commands();

CREATE TABLE applied_transitions (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  results_file text NOT NULL,
  sequence bigint NOT NULL
);

CREATE TABLE auto_incidents (
  service_id uuid PRIMARY KEY REFERENCES services ON DELETE CASCADE,
  incident_id uuid NOT NULL UNIQUE,
  is_taken_over boolean NOT NULL,
  is_failing boolean NOT NULL,
  updates_made integer NOT NULL,
  investigating_at_s bigint NOT NULL,
  monitoring_at_s bigint NOT NULL,
  reported_down text NOT NULL
);

CREATE TABLE failing_rounds (
  service_id uuid NOT NULL REFERENCES services ON DELETE CASCADE,
  endpoint_id uuid NOT NULL,
  round bigint NOT NULL,
  PRIMARY KEY (service_id, endpoint_id, round)
);

CREATE TABLE muted_until_up (service_id uuid PRIMARY KEY REFERENCES services ON DELETE CASCADE);

CREATE TABLE certificate_notices (
  org_id uuid NOT NULL,
  host text COLLATE "C" NOT NULL,
  port integer NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  threshold_s integer NOT NULL,
  not_after_s bigint NOT NULL,
  PRIMARY KEY (org_id, host, port, fingerprint, threshold_s)
);
CREATE INDEX certificate_notices_by_end ON certificate_notices (not_after_s);

CREATE TABLE agent_sightings (
  token_id text COLLATE "C" PRIMARY KEY REFERENCES agent_tokens ON DELETE CASCADE,
  seen_at_ms bigint NOT NULL,
  agents integer NOT NULL,
  version text NOT NULL,
  clock_ahead_ms bigint NOT NULL,
  spooled integer NOT NULL,
  checks_in_flight integer NOT NULL
);
`,
  // What only one program does at a time, by the clock of the database; address is where others find it.
  `
CREATE TABLE leases (
  name text PRIMARY KEY,
  holder uuid NOT NULL,
  address text,
  until timestamptz NOT NULL
) WITH (fillfactor = 50);
`,
  // The cluster and database in which the store was made: a dump restored elsewhere is another store.
  `
ALTER TABLE store_identity ADD COLUMN made_in text;
`,
]

/** How many steps a program must know to use the newest schema. */
export const COMPATIBLE_FROM = 1
