import { randomUUID } from 'node:crypto'
import { type Database, openForReading, openForWriting } from './openDatabase.ts'
import { bindingParameters, bindingsOf, intentParameters, intentsOf, metaOf, runsOf } from './sqliteRows.ts'
import { MIGRATIONS, SCHEMA, SCHEMA_VERSION, TABLES } from './sqliteSchema.ts'
import { StateError } from './stateError.ts'
import type { BindingChange, StateStore } from './store.ts'

/**
 * Opens the state in the SQLite file `path` to write to it, making it when it is not there. Nobody else may
 * have it open so at the same time: the operating system gives the lock back when the process ends, however
 * it ends.
 *
 * Throws StateError: `held` when another run has the lock, `unusable` for everything else.
 */
export async function openSqliteStore(path: string): Promise<StateStore> {
  const lock = await takeLock(`${path}.lock`)
  let database: Database | undefined
  try {
    database = await openForWriting(path)
    prepare(database, path)
    return storeOn(database, () => lock.close())
  } catch (error) {
    database?.close()
    lock.close()
    throw unusable(path, error)
  }
}

/**
 * Opens the state at `path` to look at it, also where nothing can be written and while another run writes to
 * it. Every method that writes throws. Throws StateError when there is none.
 */
export async function readSqliteStore(path: string): Promise<StateStore> {
  let database: Database | undefined
  try {
    database = await openForReading(path)
    if (versionOf(database, path) === 0) throw notOurs(path)
    return storeOn(database, () => {})
  } catch (error) {
    database?.close()
    throw unusable(path, error)
  }
}

async function takeLock(path: string): Promise<Database> {
  let lock: Database | undefined
  try {
    lock = await openForWriting(path)
    lock.pragma('busy_timeout = 0')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    if (codeOf(error) !== 'SQLITE_BUSY') throw unusable(path, error)
    throw new StateError(`another run is using this state (${path} is locked): wait for it to end`, 'held')
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function unusable(path: string, error: unknown): StateError {
  if (error instanceof StateError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(`the state ${path} cannot be used: ${reason}`, 'unusable', { cause: error })
}

function prepare(database: Database, path: string): void {
  // Before anything is set: a database that is not ours is left as it is.
  const version = versionOf(database, path)
  database.pragma('journal_mode = WAL')
  // better-sqlite3 is built to make WAL mean NORMAL, which loses acknowledged writes in a power cut.
  database.pragma('synchronous = FULL')
  const mode = database.pragma('journal_mode', { simple: true })
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'wal' || synchronous !== 2) {
    throw new StateError(`the state ${path} cannot be written safely here: put it on a local disk`)
  }
  if (version === 0) create(database)
  else if (version < SCHEMA_VERSION) migrate(database, version)
}

/** Version of the tables, 0 when there is none yet. Throws StateError when they are not ours, or newer than we are. */
function versionOf(database: Database, path: string): number {
  const version = Number(database.pragma('user_version', { simple: true }))
  const names: unknown[] = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .pluck()
    .all()
  const isOurs = version === 0 ? names.length === 0 : TABLES.every((table) => names.includes(table))
  if (!isOurs) throw notOurs(path)
  if (version > SCHEMA_VERSION) {
    throw new StateError(`the state ${path} was written by a newer pharos: use that version or a later one`)
  }
  return version
}

function notOurs(path: string): StateError {
  return new StateError(`${path} is a database, but no state of pharos: name another file with --state`)
}

function create(database: Database): void {
  database.transaction(() => {
    database.exec(SCHEMA)
    database.prepare('INSERT INTO meta (one, state_id) VALUES (1, ?)').run(randomUUID())
    database.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}

function migrate(database: Database, version: number): void {
  database.transaction(() => {
    for (const step of MIGRATIONS.slice(version - 1)) database.exec(step)
    database.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}

const PUT_BINDING = `INSERT OR REPLACE INTO binding
  (key, service_id, desired, observed, paused, on_delete, protect, tombstone)
  VALUES (@key, @service_id, @desired, @observed, @paused, @on_delete, @protect, @tombstone)`
const PUT_INTENT = `INSERT INTO intent
  (op_id, run_id, key, kind, service_id, sent_at_ms, creation, may_still_land)
  VALUES (@op_id, @run_id, @key, @kind, @service_id, @sent_at_ms, @creation, @may_still_land)`

function storeOn(database: Database, release: () => void): StateStore {
  const meta = () => metaOf(database.prepare('SELECT * FROM meta').get())
  const change = ({ put, drop }: BindingChange): void => {
    if (drop !== undefined) database.prepare('DELETE FROM binding WHERE key = ?').run(drop)
    if (put === undefined) return
    database.prepare(PUT_BINDING).run(bindingParameters(put))
    database.prepare("DELETE FROM intent WHERE key = ? AND kind = 'create'").run(put.key)
  }
  const together = (write: () => void): void => database.transaction(write)()
  return {
    isDurable: true,
    stateId: meta().state_id,
    home: async () => {
      const { org_id: orgId, url, source } = meta()
      return orgId === null || url === null ? null : { orgId, url, source: source ?? null }
    },
    settleIn: async ({ orgId, url, source }) => {
      database
        .prepare('UPDATE meta SET org_id = ?, url = ?, source = coalesce(?, source)')
        .run(orgId, url, source)
    },
    bindings: async () => bindingsOf(database.prepare('SELECT * FROM binding ORDER BY key').all()),
    openIntents: async () =>
      intentsOf(database.prepare('SELECT * FROM intent ORDER BY sent_at_ms, op_id').all()),
    begin: async (intent) => {
      database.prepare(PUT_INTENT).run(intentParameters(intent))
    },
    settle: async (opId, bindingChange) =>
      together(() => {
        database.prepare('DELETE FROM intent WHERE op_id = ?').run(opId)
        change(bindingChange)
      }),
    failed: async (opId) => {
      database.prepare('UPDATE intent SET may_still_land = 0 WHERE op_id = ?').run(opId)
    },
    save: async (bindingChange) => together(() => change(bindingChange)),
    recordRun: async (run) => {
      database
        .prepare('INSERT INTO run VALUES (?, ?, ?, ?, ?, ?)')
        .run(run.runId, run.command, run.startedAt, run.finishedAt, run.exitCode, JSON.stringify(run.counts))
    },
    runs: async (most) =>
      runsOf(database.prepare('SELECT * FROM run ORDER BY started_at DESC, rowid DESC LIMIT ?').all(most)),
    close: async () => {
      database.close()
      release()
    },
  }
}
