import { existsSync, realpathSync } from 'node:fs'
import type { Statement } from 'better-sqlite3'
import type { Binding } from '../../plan/binding.ts'
import { LEASE_CHECK_MS_MAX, LEASE_TTL_MS } from '../model/lease.ts'
import { APPROVALS_KEPT, EVENTS_KEPT, RUNS_KEPT, type StateDocument } from '../model/record.ts'
import type { BindingChange, StateReading, StateStore } from '../model/store.ts'
import { bindingReadings } from './bindingReadings.ts'
import { fileInPlace } from './fileInPlace.ts'
import type { Database } from './openDatabase.ts'
import { fileWrittenAtMs, openStateFile, readStateFile, unusable } from './sqliteFile.ts'
import { SqliteLease, type TakeLock, takeFileLock } from './sqliteLease.ts'
import { metaOf, type Prepare, ROWS } from './sqliteRows.ts'

/**
 * Opens the state in the SQLite file `path` for writing, and creates a missing one. Throws StateError.
 *
 * If `path` is a symbolic link, the journal and the lock are beside its target.
 */
export async function openSqliteStore(path: string): Promise<StateStore> {
  const database = await openStateFile(path)
  const file = realpathSync(path)
  return sqliteStoreOn(database, () => takeFileLock(`${file}.lock`), path)
}

/** A store on the open database of a state; `path` is its file, absent for one in memory. */
export function sqliteStoreOn(database: Database, takeLock: TakeLock, path?: string): StateStore {
  const requireInPlace = path === undefined ? () => {} : fileInPlace(path)
  requireInPlace()
  const lease = new SqliteLease(database, takeLock, requireInPlace)
  const prepare = statementsOf(database)
  const readings = bindingReadings(database, prepare)
  const writer = writerOf(database, lease, path ?? 'in memory', prepare, readings.forget)
  return {
    ...readingOf(database, lease, path, prepare, readings.read),
    ...writingOf(database, lease, writer),
  }
}

/**
 * Opens the state at `named` for reading, on a read-only disk and beside a writing run as well. Throws StateError when there is
 * none.
 */
export async function readSqliteStore(named: string): Promise<StateReading> {
  const path = existsSync(named) ? realpathSync(named) : named
  const database = await readStateFile(path)
  const lease = new SqliteLease(
    database,
    async () => undefined,
    () => {},
  )
  const prepare = statementsOf(database)
  return readingOf(database, lease, path, prepare, bindingReadings(database, prepare).read)
}

/** Prepares each statement once. */
function statementsOf(database: Database): Prepare {
  const statements = new Map<string, Statement<unknown[]>>()
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare<unknown[]>(sql)
    statements.set(sql, statement)
    return statement
  }
}

function readingOf(
  database: Database,
  lease: SqliteLease,
  path: string | undefined,
  prepare: Prepare,
  bindings: () => readonly Binding[],
): StateReading {
  const meta = () => metaOf(prepare('SELECT * FROM meta').get())
  return {
    isDurable: true,
    stateId: meta().state_id,
    home: async () => {
      const { org_id: orgId, url, source } = meta()
      return orgId === null || url === null ? null : { orgId, url, source }
    },
    bindings: async () => bindings(),
    openIntents: async () => ROWS.intents.records(prepare),
    runs: async (most) => ROWS.runs.records(prepare, most),
    events: async (most) => ROWS.events.records(prepare, most),
    suspensions: async () => ROWS.suspensions.records(prepare),
    approvals: async () => ROWS.approvals.records(prepare),
    syncRequests: async () => ROWS.syncRequests.records(prepare),
    historyAcknowledgements: async () => ROWS.historyAcknowledgements.records(prepare),
    lease: async () => lease.read(),
    writtenAtMs: async () => (path === undefined ? null : fileWrittenAtMs(path)),
    close: async () => {
      database.close()
    },
  }
}

// True because the record has exactly these lists as keys.
const LISTS = Object.keys(ROWS) as readonly (keyof typeof ROWS)[]

/** Replaces everything but the lease by `document`. */
function restore(
  database: Database,
  document: StateDocument,
  onProgress: (done: number, total: number) => void = () => {},
): void {
  const { stateId, home } = document
  database
    .prepare('UPDATE meta SET state_id = ?, org_id = ?, url = ?, source = ?')
    .run(stateId, home?.orgId ?? null, home?.url ?? null, home?.source ?? null)
  for (const list of LISTS) {
    const { name, put, row } = ROWS[list]
    database.exec(`DELETE FROM ${name}`)
    const statement = database.prepare(put)
    // The oldest run comes first, because row ids determine the order of runs that started together.
    const records: readonly object[] = document[list].toReversed()
    for (const [index, record] of records.entries()) {
      statement.run(row(record))
      if (list === 'bindings') onProgress(index + 1, records.length)
    }
  }
}

