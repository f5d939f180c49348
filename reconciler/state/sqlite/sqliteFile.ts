import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { databaseFailureText } from '../../run/databaseFailure.ts'
import { otherVersionText, StateError } from '../model/stateError.ts'
import { type Database, openForReading, openForWriting } from './openDatabase.ts'
import { SCHEMA, SCHEMA_VERSION, TABLES } from './sqliteSchema.ts'

/** Opens the state file `path` to write to it, made where there is none. Throws StateError. */
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

/** Opens the state file `path` to look at it. Throws StateError when there is none. */
export async function readStateFile(path: string): Promise<Database> {
  let database: Database | undefined
  try {
    database = await openForReading(path)
    if (isEmpty(database, path)) throw notOurs(path)
    return database
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
  const isNew = isEmpty(database, path)
  // Between two writes the file is the whole state, so that a copy of it is a backup. DELETE would end a write with the
  // removal of a file, which FULL does not make durable; TRUNCATE is.
  const mode = database.pragma('journal_mode = TRUNCATE', { simple: true })
  database.pragma('synchronous = FULL')
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'truncate' || synchronous !== SYNCHRONOUS_FULL) {
    throw new StateError(`the state ${path} cannot be written safely here: put it on a local disk`)
  }
  if (!isNew) return
  database
    .transaction(() => {
      // Another run may have made it in the meantime.
      if (isEmpty(database, path)) create(database)
    })
    .immediate()
}

/** What SQLite calls `synchronous = FULL`. */
const SYNCHRONOUS_FULL = 2

/** Whether the database has no table yet. Throws StateError when its tables are not ours, or of another version. */
function isEmpty(database: Database, path: string): boolean {
  const version = Number(database.pragma('user_version', { simple: true }))
  const names: unknown[] = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .pluck()
    .all()
  if (version === 0 && names.length === 0) return true
  if (version === 0 || !TABLES.every((table) => names.includes(table))) throw notOurs(path)
  if (version !== SCHEMA_VERSION)
    throw new StateError(otherVersionText(`the state ${path}`, version, SCHEMA_VERSION))
  return false
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
