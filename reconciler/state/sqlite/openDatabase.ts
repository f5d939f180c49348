import { existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type DatabaseConstructor from 'better-sqlite3'
import { databaseProblem } from '../../../api/runtime/databasePair.ts'
import { isCutOff } from '../../run/databaseFailure.ts'
import { StateError } from '../model/stateError.ts'

/** An open SQLite database. */
export type Database = DatabaseConstructor.Database

/** How long a statement waits for a lock of another process (milliseconds). */
const BUSY_MS = 5_000

/** Whether there is a state at `path`; an empty file is none. Throws StateError when the folder does not exist. */
export function stateExists(path: string): boolean {
  const entry = statSync(path, { throwIfNoEntry: false })
  if (entry?.isDirectory() === true) throw new StateError(`${path} is a folder: name a file for the state`)
  if (entry !== undefined) return entry.size > 0
  const folder = dirname(path)
  if (existsSync(folder)) return false
  throw new StateError(`there is no folder ${folder} for the state ${path}: create it, or correct --state`)
}

/** Opens the database `path` for writing, and creates a missing one, accessible to its owner only. */
export async function openForWriting(path: string): Promise<Database> {
  const Constructor = await loadConstructor()
  // Other users, such as those of a shared runner, must not read addresses and header values.
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 })
  return new Constructor(path, { timeout: BUSY_MS })
}

/**
 * Opens the database `path` for reading. Neither the file nor its folder has to be writable, unless an interrupted write has to
 * be rolled back first.
 */
export async function openForReading(path: string): Promise<Database> {
  const Constructor = await loadConstructor()
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

/** Reads the database, because SQLite opens the file only then. */
function touch(database: Database): void {
  database.pragma('schema_version')
}

/** Loads SQLite. Throws StateError when it cannot be used. */
export async function loadConstructor(): Promise<typeof DatabaseConstructor> {
  const problem = databaseProblem()
  if (problem !== undefined) throw new StateError(problem)
  // After the check, because loading the wrong release can crash the process.
  const { default: Constructor } = await import('better-sqlite3')
  return Constructor
}
