import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { databaseFailureText } from '../../run/databaseFailure.ts'
import { otherVersionText, StateError } from '../model/stateError.ts'
import { type Database, openForReading, openForWriting } from './openDatabase.ts'
import { SCHEMA, SCHEMA_VERSION, TABLES } from './sqliteSchema.ts'

/** Opens the state file `path` for writing, and creates a missing one. Throws StateError. */
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

/** Opens the state file `path` for reading. Throws StateError when there is none. */
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

/** When the database `path` was last written (milliseconds since the epoch); null when it does not exist. */
export function fileWrittenAtMs(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}

/** `error` as a StateError about `path`. */
export function unusable(path: string, error: unknown): StateError {
  if (error instanceof StateError) return error
  return new StateError(`the state ${path} cannot be used: ${databaseFailureText(error)}`, 'unusable', {
    cause: error,
  })
}

async function prepare(database: Database, path: string): Promise<void> {
  // Checked before any pragma: a foreign database must not be changed.
  const isNew = isEmpty(database, path)
  // Between two writes the file is the complete state, so that a copy is a backup. In mode DELETE a write ends with the removal
  // of a file, which FULL does not make durable; TRUNCATE is durable.
  const mode = database.pragma('journal_mode = TRUNCATE', { simple: true })
  database.pragma('synchronous = FULL')
  const synchronous = database.pragma('synchronous', { simple: true })
  if (mode !== 'truncate' || synchronous !== SYNCHRONOUS_FULL) {
    throw new StateError(`the state ${path} cannot be written safely here: put it on a local disk`)
  }
  if (!isNew) return
  database
    .transaction(() => {
      // Another run may have created it in the meantime.
      if (isEmpty(database, path)) create(database)
    })
    .immediate()
}

/** SQLite's value of `synchronous = FULL`. */
const SYNCHRONOUS_FULL = 2

/** Whether the database has no table. Throws StateError when it is not a state, or of another version. */
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
  return new StateError(`${path} is a database, but not a state of pharos: name another file with --state`)
}

/** Creates the tables of a state in an empty database. */
export function create(database: Database): void {
  database.exec(SCHEMA)
  database.prepare('INSERT INTO meta (one, state_id) VALUES (1, ?)').run(randomUUID())
  database.pragma(`user_version = ${SCHEMA_VERSION}`)
}
