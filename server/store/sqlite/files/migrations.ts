import type { Database } from 'better-sqlite3'

/**
 * Steps from an empty database to the newest schema; `user_version` counts the completed ones. Never edit a released
 * step: add one that corrects it.
 */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE plans (
  name TEXT PRIMARY KEY,
  has_api_access INTEGER NOT NULL,
  services_max INTEGER NOT NULL,
  endpoints_max INTEGER NOT NULL,
  service_endpoints_max INTEGER NOT NULL,
  interval_secs_min INTEGER NOT NULL,
  regions_allowed TEXT NOT NULL
) STRICT;

INSERT INTO plans VALUES
  ('free', 0, 3, 5, 5, 300, 'eu-west-1'),
  ('starter', 0, 15, 50, 20, 60, 'eu-west-1,eu-central-1,us-east-1'),
  ('business', 1, 100, 500, 50, 30, 'all'),
  ('enterprise', 1, 1000, 10000, 100, 10, 'all');

CREATE TABLE orgs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  plan TEXT NOT NULL REFERENCES plans (name),
  created_at TEXT NOT NULL,
  services_max INTEGER,
  endpoints_max INTEGER,
  service_endpoints_max INTEGER,
  interval_secs_min INTEGER,
  regions_allowed TEXT,
  active_services INTEGER NOT NULL DEFAULT 0,
  active_endpoints INTEGER NOT NULL DEFAULT 0,
  stored_services INTEGER NOT NULL DEFAULT 0,
  incidents_made INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id),
  key_hash BLOB NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('read_only', 'read_write')),
  created_by TEXT,
  created_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE INDEX api_keys_of_org ON api_keys (org_id);

CREATE TABLE services (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES orgs (id),
  generation INTEGER NOT NULL,
  response TEXT NOT NULL
) STRICT;
CREATE INDEX services_of_org ON services (org_id, position);

CREATE TABLE sealed_values (
  key_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  endpoint_id TEXT NOT NULL,
  slot TEXT NOT NULL,
  master_key_id TEXT NOT NULL REFERENCES master_keys (id),
  wrap_nonce BLOB NOT NULL,
  wrapped_key BLOB NOT NULL,
  nonce BLOB NOT NULL,
  ciphertext BLOB NOT NULL
) STRICT;
CREATE INDEX sealed_values_of_service ON sealed_values (service_id);
CREATE INDEX sealed_values_of_master_key ON sealed_values (master_key_id);

CREATE TABLE master_keys (
  id TEXT PRIMARY KEY,
  is_active INTEGER NOT NULL,
  activated_at TEXT NOT NULL
) STRICT;

