import { codeOf } from '../../../api/runtime/errorCode.ts'

/** SQLite's error codes for a damaged file. */
const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB']

/** Whether `error` reports a damaged database file, not one that cannot be reached. Pure. */
export function isDamage(error: unknown): boolean {
  return DAMAGED.some((damaged) => codeOf(error).startsWith(damaged))
}
