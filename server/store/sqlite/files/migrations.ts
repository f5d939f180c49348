import type { Database } from 'better-sqlite3'
import { inSqlite, KEY_TABLES, MONITORING_TABLES, SHARED_TABLES } from '../../schema/sharedTables.ts'

/** Steps 4 to 22, which step 3 includes: no release has only some of them. */
const UNRELEASED = Array.from({ length: 19 }, () => null)

/**
 * Steps from an empty database to the newest schema, `null` for one that an earlier step includes; `user_version`
 * counts the completed ones. Never edit a released step: add one that corrects it.
 */
export const MIGRATIONS: readonly (string | null)[] = [
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

CREATE TABLE services (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  org_id TEXT NOT NULL REFERENCES orgs (id),
  generation INTEGER NOT NULL,
  response TEXT NOT NULL
) STRICT;
CREATE INDEX services_of_org ON services (org_id, position);

${inSqlite(KEY_TABLES)}
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
  `
-- A region gets the newest definition, so commands need none: a copy for each region and change filled the disk. Of a
-- paused service the last command is the last published one, unless it was deleted.
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

-- Incident sizes are counted like incidentBytes. Short responses stored before are not numbered: they expire within a
-- day.
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

-- A list of incidents reads only the rows it shows: triggers count sections and severities on each change, so that the
-- counts hold for every writer. The position, which a maintenance window does not have, orders those of one service.
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

CREATE INDEX commands_of_region ON commands (region);

CREATE TABLE applied_transitions (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  results_file TEXT NOT NULL,
  sequence INTEGER NOT NULL
) STRICT;

-- Defaults of automatic incidents, and changes of services without a command.
ALTER TABLE orgs ADD COLUMN auto_incident_threshold INTEGER;
ALTER TABLE orgs ADD COLUMN auto_incident_window_minutes INTEGER;

CREATE TABLE quiet_changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  service_id TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE incident_updates ADD COLUMN is_automatic INTEGER NOT NULL DEFAULT 0;
CREATE INDEX maintenance_of_service ON incident_services (service_id) WHERE position IS NULL;

ALTER TABLE services ADD COLUMN origin TEXT;

-- Retention of results and of their hourly rollups (days).
ALTER TABLE plans ADD COLUMN results_days INTEGER NOT NULL DEFAULT 7;
ALTER TABLE plans ADD COLUMN hours_days INTEGER NOT NULL DEFAULT 90;
UPDATE plans SET results_days = 30, hours_days = 396 WHERE name = 'business';
UPDATE plans SET results_days = 90, hours_days = 396 WHERE name = 'enterprise';
ALTER TABLE orgs ADD COLUMN results_days INTEGER;

${inSqlite(SHARED_TABLES)}
CREATE INDEX incidents_by_number ON incidents (org_id, number) WHERE kind = 'incident';
-- Most status pages show the incidents of people only: automatic ones, which can be many more, are not read past.
CREATE INDEX people_incidents_by_creation ON incidents (org_id, created_at)
  WHERE kind = 'incident' AND auto_managed = 0;
CREATE INDEX people_incidents_by_resolution ON incidents (org_id, resolved_at)
  WHERE kind = 'incident' AND auto_managed = 0 AND resolved_at IS NOT NULL;

-- Who wrote each update of an incident. The API never shows it.
CREATE TABLE incident_authors (
  update_id TEXT PRIMARY KEY REFERENCES incident_updates (id) ON DELETE CASCADE,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('person', 'key')),
  actor TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE api_keys ADD COLUMN note TEXT;
${inSqlite(MONITORING_TABLES)}`,
  ...UNRELEASED,
]

/**
 * Migrates `database` to the newest schema in one transaction: an interrupted migration is repeated, and no other
 * process sees a part of one. Throws when the database was created by a newer release.
 */
export function migrate(database: Database, migrations: readonly (string | null)[] = MIGRATIONS): void {
  // Without pending steps no lock is needed: a program that only reads need not wait for a writer.
  if (schemaVersion(database) === migrations.length) return
  const takeSteps = database.transaction(() => {
    const version = schemaVersion(database)
    if (version > migrations.length) {
      throw new Error(
        `the database has schema ${version} and this release knows ${migrations.length}: start the release that made it, or a newer one`,
      )
    }
    if (migrations[version] === null)
      throw new Error(`the database has schema ${version}, which no release has: restore an earlier backup`)
    for (const step of migrations.slice(version)) database.exec(step ?? '')
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
