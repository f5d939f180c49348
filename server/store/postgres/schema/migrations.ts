import { inPostgres, KEY_TABLES, MONITORING_TABLES, SHARED_TABLES } from '../../schema/sharedTables.ts'

/** Steps 2 to 5, which step 1 includes: no release has only some of them. */
const UNRELEASED = [null, null, null, null]

/**
 * Steps from an empty database to the newest schema; `null` for one that an earlier step includes. Never edit a
 * released step: add one that corrects it. Text columns that are compared or ordered use the collation "C", as
 * everywhere in Pharos.
 */
export const MIGRATIONS: readonly (string | null)[] = [
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

${inPostgres(KEY_TABLES)}
ALTER TABLE api_keys ADD COLUMN note text;
CREATE UNIQUE INDEX one_active_master_key ON master_keys ((true)) WHERE is_active;

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

CREATE TABLE heartbeat (
  only_row boolean PRIMARY KEY CHECK (only_row),
  beaten_at_ms bigint NOT NULL
);

-- The place to which the data went: programs then refuse to use what is left.
CREATE TABLE moved (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  place text NOT NULL
);

-- The process that sends to a channel, by the clock of the database.
CREATE TABLE channel_turns (
  channel_id uuid PRIMARY KEY,
  holder uuid NOT NULL,
  until timestamptz NOT NULL
) WITH (fillfactor = 50);
${inPostgres(SHARED_TABLES)}
ALTER TABLE past_generations ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY;
-- Of the statement that wrote the entry: it tells whether a statement without an answer was executed.
ALTER TABLE audit ADD COLUMN write_id uuid;
CREATE INDEX sessions_by_age ON sessions (created_at_ms);

-- Most pages show the incidents of people only: automatic ones, which can be many more, are not read past.
CREATE INDEX people_incidents_by_creation ON incidents (org_id, created_at)
  WHERE kind = 'incident' AND NOT auto_managed;
CREATE INDEX people_incidents_by_resolution ON incidents (org_id, resolved_at)
  WHERE kind = 'incident' AND NOT auto_managed AND resolved_at IS NOT NULL;
`,
  ...UNRELEASED,
  // Monitoring. Of changes without a command only the newest of each service is kept.
  `${inPostgres(MONITORING_TABLES)}
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

ALTER TABLE auto_incidents ADD FOREIGN KEY (service_id) REFERENCES services ON DELETE CASCADE;
ALTER TABLE failing_rounds ADD FOREIGN KEY (service_id) REFERENCES services ON DELETE CASCADE;
ALTER TABLE muted_until_up ADD FOREIGN KEY (service_id) REFERENCES services ON DELETE CASCADE;
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
