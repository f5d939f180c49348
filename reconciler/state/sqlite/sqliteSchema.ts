/** Version of the tables below. A newer one is refused, an older one migrated before it is written to. */
export const SCHEMA_VERSION = 4

/** Names of the tables of a state file, of every version. */
export const TABLES = ['meta', 'binding', 'intent', 'run'] as const

const EVENT_LEASE_SUSPENSION_APPROVAL = `
CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  run_id TEXT,
  key TEXT,
  type TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'error')),
  message TEXT NOT NULL
) STRICT;
CREATE TABLE lease (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  holder TEXT,
  epoch INTEGER NOT NULL,
  renewals INTEGER NOT NULL,
  locks_file INTEGER NOT NULL
) STRICT;
INSERT INTO lease VALUES (1, NULL, 0, 0, 0);
CREATE TABLE suspension (
  scope TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  since TEXT NOT NULL,
  until TEXT
) STRICT;
CREATE TABLE approval (
  digest TEXT PRIMARY KEY,
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
`

const SYNC_REQUEST_ACKNOWLEDGEMENT = `
CREATE TABLE sync_request (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE TABLE history_acknowledgement (
  commit_sha TEXT PRIMARY KEY,
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
`

/** The tables of a state file. */
export const SCHEMA = `
CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  state_id TEXT NOT NULL,
  org_id TEXT,
  url TEXT,
  source TEXT
) STRICT;
CREATE TABLE binding (
  key TEXT PRIMARY KEY,
  service_id TEXT NOT NULL UNIQUE,
  desired TEXT,
  observed TEXT,
  paused INTEGER,
  on_delete TEXT NOT NULL CHECK (on_delete IN ('delete', 'pause', 'detach')),
  protect INTEGER NOT NULL,
  prune_after_secs INTEGER,
  tombstoned_at_ms INTEGER,
  heals TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE TABLE intent (
  op_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('create', 'replace', 'pause', 'resume', 'delete')),
  service_id TEXT,
  sent_at_ms INTEGER NOT NULL,
  creation TEXT,
  may_still_land INTEGER NOT NULL,
  epoch INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE run (
  run_id TEXT PRIMARY KEY,
  command TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  counts TEXT NOT NULL,
  cause TEXT NOT NULL DEFAULT 'command',
  commit_sha TEXT,
  plan_digest TEXT,
  outcome TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  history_rewritten INTEGER NOT NULL DEFAULT 0
) STRICT;
${EVENT_LEASE_SUSPENSION_APPROVAL}${SYNC_REQUEST_ACKNOWLEDGEMENT}`

/** What makes each version of the tables the next one, from version 1 on. */
export const MIGRATIONS = [
  'ALTER TABLE meta ADD COLUMN source TEXT',
  // When a service was paused for its manifest was not recorded: its grace starts now.
  `ALTER TABLE binding ADD COLUMN prune_after_secs INTEGER;
ALTER TABLE binding ADD COLUMN tombstoned_at_ms INTEGER;
ALTER TABLE binding ADD COLUMN heals TEXT NOT NULL DEFAULT '[]';
UPDATE binding SET tombstoned_at_ms = CAST(strftime('%s', 'now') AS INTEGER) * 1000 WHERE tombstone = 1;
ALTER TABLE binding DROP COLUMN tombstone;
ALTER TABLE intent ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN cause TEXT NOT NULL DEFAULT 'command';
ALTER TABLE run ADD COLUMN commit_sha TEXT;
ALTER TABLE run ADD COLUMN plan_digest TEXT;
ALTER TABLE run ADD COLUMN outcome TEXT;
ALTER TABLE run ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
${EVENT_LEASE_SUSPENSION_APPROVAL}`,
  // Approvals and counts stood for other things as well.
  `${SYNC_REQUEST_ACKNOWLEDGEMENT}
INSERT INTO sync_request SELECT 1, actor, at FROM approval WHERE digest = 'look';
INSERT INTO history_acknowledgement
  SELECT substr(digest, length('history:') + 1), actor, at FROM approval WHERE digest LIKE 'history:%';
DELETE FROM approval WHERE digest = 'look' OR digest LIKE 'history:%';
ALTER TABLE run ADD COLUMN history_rewritten INTEGER NOT NULL DEFAULT 0;
UPDATE run SET history_rewritten = 1, counts = json_remove(counts, '$.historyRewritten')
  WHERE json_extract(counts, '$.historyRewritten') <> 0;`,
] as const
