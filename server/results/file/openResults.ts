import { chmodSync, existsSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type DatabaseConstructor from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { migrate } from '../../store/sqlite/files/migrations.ts'
import { assertDurable } from '../../store/sqlite/files/openDatabase.ts'
import { ownAsFolder } from '../../store/sqlite/files/ownAsFolder.ts'
import { ensureDatabaseId } from '../database/databaseId.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { isDamage } from './damage.ts'
import { RESULTS_FILE, RESULTS_MIGRATIONS } from './resultsSchema.ts'
import { sqliteResults } from './sqliteResults.ts'

/** Maximum wait for a transaction of another process (milliseconds). */
const BUSY_MS_MAX = 5_000
/** Pages of the write-ahead log that trigger a checkpoint. */
const LOG_PAGES_MAX = 4_000
/** Memory for pages of the database (KiB). */
const CACHE_KIB = 32_768
const OWNER_FILE_MODE = 0o600

/** `results.db`, opened for writing. */
export interface OpenedResults {
  readonly database: ResultsDatabase
  readonly sqlite: Database
  /** Identity of the file: sequences of transitions are only comparable within it. */
  readonly fileId: string
  /** Where a damaged file was moved; `null` when there was none. */
  readonly damagedFile: string | null
}

/**
 * Opens `results.db` of `dataDir`, and creates it when absent. A damaged file is moved aside: history is lost, checks
 * go on. `isSuspect` verifies every page first. Throws when the file cannot be opened for another reason.
 */
export function openResults(dataDir: string, isSuspect: boolean): OpenedResults {
  const file = join(dataDir, RESULTS_FILE)
  try {
    return { ...open(file, isSuspect), damagedFile: null }
  } catch (error) {
    if (!isDamage(error) || !existsSync(file)) throw unusable(file, error)
    const damagedFile = moveAside(file)
    return { ...open(file, false), damagedFile }
  }
}

/** Makes or migrates `results.db` of `dataDir`; its path. Throws when one of its pages is damaged. */
export function prepareFile(dataDir: string): string {
  const file = join(dataDir, RESULTS_FILE)
  open(file, existsSync(file)).database.close()
  return file
}

/** Opens `results.db` of `dataDir`, which exists, for reading only. */
export function openForReading(dataDir: string): ResultsDatabase {
  const Sqlite = loadSqlite()
  return sqliteResults(new Sqlite(join(dataDir, RESULTS_FILE), { readonly: true }))
}

/**
 * Loads better-sqlite3 at the first use: a program must first check that it can be, a bundle imports what is static at
 * its start, and results in PostgreSQL do not need it.
 */
function loadSqlite(): typeof DatabaseConstructor {
  // True because the package exports its class.
  return createRequire(import.meta.url)('better-sqlite3') as typeof DatabaseConstructor
}

function open(file: string, isSuspect: boolean) {
  const Sqlite = loadSqlite()
  const database = new Sqlite(file, { timeout: BUSY_MS_MAX })
  try {
    chmodSync(file, OWNER_FILE_MODE)
    ownAsFolder(file)
    configure(database)
    migrate(database, RESULTS_MIGRATIONS)
    if (isSuspect) assertSound(database)
    const results = sqliteResults(database)
    return { database: results, sqlite: database, fileId: ensureDatabaseId(results) }
  } catch (error) {
    database.close()
    throw error
  }
}

function configure(database: Database): void {
  database.pragma('journal_mode = WAL')
  // After journal_mode: better-sqlite3 lowers `synchronous` when WAL is set.
  database.pragma('synchronous = FULL')
  database.pragma('trusted_schema = OFF')
  database.pragma('temp_store = MEMORY')
  database.pragma(`wal_autocheckpoint = ${LOG_PAGES_MAX}`)
  database.pragma(`cache_size = -${CACHE_KIB}`)
  assertDurable(database)
}

function assertSound(database: Database): void {
  const found = database.pragma('quick_check(1)', { simple: true })
  if (found === 'ok') return
  throw Object.assign(new Error(`the results are damaged: ${String(found)}`), { code: 'SQLITE_CORRUPT' })
}

/** `error` with the name of `file`. An error of SQLite would lose its message on the way to another thread. */
function unusable(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  return Object.assign(new Error(`${file} cannot be used: ${error.message}`), { code: error.code })
}

/** Renames `file` and its write-ahead log; returns the new name of the file. */
function moveAside(file: string): string {
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${aside}${suffix}`)
  }
  return aside
}
