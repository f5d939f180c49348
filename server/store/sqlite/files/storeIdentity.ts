import { randomUUID } from 'node:crypto'
import type { Database } from 'better-sqlite3'

/** The identity of the store in `database`, of the newest schema; created when missing. Contract: Gap G20. */
export function ensureStoreId(database: Database): string {
  const select = database.prepare<[], string>('SELECT id FROM store_identity').pluck()
  const known = select.get()
  if (known !== undefined) return known
  // If two programs read at once, one of them creates it.
  database.prepare('INSERT INTO store_identity VALUES (1, ?) ON CONFLICT DO NOTHING').run(randomUUID())
  return ensureStoreId(database)
}

/** Step by which a restore advances the numbers of endpoints: those assigned after the backup may have results. */
const NUMBERS_SKIPPED = 2 ** 24

/**
 * Removes the identity from a copy of a database, of any schema, so that the copy becomes its own store: its
 * generations continue from earlier ones, and ETags and commands would otherwise repeat.
 */
export function removeStoreId(copy: Database): void {
  const hasTable = copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'store_identity'").get()
  if (hasTable !== undefined) copy.exec('DELETE FROM store_identity')
  copy
    .prepare("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'numbered_endpoints'")
    .run(NUMBERS_SKIPPED)
}
