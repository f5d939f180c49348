import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type DatabaseConstructor from 'better-sqlite3'
import { databaseProblem } from '../../../api/runtime/databasePair.ts'
import { isCutOff } from '../../run/databaseFailure.ts'
import { StateError } from '../model/stateError.ts'

/** An open SQLite database. */
export type Database = DatabaseConstructor.Database

/** How long a statement waits for another process to finish its own (milliseconds). */
const BUSY_MS = 5_000
/** Bytes of the header of an SQLite file that say whether it is written and read through a log (2) or not (1). */
const LOG_MODE_BYTES = [18, 19] as const

/** Whether there is a state at `path` yet: an empty file remembers nothing. Throws StateError when the folder is not there. */
export function stateExists(path: string): boolean {
  const entry = statSync(path, { throwIfNoEntry: false })
  if (entry?.isDirectory() === true) throw new StateError(`${path} is a folder: name a file for the state`)
  if (entry !== undefined) return entry.size > 0
  const folder = dirname(path)
  if (existsSync(folder)) return false
  throw new StateError(`there is no folder ${folder} for the state ${path}: make it, or correct --state`)
}

/** Opens the database `path` for writing, making it, for its owner only, when it is not there. */
export async function openForWriting(path: string): Promise<Database> {
  const Constructor = await loadConstructor()
  // Other users, such as those of a shared runner, must not read addresses and header values.
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 })
  return new Constructor(path, { timeout: BUSY_MS })
}

/**
 * Opens the database `path` such that neither the file nor its folder has to be writable, unless a write to it was cut
 * off: that is undone first.
 */
export async function openForReading(path: string): Promise<Database> {
  const Constructor = await loadConstructor()
  // Who reads through a log, as older versions wrote one, would make files beside it.
  const bytes = bytesAtRest(path)
  if (bytes !== undefined) {
    const database = await inMemory(bytes)
    database.pragma('query_only = ON')
    return database
  }
  const open = (readonly: boolean): Database => new Constructor(path, { readonly, timeout: BUSY_MS })
  const database = open(true)
  try {
    touch(database)
    return database
  } catch (error) {
    database.close()
    if (!isCutOff(error)) throw error
  }
  const writing = open(false)
  touch(writing)
  writing.close()
  return open(true)
}

/** Reads the database: SQLite looks at it only then. */
function touch(database: Database): void {
  database.pragma('schema_version')
}

/** The database that `bytes` are the file of, in memory: what is written to it stays there. */
export async function inMemory(bytes: Buffer): Promise<Database> {
  const Constructor = await loadConstructor()
  // A database in memory has no log, and is refused when its header asks for one.
  for (const index of LOG_MODE_BYTES) if (bytes[index] === 2) bytes[index] = 1
  return new Constructor(bytes)
}

/** The bytes of a `path` in log mode while no process writes to it; `undefined` for any other. */
function bytesAtRest(path: string): Buffer | undefined {
  const before = statSync(path)
  if (hasLog(path)) return undefined
  const bytes = readFileSync(path)
  if (!LOG_MODE_BYTES.some((index) => bytes[index] === 2)) return undefined
  const after = statSync(path)
  return hasLog(path) || after.mtimeMs !== before.mtimeMs || after.size !== before.size ? undefined : bytes
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

async function loadConstructor(): Promise<typeof DatabaseConstructor> {
  const problem = databaseProblem()
  if (problem !== undefined) throw new StateError(problem)
  // Only now: loading the wrong release can end the process.
  const { default: Constructor } = await import('better-sqlite3')
  return Constructor
}
