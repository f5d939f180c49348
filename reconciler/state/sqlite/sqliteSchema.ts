/** Version of the tables below. Any other is refused. */
export const SCHEMA_VERSION = 4

/** Tables that every version of a state file has. */
export const TABLES = ['meta', 'binding', 'intent', 'run'] as const

/** The tables of a state file. The columns `epoch` of intents and runs are for pharos 0.2.0, which writes them. */
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