CREATE TABLE commands (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  region TEXT NOT NULL,
  service_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  definition TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE publication (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  published_up_to INTEGER NOT NULL
) STRICT;
INSERT INTO publication VALUES (1, 0);

CREATE TABLE remembered_creations (
  org_id TEXT NOT NULL,
  key_hash BLOB NOT NULL,
  body_mark BLOB NOT NULL,
  answer TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (org_id, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX remembered_creations_by_age ON remembered_creations (created_at_ms);

CREATE TABLE incidents (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES orgs (id),
  kind TEXT NOT NULL CHECK (kind IN ('incident', 'maintenance')),
  number INTEGER,
  title TEXT NOT NULL,
  title_folded TEXT NOT NULL,
  display_id_folded TEXT NOT NULL,
  status TEXT NOT NULL,
  severity TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  resolved_at TEXT,
  auto_managed INTEGER NOT NULL,
  starts_at TEXT,
  ends_at TEXT,
  UNIQUE (org_id, number)
) STRICT;
CREATE INDEX incidents_of_org ON incidents (org_id, kind, position);

CREATE TABLE incident_services (
  incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  service_id TEXT NOT NULL,
  PRIMARY KEY (incident_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX incident_services_by_service ON incident_services (service_id, incident_id);

CREATE TABLE incident_updates (
  incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,
  status_at_update TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (incident_id, place)
) STRICT;

CREATE TABLE heartbeat (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  beaten_at_ms INTEGER NOT NULL
) STRICT;
`,
  // The size of the long responses is computed without reading them: there may be a million short ones, and a GiB of
  // long ones.
  `
ALTER TABLE remembered_creations ADD COLUMN long_bytes INTEGER;
UPDATE remembered_creations SET long_bytes = octet_length(answer) WHERE octet_length(answer) > 16384;
CREATE INDEX remembered_creations_long ON remembered_creations (org_id, created_at_ms, long_bytes)
  WHERE long_bytes IS NOT NULL;
`,
  // A region gets the newest definition, so commands need none: a copy for each region and change filled the disk. Of a
  // paused service the last command is the last published one, unless it was deleted.
  `
CREATE TABLE store_identity (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  id TEXT NOT NULL
) STRICT;

ALTER TABLE services ADD COLUMN definition_generation INTEGER NOT NULL DEFAULT 0;
UPDATE services SET definition_generation = generation;
UPDATE services SET definition_generation = newest.generation
  FROM (SELECT service_id, max(generation) AS generation FROM commands GROUP BY service_id) AS newest
  WHERE services.id = newest.service_id;

ALTER TABLE services ADD COLUMN running_in TEXT NOT NULL DEFAULT '';
UPDATE services SET running_in = (SELECT group_concat(value, ',') FROM json_each(response, '$.regions'))
  WHERE json_extract(response, '$.paused_at') IS NULL;

ALTER TABLE commands DROP COLUMN definition;
ALTER TABLE commands ADD COLUMN org_id TEXT;
ALTER TABLE commands ADD COLUMN number INTEGER;
UPDATE commands SET org_id = services.org_id FROM services WHERE services.id = commands.service_id;
UPDATE commands SET number = numbered.number
  FROM (SELECT sequence, row_number() OVER (PARTITION BY org_id ORDER BY sequence) AS number FROM commands
        WHERE org_id IS NOT NULL) AS numbered
  WHERE numbered.sequence = commands.sequence;
CREATE INDEX commands_of_org ON commands (org_id, number);
`,
  // Incident sizes are counted like incidentBytes. Short responses stored before are not numbered: they expire within a
  // day.
  `
ALTER TABLE plans ADD COLUMN incidents_mib_max INTEGER NOT NULL DEFAULT 1024;
UPDATE plans SET incidents_mib_max = 16 WHERE name = 'free';
UPDATE plans SET incidents_mib_max = 64 WHERE name = 'starter';
UPDATE plans SET incidents_mib_max = 4096 WHERE name = 'enterprise';
ALTER TABLE orgs ADD COLUMN incidents_mib_max INTEGER;

ALTER TABLE orgs ADD COLUMN incident_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE orgs SET incident_bytes = incident_bytes + counted.bytes FROM
  (SELECT org_id, sum(1024 + 2 * octet_length(title) + iif(status = 'resolved', 0, 81920)) AS bytes
   FROM incidents WHERE kind = 'incident' GROUP BY org_id) AS counted
  WHERE orgs.id = counted.org_id;
UPDATE orgs SET incident_bytes = incident_bytes + counted.bytes FROM
  (SELECT org_id, sum(384 + octet_length(body)) AS bytes
   FROM incident_updates JOIN incidents ON incidents.id = incident_id WHERE kind = 'incident' GROUP BY org_id) AS counted
  WHERE orgs.id = counted.org_id;
UPDATE orgs SET incident_bytes = incident_bytes + counted.bytes FROM
  (SELECT org_id, 256 * count(*) AS bytes
   FROM incident_services JOIN incidents ON incidents.id = incident_id WHERE kind = 'incident' GROUP BY org_id) AS counted
  WHERE orgs.id = counted.org_id;

ALTER TABLE remembered_creations ADD COLUMN number INTEGER;
CREATE INDEX remembered_creations_short ON remembered_creations (org_id, number) WHERE number IS NOT NULL;
`,
  // A list of incidents reads only the rows it shows: triggers count sections and severities on each change, so that
  // the counts hold for every writer. The position, which a maintenance window does not have, orders those of one
  // service.
  `
CREATE TABLE incident_counts (
  org_id TEXT NOT NULL,
  is_resolved INTEGER NOT NULL,
  severity TEXT NOT NULL,
  incidents INTEGER NOT NULL,
  PRIMARY KEY (org_id, is_resolved, severity)
) STRICT, WITHOUT ROWID;
INSERT INTO incident_counts SELECT org_id, status = 'resolved', severity, count(*) FROM incidents
  WHERE kind = 'incident' GROUP BY org_id, status = 'resolved', severity;

DROP INDEX incidents_of_org;
CREATE INDEX maintenance_of_org ON incidents (org_id) WHERE kind = 'maintenance';
CREATE INDEX incidents_by_section ON incidents (org_id, (status = 'resolved')) WHERE kind = 'incident';
CREATE INDEX incidents_by_severity ON incidents (org_id, (status = 'resolved'), severity) WHERE kind = 'incident';

ALTER TABLE incident_services ADD COLUMN position INTEGER;
ALTER TABLE incident_services ADD COLUMN is_resolved INTEGER NOT NULL DEFAULT 0;
UPDATE incident_services SET position = incidents.position, is_resolved = status = 'resolved' FROM incidents
  WHERE incidents.id = incident_id AND kind = 'incident';
DROP INDEX incident_services_by_service;
CREATE INDEX incident_services_by_section ON incident_services (service_id, is_resolved, position)
  WHERE position IS NOT NULL;

CREATE TRIGGER incident_made AFTER INSERT ON incidents WHEN NEW.kind = 'incident' BEGIN
  INSERT INTO incident_counts VALUES (NEW.org_id, NEW.status = 'resolved', NEW.severity, 1)
    ON CONFLICT DO UPDATE SET incidents = incidents + 1;
END;
CREATE TRIGGER incident_changed AFTER UPDATE OF status, severity ON incidents WHEN NEW.kind = 'incident' BEGIN
  UPDATE incident_counts SET incidents = incidents - 1
    WHERE org_id = OLD.org_id AND is_resolved = (OLD.status = 'resolved') AND severity = OLD.severity;
  INSERT INTO incident_counts VALUES (NEW.org_id, NEW.status = 'resolved', NEW.severity, 1)
    ON CONFLICT DO UPDATE SET incidents = incidents + 1;
END;
CREATE TRIGGER incident_resolved AFTER UPDATE OF status ON incidents
  WHEN NEW.kind = 'incident' AND (OLD.status = 'resolved') <> (NEW.status = 'resolved') BEGIN
  UPDATE incident_services SET is_resolved = (NEW.status = 'resolved') WHERE incident_id = NEW.id;
END;
CREATE TRIGGER incident_removed AFTER DELETE ON incidents WHEN OLD.kind = 'incident' BEGIN
  UPDATE incident_counts SET incidents = incidents - 1
    WHERE org_id = OLD.org_id AND is_resolved = (OLD.status = 'resolved') AND severity = OLD.severity;
END;
`,
  `
CREATE TABLE outbox_readers (
  name TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO outbox_readers SELECT 'bus', published_up_to FROM publication;

CREATE TABLE outbox_horizon (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  deleted_up_to INTEGER NOT NULL
) STRICT;
INSERT INTO outbox_horizon SELECT 1, published_up_to FROM publication;
DROP TABLE publication;

CREATE TRIGGER command_deleted AFTER DELETE ON commands BEGIN
  UPDATE outbox_horizon SET deleted_up_to = max(deleted_up_to, OLD.sequence);
END;
`,
  // An endpoint is numbered when it is first monitored, and the number is never reused: results refer to it.
  `
CREATE TABLE region_modes (
  region TEXT PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('embedded', 'remote', 'off'))
) STRICT, WITHOUT ROWID;

CREATE TABLE numbered_endpoints (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id TEXT NOT NULL UNIQUE,
  service_id TEXT NOT NULL
) STRICT;
CREATE INDEX numbered_endpoints_of_service ON numbered_endpoints (service_id);

CREATE INDEX commands_of_region ON commands (region);

CREATE TABLE applied_transitions (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  results_file TEXT NOT NULL,
  sequence INTEGER NOT NULL
) STRICT;
`,
  // Only the hash and display fields of a token are stored.
  `
CREATE TABLE agent_tokens (
  id TEXT PRIMARY KEY,
  region TEXT NOT NULL,
  name TEXT NOT NULL,
  token_hash BLOB NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  created_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
`,
  // Defaults of automatic incidents, and changes of services without a command.
  `
ALTER TABLE orgs ADD COLUMN auto_incident_threshold INTEGER;
ALTER TABLE orgs ADD COLUMN auto_incident_window_minutes INTEGER;

CREATE TABLE quiet_changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  service_id TEXT NOT NULL UNIQUE
) STRICT;
`,
  // Automatic incidents: those that are open, the rounds that count towards one, and services that wait to be up first.
  `
ALTER TABLE incident_updates ADD COLUMN is_automatic INTEGER NOT NULL DEFAULT 0;
CREATE INDEX maintenance_of_service ON incident_services (service_id) WHERE position IS NULL;

CREATE TABLE auto_incidents (
  service_id TEXT PRIMARY KEY,
  incident_id TEXT NOT NULL UNIQUE,
  is_taken_over INTEGER NOT NULL,
  is_failing INTEGER NOT NULL,
  updates_made INTEGER NOT NULL,
  investigating_at_s INTEGER NOT NULL,
  monitoring_at_s INTEGER NOT NULL,
  reported_down TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE failing_rounds (
  service_id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  round INTEGER NOT NULL,
  PRIMARY KEY (service_id, endpoint_id, round)
) STRICT, WITHOUT ROWID;

CREATE TABLE muted_until_up (service_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`,
  // A definition is copied when it is replaced: the current one is in services. bytes_up_to counts what the
  // organisation has ever kept, so that the oldest can be found that are too much.
  `
ALTER TABLE services ADD COLUMN origin TEXT;

CREATE TABLE past_generations (
  sequence INTEGER PRIMARY KEY,
  org_id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  origin TEXT,
  definition TEXT,
  bytes_up_to INTEGER NOT NULL
) STRICT;
CREATE INDEX past_generations_of_service ON past_generations (service_id, generation);
CREATE INDEX past_generations_by_age ON past_generations (org_id, until_ms);
CREATE INDEX past_generations_by_bytes ON past_generations (org_id, bytes_up_to);
`,
  // Retention of results and of their hourly rollups (days).
  `
ALTER TABLE plans ADD COLUMN results_days INTEGER NOT NULL DEFAULT 7;
ALTER TABLE plans ADD COLUMN hours_days INTEGER NOT NULL DEFAULT 90;
UPDATE plans SET results_days = 30, hours_days = 396 WHERE name = 'business';
UPDATE plans SET results_days = 90, hours_days = 396 WHERE name = 'enterprise';
ALTER TABLE orgs ADD COLUMN results_days INTEGER;
`,
  // Notices of certificates, which losing the results does not repeat.
  `
CREATE TABLE certificate_notices (
  org_id TEXT NOT NULL,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  threshold_s INTEGER NOT NULL,
  not_after_s INTEGER NOT NULL,
  PRIMARY KEY (org_id, host, port, fingerprint, threshold_s)
) STRICT, WITHOUT ROWID;
CREATE INDEX certificate_notices_by_end ON certificate_notices (not_after_s);
`,
  // Status pages. A component goes with its service, in the same transaction; its own id is the one that the public
  // sees.
  `
CREATE TABLE status_pages (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id),
  slug TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  is_public INTEGER NOT NULL,
  incidents_shown TEXT NOT NULL CHECK (incidents_shown IN ('people', 'all', 'none')),
  created_at TEXT NOT NULL,
  generation INTEGER NOT NULL
) STRICT;
CREATE INDEX status_pages_of_org ON status_pages (org_id);

CREATE TABLE status_hosts (
  host TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX status_hosts_of_page ON status_hosts (page_id);

CREATE TABLE status_sections (
  id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  name TEXT NOT NULL
) STRICT;
CREATE INDEX status_sections_of_page ON status_sections (page_id, place);

CREATE TABLE status_components (
  id TEXT PRIMARY KEY,
  section_id TEXT NOT NULL REFERENCES status_sections (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  public_name TEXT NOT NULL
) STRICT;
CREATE INDEX status_components_of_section ON status_components (section_id, place);
CREATE INDEX status_components_of_service ON status_components (service_id);

CREATE TABLE status_hidden (
  page_id TEXT NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
  incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  PRIMARY KEY (page_id, incident_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_hidden_by_incident ON status_hidden (incident_id);

CREATE INDEX incidents_by_number ON incidents (org_id, number) WHERE kind = 'incident';
CREATE INDEX incidents_by_creation ON incidents (org_id, created_at) WHERE kind = 'incident';
CREATE INDEX incidents_by_resolution ON incidents (org_id, resolved_at)
  WHERE kind = 'incident' AND resolved_at IS NOT NULL;
`,
  // Notification channels, what they have to deliver, and the record of who changed what. A waiting delivery is found
  // by its channel, whatever waits for others.
  `
CREATE TABLE channels (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id),
  kind TEXT NOT NULL CHECK (kind IN ('webhook', 'slack')),
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  events TEXT NOT NULL,
  service_ids TEXT,
  old_secret_until_ms INTEGER,
  state TEXT NOT NULL CHECK (state IN ('active', 'disabled')),
  disabled_reason TEXT,
  disabled_at_ms INTEGER,
  enabled_at_ms INTEGER NOT NULL,
  last_success_at_ms INTEGER,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX channels_of_org ON channels (org_id);

CREATE TABLE sealed_secrets (
  key_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('target', 'secret', 'old_secret')),
  slot TEXT NOT NULL,
  master_key_id TEXT NOT NULL REFERENCES master_keys (id),
  wrap_nonce BLOB NOT NULL,
  wrapped_key BLOB NOT NULL,
  nonce BLOB NOT NULL,
  ciphertext BLOB NOT NULL,
  UNIQUE (channel_id, role)
) STRICT;
CREATE INDEX sealed_secrets_by_master_key ON sealed_secrets (master_key_id);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL,
  type TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  incident_id TEXT,
  sequence INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_age ON events (at_ms);

CREATE TABLE deliveries (
  event_seq INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  webhook_id TEXT NOT NULL UNIQUE,
  incident_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  attempts_before INTEGER NOT NULL DEFAULT 0,
  due_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  PRIMARY KEY (event_seq, channel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_of_channel ON deliveries (channel_id, event_seq);
CREATE INDEX deliveries_waiting ON deliveries (channel_id, due_ms, event_seq) WHERE state = 'waiting';
CREATE INDEX deliveries_of_incident ON deliveries (channel_id, incident_id, event_seq)
  WHERE state = 'waiting' AND incident_id IS NOT NULL;
CREATE INDEX deliveries_ended ON deliveries (state, ended_ms) WHERE ended_ms IS NOT NULL;

CREATE TABLE attempts (
  event_seq INTEGER NOT NULL,
  channel_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  ms INTEGER NOT NULL,
  PRIMARY KEY (event_seq, channel_id, number),
  FOREIGN KEY (event_seq, channel_id) REFERENCES deliveries (event_seq, channel_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id TEXT NOT NULL,
  at TEXT NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('person', 'key', 'cli', 'system')),
  actor TEXT,
  action TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_org ON audit (org_id, seq);
CREATE INDEX audit_by_age ON audit (at);
`,
  // Most status pages show the incidents of people only: automatic ones, which can be many more, are not read past.
  `
CREATE INDEX people_incidents_by_creation ON incidents (org_id, created_at)
  WHERE kind = 'incident' AND auto_managed = 0;
CREATE INDEX people_incidents_by_resolution ON incidents (org_id, resolved_at)
  WHERE kind = 'incident' AND auto_managed = 0 AND resolved_at IS NOT NULL;
`,
  // Accounts of the console. Of every token only the hash is stored.
  `
CREATE TABLE people (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT,
  look TEXT NOT NULL DEFAULT 'auto' CHECK (look IN ('auto', 'light', 'dark')),
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE memberships (
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
  created_at TEXT NOT NULL,
  PRIMARY KEY (org_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_of_person ON memberships (person_id);

CREATE TABLE invitations (
  token_hash BLOB PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')),
  expires_at_ms INTEGER NOT NULL,
  UNIQUE (org_id, email_folded)
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_by_expiry ON invitations (expires_at_ms);

CREATE TABLE sessions (
  id_hash BLOB PRIMARY KEY,
  person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  created_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  elevated_at_ms INTEGER,
  browser TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_person ON sessions (person_id);
CREATE INDEX sessions_by_use ON sessions (seen_at_ms);

CREATE TABLE password_resets (
  token_hash BLOB PRIMARY KEY,
  person_id TEXT NOT NULL UNIQUE REFERENCES people (id) ON DELETE CASCADE,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key_uses (
  key_id TEXT PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
  used_at_ms INTEGER NOT NULL,
  tool TEXT
) STRICT, WITHOUT ROWID;
ALTER TABLE api_keys ADD COLUMN note TEXT;
`,
  // Endpoints that ended, whose numbers are removed after their history.
  `
ALTER TABLE numbered_endpoints ADD COLUMN ended_at_ms INTEGER;
CREATE INDEX numbered_endpoints_ended ON numbered_endpoints (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
`,
  // Who wrote each update of an incident. The API never shows it.
  `
CREATE TABLE incident_authors (
  update_id TEXT PRIMARY KEY REFERENCES incident_updates (id) ON DELETE CASCADE,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('person', 'key')),
  actor TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
  // A line of text below a component's name, and whether its days and uptime are public.
  `
ALTER TABLE status_components ADD COLUMN text TEXT NOT NULL DEFAULT '';
ALTER TABLE status_components ADD COLUMN shows_uptime INTEGER NOT NULL DEFAULT 1;
`,
  // Why a delivery failed that had attempts left.
  `
ALTER TABLE deliveries ADD COLUMN failed_reason TEXT;
`,
  // What the agents of each token last said of themselves, for the command line.
  `
CREATE TABLE agent_sightings (
  token_id TEXT PRIMARY KEY REFERENCES agent_tokens (id) ON DELETE CASCADE,
  seen_at_ms INTEGER NOT NULL,
  agents INTEGER NOT NULL,
  version TEXT NOT NULL,
  clock_ahead_ms INTEGER NOT NULL,
  spooled INTEGER NOT NULL,
  checks_in_flight INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
]

/**
 * Migrates `database` to the newest schema in one transaction: an interrupted migration is repeated, and no other
 * process sees a part of one. Throws when the database was created by a newer release.
 */
export function migrate(database: Database, migrations: readonly string[] = MIGRATIONS): void {
  // Without pending steps no lock is needed: a program that only reads need not wait for a writer.
  if (schemaVersion(database) === migrations.length) return
  const takeSteps = database.transaction(() => {
    const version = schemaVersion(database)
    if (version > migrations.length) {
      throw new Error(
        `the database has schema ${version} and this release knows ${migrations.length}: start the release that made it, or a newer one`,
      )
    }
    for (const step of migrations.slice(version)) database.exec(step)
    database.pragma(`user_version = ${migrations.length}`)
  })
  // Immediate, and the version is read inside: of two programs that start at once, only one runs the steps.
  takeSteps.immediate()
}

/** Number of steps that `database` has completed; 0 for an empty one. */
export function schemaVersion(database: Database): number {
  const version = database.pragma('user_version', { simple: true })
  return typeof version === 'number' ? version : 0
}
