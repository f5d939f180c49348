import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { databaseFailureText } from './databaseFailure.ts'
import { type Database, inMemory, openForReading, openForWriting } from './openDatabase.ts'
import { MIGRATIONS, SCHEMA, SCHEMA_VERSION, TABLES } from './sqliteSchema.ts'
import { StateError } from './stateError.ts'

/** Opens the state file `path` to write to it, made or migrated where needed. Throws StateError. */
export async function openStateFile(path: string): Promise<Database> {
  let database: Database | undefined
  try {
    database = await openForWriting(path)
    prepare(database, path)
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

/** When the database `path` or its log was last written (milliseconds since the epoch); null when it is not there. */
export function fileWrittenAtMs(path: string): number | null {
  const times = [path, `${path}-wal`].flatMap((file) => {
    const entry = statSync(file, { throwIfNoEntry: false })
    // An empty log was emptied, not written.
    return entry === undefined || entry.size === 0 ? [] : [entry.mtimeMs]
  })
  return times.length === 0 ? null : Math.max(...times)
}

/** `error` as one of the state `path`. */
export function unusable(path: string, error: unknown): StateError {
  if (error instanceof StateError) return error
  return new StateError(`the state ${path} cannot be used: ${databaseFailureText(error)}`, 'unusable', {
    cause: error,
  })
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
