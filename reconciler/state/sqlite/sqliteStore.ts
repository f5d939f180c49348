import { existsSync, realpathSync } from 'node:fs'
import type { Statement } from 'better-sqlite3'
import { LEASE_CHECK_MS_MAX, LEASE_TTL_MS } from '../model/lease.ts'
import { APPROVALS_KEPT, EVENTS_KEPT, RUNS_KEPT, type StateDocument } from '../model/record.ts'
import type { BindingChange, StateReading, StateStore } from '../model/store.ts'
import { BindingReadings } from './bindingReadings.ts'
import { fileInPlace } from './fileInPlace.ts'
import type { Database } from './openDatabase.ts'
import { fileWrittenAtMs, openStateFile, readStateFile, unusable } from './sqliteFile.ts'
import { SqliteLease, type TakeLock, takeFileLock } from './sqliteLease.ts'
import { metaOf, ROWS } from './sqliteRows.ts'

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
  const readings = new BindingReadings(database)
  return {
    ...readingOf(database, lease, path, readings),
    ...writingOf(database, lease, path ?? 'in memory', () => readings.forget()),
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
  return readingOf(database, lease, path, new BindingReadings(database))
}

/** Prepares each statement once. */
function statementsOf(database: Database): (sql: string) => Statement<unknown[]> {
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
  readings: BindingReadings,
): StateReading {
  const meta = () => metaOf(database.prepare('SELECT * FROM meta').get())
  const prepared = statementsOf(database)
  const all = (sql: string, ...parameters: number[]): unknown[] => prepared(sql).all(...parameters)
  return {
    isDurable: true,
    stateId: meta().state_id,
    home: async () => {
      const { org_id: orgId, url, source } = meta()
      return orgId === null || url === null ? null : { orgId, url, source }
    },
    bindings: async () => readings.read(),
    openIntents: async () => ROWS.intents.records(all('SELECT * FROM intent ORDER BY sent_at_ms, op_id')),
    runs: async (most) =>
      ROWS.runs.records(all('SELECT * FROM run ORDER BY started_at DESC, rowid DESC LIMIT ?', most)),
    events: async (most) => ROWS.events.records(all('SELECT * FROM event ORDER BY seq DESC LIMIT ?', most)),
    suspensions: async () => ROWS.suspensions.records(all('SELECT * FROM suspension ORDER BY scope')),
    approvals: async () => ROWS.approvals.records(all('SELECT * FROM approval ORDER BY at')),
    syncRequests: async () => ROWS.syncRequests.records(all('SELECT * FROM sync_request')),
    historyAcknowledgements: async () =>
      ROWS.historyAcknowledgements.records(all('SELECT * FROM history_acknowledgement ORDER BY at')),
    lease: async () => lease.read(),
    writtenAtMs: async () => (path === undefined ? null : fileWrittenAtMs(path)),
    close: async () => {
      database.close()
    },
  }
}

const PUT_BINDING = ROWS.bindings.insert('INSERT OR REPLACE')
const PUT_INTENT = ROWS.intents.insert('INSERT OR REPLACE', 'epoch')
const PUT_RUN = ROWS.runs.insert('INSERT', 'epoch')
const PUT_EVENT = ROWS.events.insert('INSERT')
const PUT_SUSPENSION = ROWS.suspensions.insert('INSERT OR REPLACE')
const PUT_APPROVAL = ROWS.approvals.insert('INSERT OR REPLACE')
const PUT_SYNC_REQUEST = 'INSERT OR IGNORE INTO sync_request VALUES (1, @actor, @at)'
const PUT_ACKNOWLEDGEMENT = ROWS.historyAcknowledgements.insert('INSERT OR REPLACE')

function restore(
  database: Database,
  document: StateDocument,
  epoch: number,
  onProgress: (done: number, total: number) => void = () => {},
): void {
  // A document replaces everything.
  for (const { name } of Object.values(ROWS)) database.exec(`DELETE FROM ${name}`)
  const { stateId, home } = document
  database
    .prepare('UPDATE meta SET state_id = ?, org_id = ?, url = ?, source = ?')
    .run(stateId, home?.orgId ?? null, home?.url ?? null, home?.source ?? null)
  const put = (sql: string, parameters: readonly object[]): void => {
    const statement = database.prepare(sql)
    for (const one of parameters) statement.run(one)
  }
  const { bindings } = document
  const putBinding = database.prepare(PUT_BINDING)
  for (const [index, binding] of bindings.entries()) {
    putBinding.run(ROWS.bindings.row(binding))
    onProgress(index + 1, bindings.length)
  }
  const { intents, runs, events, historyAcknowledgements } = document
  put(
    PUT_INTENT,
    intents.map((intent) => ROWS.intents.row(intent, { epoch })),
  )
  put(
    PUT_RUN,
    runs.toReversed().map((run) => ROWS.runs.row(run, { epoch })),
  )
  put(
    PUT_EVENT,
    events.toReversed().map((event) => ROWS.events.row(event)),
  )
  put(PUT_SUSPENSION, document.suspensions)
  put(PUT_APPROVAL, document.approvals)
  put(PUT_SYNC_REQUEST, document.syncRequests)
  put(
    PUT_ACKNOWLEDGEMENT,
    historyAcknowledgements.map((one) => ROWS.historyAcknowledgements.row(one)),
  )
}

