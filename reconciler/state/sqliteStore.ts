import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type DatabaseConstructor from 'better-sqlite3'
import { databasePairProblem } from '../../api/runtime/databasePair.ts'
import { bindingParameters, bindingsOf, intentParameters, intentsOf, metaOf, runsOf } from './sqliteRows.ts'
import { SCHEMA, SCHEMA_VERSION } from './sqliteSchema.ts'
import { StateError } from './stateError.ts'
import type { BindingChange, StateStore } from './store.ts'

type Database = DatabaseConstructor.Database

/** How long a statement waits for another process to finish its own (milliseconds). */
const BUSY_MS = 5_000

/**
 * Opens the state in the SQLite file `path`, making it when it is not there. With `lock`, nobody else may
 * hold the lock at the same time: the operating system gives it back when the process ends, however it ends.
 *
 * Throws StateError: `held` when another run has the lock, `unusable` for everything else.
 */
export async function openSqliteStore(
  path: string,
  options: { readonly lock: boolean },
): Promise<StateStore> {
  const open = await databaseOpener()
  const lock = options.lock ? takeLock(open, `${path}.lock`) : undefined
  try {
    // Addresses and header values are nobody else's to read, on a shared runner least of all.
    if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 })
    const database = open(path)
    prepare(database, path)
    return storeOn(database, () => lock?.close())
  } catch (error) {
    lock?.close()
    throw unusable(path, error)
  }
}

/** Whether there is a state at `path` yet. */
export function sqliteStoreExists(path: string): boolean {
  return existsSync(path)
}

async function databaseOpener(): Promise<(path: string) => Database> {
  const manifest: unknown = createRequire(import.meta.url)('better-sqlite3/package.json')
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : ''
  const problem = databasePairProblem(process.versions.node, version)
  if (problem !== undefined) throw new StateError(problem)
  // Only now: loading the wrong release can end the process.
  const { default: Constructor } = await import('better-sqlite3')
  return (path) => new Constructor(path, { timeout: BUSY_MS })
}

function takeLock(open: (path: string) => Database, path: string): Database {
  try {
    const lock = open(path)
    lock.pragma('busy_timeout = 0')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
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
  database.pragma('journal_mode = WAL')
  // better-sqlite3 is built to make WAL mean NORMAL, which loses acknowledged writes in a power cut.
  database.pragma('synchronous = FULL')
  const mode = database.pragma('journal_mode', { simple: true })
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'wal' || synchronous !== 2) {
    throw new StateError(`the state ${path} cannot be written safely here: put it on a local disk`)
  }
  const version = Number(database.pragma('user_version', { simple: true }))
  if (version > SCHEMA_VERSION) {
    throw new StateError(`the state ${path} was written by a newer pharos: use that version or a later one`)
  }
  if (version === 0) create(database, path)
}

function create(database: Database, path: string): void {
  const tables = database.prepare('SELECT count(*) AS n FROM sqlite_master').pluck().get()
  if (tables !== 0) throw new StateError(`${path} is a database, but not one of pharos: name another file`)
  database.transaction(() => {
    database.exec(SCHEMA)
    database.prepare('INSERT INTO meta (one, state_id) VALUES (1, ?)').run(randomUUID())
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
  const meta = metaOf(database.prepare('SELECT state_id, org_id, url FROM meta').get())
  const change = ({ put, drop }: BindingChange): void => {
    if (drop !== undefined) database.prepare('DELETE FROM binding WHERE key = ?').run(drop)
    if (put === undefined) return
    database.prepare(PUT_BINDING).run(bindingParameters(put))
    database.prepare("DELETE FROM intent WHERE key = ? AND kind = 'create'").run(put.key)
  }
  const together = (write: () => void): void => database.transaction(write)()
  return {
    isDurable: true,
    stateId: meta.state_id,
    home: async () => {
      const { org_id: orgId, url } = metaOf(database.prepare('SELECT state_id, org_id, url FROM meta').get())
      return orgId === null || url === null ? null : { orgId, url }
    },
    settleIn: async ({ orgId, url }) => {
      database.prepare('UPDATE meta SET org_id = ?, url = ?').run(orgId, url)
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
