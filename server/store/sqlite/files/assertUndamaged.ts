/**
 * Rejects with `remedy` when a page of the database `file` is damaged, or when it is no database. Otherwise, the damage
 * would surface only when a page is needed. Reads the whole file.
 */
export async function assertUndamaged(file: string, remedy: string): Promise<void> {
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file)
  const damaged = (cause?: unknown) => new Error(`${file} is damaged: ${remedy}`, { cause })
  try {
    if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') throw damaged()
  } catch (error) {
    if (error instanceof Sqlite.SqliteError && error.code === 'SQLITE_NOTADB') throw damaged(error)
    throw error
  } finally {
    database.close()
  }
}
