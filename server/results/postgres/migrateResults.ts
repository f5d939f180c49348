import type { BlockingClient } from '../../store/postgres/blocking/blockingClient.ts'
import { RESULTS_MIGRATIONS } from '../file/resultsSchema.ts'

/** Keys of the advisory lock of migrations of this schema. */
const [LOCK_SPACE, LOCK_RESULTS] = [0x50_48, 3]

/** The tables of results, without chunk tables. */
export const RESULTS_TABLES: ReadonlySet<string> = new Set([
  'schema_steps',
  ...RESULTS_MIGRATIONS.flatMap((step) =>
    [...(step ?? '').matchAll(/CREATE TABLE (\w+)/g)].map(([, name = '']) => name),
  ),
])

/** Creates or migrates the schema of results, one program at a time; returns its name. */
export function migrateResults(client: BlockingClient): string {
  const valueIn = (text: string): unknown =>
    Object.values(client.execute([{ text, values: [] }])[0]?.rows[0] ?? {})[0]
  const control = String(valueIn('SELECT current_schema()'))
  const name = control === 'public' ? 'pharos_results' : `${control}_results`
  const version = (): number =>
    valueIn(`SELECT to_regclass('${name}.schema_steps')::text`) === null
      ? 0
      : Number(valueIn(`SELECT count(*) FROM ${name}.schema_steps`))
  if (version() < RESULTS_MIGRATIONS.length) {
    client.execute([
      { text: `BEGIN; SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCK_RESULTS})` },
      { text: `CREATE SCHEMA IF NOT EXISTS ${name}; SET LOCAL search_path = ${name}` },
      { text: 'CREATE TABLE IF NOT EXISTS schema_steps (step integer PRIMARY KEY)' },
    ])
    const taken = version()
    for (const [step, text] of RESULTS_MIGRATIONS.entries()) {
      if (step < taken) continue
      client.execute([
        { text: step === 0 ? `${inPostgres(text)}; ${OWN_INDEX}` : inPostgres(text) },
        { text: 'INSERT INTO schema_steps VALUES ($1)', values: [step + 1] },
      ])
    }
    client.execute([{ text: 'COMMIT' }])
  }
  return name
}

/** With SQLite, one process has the log in memory, by series; with PostgreSQL, any process reads it by this index. */
const OWN_INDEX = 'CREATE INDEX log_of_series ON log (series, due_s)'

/** A migration step for SQLite, translated to PostgreSQL. Pure. */
function inPostgres(step: string | null): string {
  return (step ?? '')
    .replaceAll(/\) STRICT(?:, WITHOUT ROWID)?;/g, ');')
    .replaceAll('INTEGER PRIMARY KEY AUTOINCREMENT', 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY')
    .replaceAll(/\bINTEGER\b/g, 'bigint')
    .replaceAll(/\bBLOB\b/g, 'bytea')
    .replaceAll(/\bTEXT\b/g, 'text COLLATE "C"')
}
