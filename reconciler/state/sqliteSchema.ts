/** Version of the tables below. A newer one is refused, an older one migrated before it is written to. */
export const SCHEMA_VERSION = 2

/** Names of the tables of a state file. */
export const TABLES = ['meta', 'binding', 'intent', 'run'] as const

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
  tombstone INTEGER NOT NULL
) STRICT;
CREATE TABLE intent (
  op_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('create', 'replace', 'pause', 'resume', 'delete')),
  service_id TEXT,
  sent_at_ms INTEGER NOT NULL,
  creation TEXT,
  may_still_land INTEGER NOT NULL
) STRICT;
CREATE TABLE run (
  run_id TEXT PRIMARY KEY,
  command TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  counts TEXT NOT NULL
) STRICT;
`

/** What makes each version of the tables the next one, from version 1 on. */
export const MIGRATIONS = ['ALTER TABLE meta ADD COLUMN source TEXT'] as const
