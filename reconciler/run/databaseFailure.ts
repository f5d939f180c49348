import { codeOf } from '../../api/runtime/errorCode.ts'

/** Advice for failures of a state file, by the code of SQLite or the system. */
const ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^(?:SQLITE_FULL|ENOSPC|EDQUOT)/, 'free some space on its disk, then run this again'],
  [
    /^(?:SQLITE_CORRUPT|SQLITE_NOTADB)/,
    'restore a backup ("pharos state import"), or start again with "pharos state adopt apply"',
  ],
  [
    /^(?:SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS)/,
    'this user needs write permission for the file and its folder',
  ],
  [/^(?:SQLITE_BUSY|SQLITE_LOCKED)/, 'another program has locked it: run this again when that has ended'],
  [/^SQLITE_IOERR/, 'its disk is failing or full: check it, then run this again'],
]

/** Whether `error` is a failure of the SQLite file of a state, at any access. Pure. */
export function isDatabaseError(error: unknown): error is Error {
  return codeOf(error).startsWith('SQLITE_')
}

/** Whether a write to the file was interrupted, which only a process with write permission can roll back. Pure. */
export function isCutOff(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_READONLY_ROLLBACK'
}

/** The message about a failure of a state file, with advice if known. Pure. */
export function databaseFailureText(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  const advice = ADVICE.find(([code]) => code.test(codeOf(error)))?.[1]
  return advice === undefined ? reason : `${reason}: ${advice}`
}