/** The writing part of a store. */
type StateWriting = Omit<StateStore, Exclude<keyof StateReading, 'close'>>

/** Primitives for writes. */
interface Writer {
  /** Runs a statement; returns the number of changed rows. */
  readonly run: (sql: string, ...parameters: unknown[]) => number
  /** Writes an operator's input, which needs no lease. */
  readonly unfenced: (sql: string, parameter: unknown) => number
  /** Writes atomically, and only with the lease. */
  readonly fenced: <Result>(write: (epoch: number) => Result) => Result
  /** Deletes used input, fenced; returns whether there was any. */
  readonly take: (sql: string, ...parameters: unknown[]) => boolean
  readonly isThere: (sql: string) => boolean
  readonly change: (change: BindingChange) => void
  /** Drops all but the `most` newest rows of a table. */
  readonly keep: (table: string, newest: string, most: number) => void
}

function writerOf(database: Database, lease: SqliteLease, path: string, onBindings: () => void): Writer {
  const prepared = statementsOf(database)
  const run = (sql: string, ...parameters: unknown[]): number => prepared(sql).run(...parameters).changes
  const fenced: Writer['fenced'] = (write) => database.transaction(() => write(lease.epoch())).immediate()
  return {
    run,
    unfenced: (sql, parameter) => {
      lease.requireInPlace()
      try {
        return run(sql, parameter)
      } catch (error) {
        throw unusable(path, error)
      }
    },
    fenced,
    take: (sql, ...parameters) => fenced(() => run(sql, ...parameters)) > 0,
    // Called at each renewal: a read does not block writers.
    isThere: (sql) => prepared(sql).get() !== undefined,
    change: ({ put, drop }) => {
      onBindings()
      if (drop !== undefined) run('DELETE FROM binding WHERE key = ?', drop)
      if (put === undefined) return
      run(PUT_BINDING, ROWS.bindings.row(put))
      run("DELETE FROM intent WHERE key = ? AND kind = 'create'", put.key)
    },
    keep: (table, newest, most) => {
      run(
        `DELETE FROM ${table} WHERE rowid NOT IN (SELECT rowid FROM ${table} ORDER BY ${newest} LIMIT ?)`,
        most,
      )
    },
  }
}

function writingOf(
  database: Database,
  lease: SqliteLease,
  path: string,
  onBindings: () => void,
): StateWriting {
  const { run, unfenced, fenced, take, isThere, change, keep } = writerOf(database, lease, path, onBindings)
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
      fenced((epoch) => {
        for (const intent of intents)
          run(PUT_INTENT, ROWS.intents.row({ ...intent, mayStillLand: true }, { epoch }))
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
      fenced((epoch) => {
        run(PUT_RUN, ROWS.runs.row(record, { epoch }))
        keep('run', 'started_at DESC, rowid DESC', RUNS_KEPT)
      }),
    note: async (events) =>
      fenced(() => {
        for (const event of events) run(PUT_EVENT, ROWS.events.row(event))
        keep('event', 'seq DESC', EVENTS_KEPT)
      }),
    useApproval: async (digest) => take('DELETE FROM approval WHERE digest = ?', digest),
    takeSyncRequest: async () => isThere('SELECT 1 FROM sync_request') && take('DELETE FROM sync_request'),
    useHistoryAcknowledgement: async (commitSha) =>
      take('DELETE FROM history_acknowledgement WHERE commit_sha = ?', commitSha),
    restore: async (document, onProgress) =>
      fenced((epoch) => {
        onBindings()
        restore(database, document, epoch, onProgress)
      }),
    // Every write of this store is durable when it returns.
    checkpoint: async () => {},
    suspend: async (suspension) => {
      unfenced(PUT_SUSPENSION, suspension)
    },
    resume: async (scope) => unfenced('DELETE FROM suspension WHERE scope = ?', scope) > 0,
    approve: async (approval) => {
      unfenced(PUT_APPROVAL, approval)
      keep('approval', 'at DESC', APPROVALS_KEPT)
    },
    requestSync: async (request) => {
      unfenced(PUT_SYNC_REQUEST, request)
    },
    acknowledgeHistory: async (acknowledgement) => {
      unfenced(PUT_ACKNOWLEDGEMENT, ROWS.historyAcknowledgements.row(acknowledgement))
      keep('history_acknowledgement', 'at DESC', APPROVALS_KEPT)
    },
    close: async () => {
      lease.release()
      database.close()
    },
  }
}
