/** What to do about a failure of a state's file, by how its code of SQLite or of the system starts. */
const WAYS: readonly (readonly [code: RegExp, way: string])[] = [
  [/^(?:SQLITE_FULL|ENOSPC|EDQUOT)/, 'make room on its disk, then run this again'],
  [
    /^(?:SQLITE_CORRUPT|SQLITE_NOTADB)/,
    'put a backup in its place ("pharos state import"), or start anew with "pharos state adopt apply"',
  ],
  [
    /^(?:SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS)/,
    'this user needs to write the file and its folder',
  ],
  [/^(?:SQLITE_BUSY|SQLITE_LOCKED)/, 'another program keeps it locked: run this again when that is done'],
  [/^SQLITE_IOERR/, 'its disk fails or is full: look at that, then run this again'],
]

/** Whether the state's SQLite file failed: a damaged page is found only where it is read. Pure. */
export function isDatabaseError(error: unknown): error is Error {
  return codeOf(error).startsWith('SQLITE_')
}

/** Whether a write to the file was cut off, which only a process that may write to it can undo. Pure. */
export function isCutOff(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_READONLY_ROLLBACK'
}

/** What went wrong with a state's file, and what to do where that is known. Pure. */
export function databaseFailureText(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  const way = WAYS.find(([code]) => code.test(codeOf(error)))?.[1]
  return way === undefined ? reason : `${reason}: ${way}`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
