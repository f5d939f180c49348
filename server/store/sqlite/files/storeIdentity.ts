import { randomUUID } from 'node:crypto'
import type { Database } from 'better-sqlite3'

/** The identity of the store in `database`, of the newest schema; made when it has none. Contract: Gap G20. */
export function identify(database: Database): string {
  const select = database.prepare<[], string>('SELECT id FROM store_identity').pluck()
  const known = select.get()
  if (known !== undefined) return known
  // Of two programs that look at once one makes it.
  database.prepare('INSERT INTO store_identity VALUES (1, ?) ON CONFLICT DO NOTHING').run(randomUUID())
  return identify(database)
}

/** How far a restore moves the numbers of endpoints: those given after the backup may have results. */
const NUMBERS_SKIPPED = 2 ** 24

/**
 * Takes the identity from a copy of a database, of whatever schema, so that what becomes of the copy is a store of its
 * own: its generations go on from those of an earlier time, and ETags and commands would otherwise repeat.
 */
export function forgetIdentity(copy: Database): void {
  const hasTable = copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'store_identity'").get()
  if (hasTable !== undefined) copy.exec('DELETE FROM store_identity')
  copy
    .prepare("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'numbered_endpoints'")
    .run(NUMBERS_SKIPPED)
}
