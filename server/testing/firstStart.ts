import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { RESERVE_BYTES, RESERVE_FILE } from '../store/sqlite/files/diskSpace.ts'
import { migrate } from '../store/sqlite/files/migrations.ts'
import { databaseFile } from '../store/sqlite/files/openDatabase.ts'

let tables: Buffer | undefined

/**
 * Writes the slowest parts of a server's first start into the empty folder `dataDir`, which are the same for every
 * server: a database with only its tables, even without an identity, and the file for reserved space. That file is
 * sparse, so it reserves nothing.
 */
export function prepareFirstStart(dataDir: string): void {
  tables ??= emptyDatabase()
  writeFileSync(databaseFile(dataDir), tables, { mode: 0o600 })
  const reserve = join(dataDir, RESERVE_FILE)
  writeFileSync(reserve, '', { mode: 0o600 })
  truncateSync(reserve, RESERVE_BYTES)
}

function emptyDatabase(): Buffer {
  const database = new Sqlite(':memory:')
  migrate(database)
  const bytes = database.serialize()
  database.close()
  return bytes
}
