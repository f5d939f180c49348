/** Name of the results file in the data folder. */
export const RESULTS_FILE = 'results.db'

/** Columns of a result besides its key, all of them integers. Part of a released step: never edit them. */
export const RESULT_COLUMN_NAMES = [
  'generation',
  'outcome',
  'reason',
  'status',
  'attempts',
  'flags',
  'late_ms',
  'total_us',
  'dns_us',
  'connect_us',
  'tls_us',
  'wait_us',
  'body_us',
  'failed_assertions',
  'first_reason',
  'first_total_us',
]
const RESULT = RESULT_COLUMN_NAMES.map((name) => `  ${name} INTEGER NOT NULL,\n`).join('')

/**
 * Migrations of `results.db`, `null` for one that an earlier one includes; `user_version` counts the applied ones. A
 * released migration is never edited. Losing the file loses history only: definitions are in `control.db`.
 *
 * The log is keyed by (due, series): a commit writes a few pages at the end, where a key by series would write a page for
 * each row. Results of compacted hours are in tables chunks_<days of retention>_<day since 1970>, created on demand;
 * `late` holds those that arrive later, until they are merged. `service_watches` has since when services with automatic
 * incidents have been up.
 */
export const RESULTS_MIGRATIONS: readonly (string | null)[] = [
  `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE log (
  due_s INTEGER NOT NULL,
  series INTEGER NOT NULL,
${RESULT}  PRIMARY KEY (due_s, series)
) STRICT, WITHOUT ROWID;

CREATE TABLE details (
  series INTEGER NOT NULL,
  due_s INTEGER NOT NULL,
  text TEXT NOT NULL,
  expected TEXT,
  seen TEXT,
  PRIMARY KEY (series, due_s)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_now (
  service_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  state INTEGER NOT NULL,
  since_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX service_now_of_org ON service_now (org_id);

CREATE TABLE endpoints (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  org_id TEXT NOT NULL,
  state INTEGER NOT NULL,
  since_s INTEGER NOT NULL
) STRICT;
CREATE INDEX endpoints_of_service ON endpoints (service_id);

CREATE TABLE series_states (
  series INTEGER PRIMARY KEY,
  endpoint INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  changed_at_s INTEGER NOT NULL,
  interval_s INTEGER NOT NULL,
  timeout_ms INTEGER NOT NULL,
  state INTEGER NOT NULL,
  since_s INTEGER NOT NULL,
  last_due_s INTEGER NOT NULL,
  known_due_s INTEGER NOT NULL,
  clean INTEGER NOT NULL,
  reason INTEGER NOT NULL,
  ended_at_s INTEGER
) STRICT;
CREATE INDEX series_of_endpoint ON series_states (endpoint);

CREATE TABLE spans (
  endpoint INTEGER NOT NULL,
  from_s INTEGER NOT NULL,
  state INTEGER NOT NULL,
  regions_down TEXT NOT NULL,
  PRIMARY KEY (endpoint, from_s)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_spans (
  service_id TEXT NOT NULL,
  from_s INTEGER NOT NULL,
  state INTEGER NOT NULL,
  PRIMARY KEY (service_id, from_s)
) STRICT, WITHOUT ROWID;

CREATE TABLE certificates (
  org_id TEXT NOT NULL,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  subject TEXT NOT NULL,
  issuer TEXT NOT NULL,
  serial TEXT NOT NULL,
  not_before_s INTEGER NOT NULL,
  not_after_s INTEGER NOT NULL,
  chain_not_after_s INTEGER NOT NULL,
  sightings INTEGER NOT NULL,
  last_seen_s INTEGER NOT NULL,
  reported_s INTEGER,
  PRIMARY KEY (org_id, host, port, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE certificate_endpoints (
  org_id TEXT NOT NULL,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  endpoint INTEGER NOT NULL,
  PRIMARY KEY (org_id, host, port, endpoint)
) STRICT, WITHOUT ROWID;
CREATE INDEX certificates_of_endpoint ON certificate_endpoints (endpoint);

CREATE TABLE transitions (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  at_s INTEGER NOT NULL,
  service_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE late (
  series INTEGER NOT NULL,
  due_s INTEGER NOT NULL,
${RESULT}  PRIMARY KEY (series, due_s)
) STRICT, WITHOUT ROWID;

CREATE TABLE hours (
  series INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  up INTEGER NOT NULL,
  degraded INTEGER NOT NULL,
  down INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  sum_us INTEGER NOT NULL,
  min_us INTEGER NOT NULL,
  max_us INTEGER NOT NULL,
  phases_us BLOB NOT NULL,
  buckets BLOB NOT NULL,
  PRIMARY KEY (series, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoint_days (
  endpoint INTEGER NOT NULL,
  day INTEGER NOT NULL,
  up_s INTEGER NOT NULL,
  degraded_s INTEGER NOT NULL,
  down_s INTEGER NOT NULL,
  unknown_s INTEGER NOT NULL,
  paused_s INTEGER NOT NULL,
  maintenance_s INTEGER NOT NULL,
  checks INTEGER NOT NULL,
  checks_up INTEGER NOT NULL,
  p95_us INTEGER,
  PRIMARY KEY (endpoint, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_days (
  service_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  up_s INTEGER NOT NULL,
  degraded_s INTEGER NOT NULL,
  down_s INTEGER NOT NULL,
  unknown_s INTEGER NOT NULL,
  paused_s INTEGER NOT NULL,
  maintenance_s INTEGER NOT NULL,
  PRIMARY KEY (service_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_latency (
  service_id TEXT PRIMARY KEY,
  p95_us INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE maintenance_windows (
  service_id TEXT NOT NULL,
  from_s INTEGER NOT NULL,
  until_s INTEGER NOT NULL,
  PRIMARY KEY (service_id, from_s, until_s)
) STRICT, WITHOUT ROWID;

CREATE TABLE removals (service_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE service_watches (
  service_id TEXT PRIMARY KEY,
  clear_since_s INTEGER,
  is_steady INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  ...[null, null, null],
]

/** Stored numbers of the states; a number is never reused for another state. */
export const STATE_CODES = { up: 1, degraded: 2, down: 3, unknown: 4, paused: 5, ended: 6 } as const
/** The stored state of an endpoint or service: the state of its checks, or the reason why there are none. */
export type StoredState = keyof typeof STATE_CODES

const NAMES: ReadonlyMap<number, StoredState> = new Map(
  // True because the keys of the table are its names.
  (Object.keys(STATE_CODES) as StoredState[]).map((name) => [STATE_CODES[name], name]),
)

/** The state of a stored number; `unknown` for a number of a newer release. Pure. */
export function stateName(code: number): StoredState {
  return NAMES.get(code) ?? 'unknown'
}