/** Primitives for writes. `onBindings` is called for writes of bindings. */
function writerOf(
  database: Database,
  lease: SqliteLease,
  path: string,
  prepare: Prepare,
  onBindings: () => void,
) {
  /** Runs a statement; returns the number of changed rows. */
  const run = (sql: string, ...parameters: unknown[]): number => prepare(sql).run(...parameters).changes
  /** Writes atomically, and only with the lease. */
  const fenced = <Result>(write: () => Result): Result =>
    database
      .transaction(() => {
        lease.epoch()
        return write()
      })
      .immediate()
  return {
    run,
    fenced,
    onBindings,
    /** Writes an operator's input, which needs no lease. */
    unfenced: (sql: string, parameter: unknown): number => {
      lease.requireInPlace()
      try {
        return run(sql, parameter)
      } catch (error) {
        throw unusable(path, error)
      }
    },
    /** Deletes used input, fenced; returns whether there was any. */
    take: (sql: string, ...parameters: unknown[]): boolean => fenced(() => run(sql, ...parameters)) > 0,
    // Called at each renewal: a read does not block writers.
    isThere: (sql: string): boolean => prepare(sql).get() !== undefined,
    change: ({ put, drop }: BindingChange): void => {
      onBindings()
      if (drop !== undefined) run('DELETE FROM binding WHERE key = ?', drop)
      if (put === undefined) return
      run(ROWS.bindings.put, ROWS.bindings.row(put))
      run("DELETE FROM intent WHERE key = ? AND kind = 'create'", put.key)
    },
    /** Drops all but the `most` newest rows of a table. */
    keep: (table: string, newest: string, most: number): void => {
      run(
        `DELETE FROM ${table} WHERE rowid NOT IN (SELECT rowid FROM ${table} ORDER BY ${newest} LIMIT ?)`,
        most,
      )
    },
  }
}

/** The writing part of a store. */
function writingOf(
  database: Database,
  lease: SqliteLease,
  { run, unfenced, fenced, take, isThere, change, keep, onBindings }: ReturnType<typeof writerOf>,
): Omit<StateStore, Exclude<keyof StateReading, 'close'>> {
  return {
    leaseTtlMs: LEASE_TTL_MS.file,
    leaseCheckMsMax: LEASE_CHECK_MS_MAX.file,
    beginsAhead: false,
    acquire: (holder, unmoved) => lease.acquire(holder, unmoved),
    renew: () => lease.renew(),
    release: async () => lease.release(),
    settleIn: async ({ orgId, url, source }) =>
      fenced(() => {
        run('UPDATE meta SET org_id = ?, url = ?, source = coalesce(?, source)', orgId, url, source)
      }),
    begin: async (intents) =>
      fenced(() => {
        for (const intent of intents)
          run(ROWS.intents.put, ROWS.intents.row({ ...intent, mayStillLand: true }))
      }),
    settle: async (opId, bindingChange) =>
      fenced(() => {
        run('DELETE FROM intent WHERE op_id = ?', opId)
        change(bindingChange)
      }),
    failed: async (opId) =>
      fenced(() => {
        run('UPDATE intent SET may_still_land = 0 WHERE op_id = ?', opId)
      }),
    save: async (bindingChange) => fenced(() => change(bindingChange)),
    recordRun: async (record) =>
      fenced(() => {
        run(ROWS.runs.put, ROWS.runs.row(record))
        keep('run', 'started_at DESC, rowid DESC', RUNS_KEPT)
      }),
    note: async (events) =>
      fenced(() => {
        for (const event of events) run(ROWS.events.put, ROWS.events.row(event))
        keep('event', 'seq DESC', EVENTS_KEPT)
      }),
    useApproval: async (digest) => take('DELETE FROM approval WHERE digest = ?', digest),
    takeSyncRequest: async () => isThere('SELECT 1 FROM sync_request') && take('DELETE FROM sync_request'),
    useHistoryAcknowledgement: async (commitSha) =>
      take('DELETE FROM history_acknowledgement WHERE commit_sha = ?', commitSha),
    restore: async (document, onProgress) =>
      fenced(() => {
        onBindings()
        restore(database, document, onProgress)
      }),
    // Every write of this store is durable when it returns.
    checkpoint: async () => {},
    suspend: async (suspension) => {
      unfenced(ROWS.suspensions.put, suspension)
    },
    resume: async (scope) => unfenced('DELETE FROM suspension WHERE scope = ?', scope) > 0,
    approve: async (approval) => {
      unfenced(ROWS.approvals.put, approval)
      keep('approval', 'at DESC', APPROVALS_KEPT)
    },
    requestSync: async (request) => {
      unfenced('INSERT OR IGNORE INTO sync_request VALUES (1, @actor, @at)', request)
    },
    acknowledgeHistory: async (acknowledgement) => {
      unfenced(ROWS.historyAcknowledgements.put, ROWS.historyAcknowledgements.row(acknowledgement))
      keep('history_acknowledgement', 'at DESC', APPROVALS_KEPT)
    },
    close: async () => {
      lease.release()
      database.close()
    },
  }
}
