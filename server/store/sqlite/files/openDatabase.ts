import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { makeFolder, OWNER_ONLY } from '../../../../api/runtime/makeFolder.ts'
import { migrate } from './migrations.ts'
import { ownAsFolder } from './ownAsFolder.ts'
import { ensureStoreId } from './storeIdentity.ts'

/** File of the database below the data folder. */
export const DATABASE_FILE = 'control.db'

/** Maximum wait for a transaction of another process (milliseconds). */
const BUSY_MS_MAX = 5_000
/** Size to which a grown write-ahead log is truncated (bytes). */
const LOG_BYTES_KEPT = 64 * 1_024 * 1_024

/** Pages of the write-ahead log that trigger a checkpoint: many creates change the same pages. */
const LOG_PAGES_MAX = 4_000
/** Page cache (KiB): ids are random, so creates touch pages all over their index. */
const CACHE_KIB = 32_768

/** Permission bits of the owner. */
const OWNER_MODE = 0o700

/** One connection that writes and one that only reads, on the same file. */
export interface Connections {
  readonly writer: Database
  readonly reader: Database
}

/** Path of the database of `dataDir`. Pure. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, DATABASE_FILE)
}

/**
 * Opens the database of `dataDir`, created and migrated when needed, and asserts that a commit is durable before it
 * returns. better-sqlite3 is loaded here and no earlier: a program must first check that it can be.
 */
export async function openDatabase(dataDir: string): Promise<Connections> {
  makeFolder(dataDir, OWNER_ONLY)
  const { default: Sqlite } = await import('better-sqlite3')
  const file = databaseFile(dataDir)
  const writer = new Sqlite(file, { timeout: BUSY_MS_MAX })
  try {
    // Readable by its owner only; permissions that the owner lacks are not added.
    chmodSync(file, statSync(file).mode & OWNER_MODE)
    ownAsFolder(file)
    configure(writer)
    migrate(writer)
    ensureStoreId(writer)
    // From now on, mutations wait for other programs in the event loop, so that other requests continue.
    writer.pragma('busy_timeout = 0')
    const reader = new Sqlite(file, { timeout: BUSY_MS_MAX })
    configure(reader)
    reader.pragma('query_only = ON')
    return { writer, reader }
  } catch (error) {
    writer.close()
    throw error
  }
}

function configure(database: Database): void {
  setPragmas(database)
  assertDurable(database)
}

/** Configures a connection. */
export function setPragmas(database: Database): void {
  database.pragma('journal_mode = WAL')
  // After journal_mode: better-sqlite3 is compiled to switch to synchronous = NORMAL with WAL, which loses acknowledged
  // writes in a power cut.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  database.pragma('temp_store = MEMORY')
  database.pragma('mmap_size = 0')
  database.pragma(`wal_autocheckpoint = ${LOG_PAGES_MAX}`)
  database.pragma(`cache_size = -${CACHE_KIB}`)
  database.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`)
}

const SYNCHRONOUS_FULL = 2

/** Throws unless `database` keeps a write-ahead log and flushes it at every commit. */
export function assertDurable(database: Database): void {
  const journal = database.pragma('journal_mode', { simple: true })
  const synchronous = database.pragma('synchronous', { simple: true })
  if (journal !== 'wal' || synchronous !== SYNCHRONOUS_FULL) {
    throw new Error(
      `the database is not durable: journal_mode is ${String(journal)} and synchronous is ${String(synchronous)} where wal and ${SYNCHRONOUS_FULL} are needed; the file system may not support shared memory`,
    )
  }
}
