import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseFailureText, isBusy } from '../../run/databaseFailure.ts'
import { StateError } from '../model/stateError.ts'
import { type Database, inMemory, openForReading, openForWriting } from './openDatabase.ts'
import { MIGRATIONS, SCHEMA, SCHEMA_VERSION, TABLES } from './sqliteSchema.ts'

/** Opens the state file `path` to write to it, made or migrated where needed. Throws StateError. */
export async function openStateFile(path: string): Promise<Database> {
  let database: Database | undefined
  try {
    database = await openForWriting(path)
    await prepare(database, path)
    return database
  } catch (error) {
    database?.close()
    throw unusable(path, error)
  }
}

/** Opens the state file `path` to look at it; an older one is migrated in memory. Throws StateError when there is none. */
export async function readStateFile(path: string): Promise<Database> {
  let database: Database | undefined
  try {
    database = await openForReading(path)
    const version = versionOf(database, path)
    if (version === 0) throw notOurs(path)
    if (version === SCHEMA_VERSION) return database
    const copy = await inMemory(database.serialize())
    database.close()
    database = copy
    migrate(copy)
    copy.pragma('query_only = ON')
    return copy
  } catch (error) {
    database?.close()
    throw unusable(path, error)
  }
}

/** When the database `path` was last written (milliseconds since the epoch); null when it is not there. */
export function fileWrittenAtMs(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}

/** `error` as one of the state `path`. */
export function unusable(path: string, error: unknown): StateError {
  if (error instanceof StateError) return error
  return new StateError(`the state ${path} cannot be used: ${databaseFailureText(error)}`, 'unusable', {
    cause: error,
  })
}

async function prepare(database: Database, path: string): Promise<void> {
  // Before anything is set: a database that is not ours is left as it is.
  const version = versionOf(database, path)
  await leaveLogMode(database, path)
  // Between two writes the file is the whole state, so that a copy of it is a backup. DELETE would end a write with the
  // removal of a file, which FULL does not make durable; TRUNCATE is.
  const mode = database.pragma('journal_mode = TRUNCATE', { simple: true })
  database.pragma('synchronous = FULL')
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'truncate' || synchronous !== SYNCHRONOUS_FULL) {
    throw new StateError(`the state ${path} cannot be written safely here: put it on a local disk`)
  }
  if (version < SCHEMA_VERSION) {
    database
      .transaction(() => {
        // Another run may have made or migrated it in the meantime.
        if (versionOf(database, path) === 0) create(database)
        else migrate(database)
      })
      .immediate()
  }
}

/** What SQLite calls `synchronous = FULL`. */
const SYNCHRONOUS_FULL = 2
/** How long another process that has a state in log mode open is waited for, and how often (milliseconds). */
const LEAVE_LOG_MS_MAX = 5_000
const LEAVE_LOG_PAUSE_MS = 50

/**
 * Converts a state that an older version left in write-ahead-log mode: what is in its log goes into the file. That
 * takes a moment in which no other process has it open.
 */
async function leaveLogMode(database: Database, path: string): Promise<void> {
  const isInLogMode = (): boolean => database.pragma('journal_mode', { simple: true }) === 'wal'
  for (let waitedMs = 0; isInLogMode(); waitedMs += LEAVE_LOG_PAUSE_MS) {
    if (waitedMs > LEAVE_LOG_MS_MAX) {
      throw new StateError(
        `the state ${path} has to be converted, but another process has it open: end every run and controller of an older version first`,
      )
    }
    if (waitedMs > 0) await sleep(LEAVE_LOG_PAUSE_MS)
    try {
      database.pragma('journal_mode = TRUNCATE')
    } catch (error) {
      if (!isBusy(error)) throw error
    }
  }
}

/** Version of the tables, 0 when there is none yet. Throws StateError when they are not ours, or newer than we are. */
function versionOf(database: Database, path: string): number {
  const version = userVersion(database)
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

function userVersion(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }))
}

function notOurs(path: string): StateError {
  return new StateError(`${path} is a database, but no state of pharos: name another file with --state`)
}

/** Makes our tables in an empty database. */
export function create(database: Database): void {
  database.exec(SCHEMA)
  database.prepare('INSERT INTO meta (one, state_id) VALUES (1, ?)').run(randomUUID())
  database.pragma(`user_version = ${SCHEMA_VERSION}`)
}

function migrate(database: Database): void {
  for (const step of MIGRATIONS.slice(userVersion(database) - 1)) database.exec(step)
  database.pragma(`user_version = ${SCHEMA_VERSION}`)
}
