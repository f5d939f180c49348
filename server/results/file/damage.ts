/** SQLite's error codes for a damaged file. */
const DAMAGED = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB'])

/** Whether `error` reports a damaged database file, not one that cannot be reached. Pure. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return [...DAMAGED].some((damaged) => code.startsWith(damaged))
}
