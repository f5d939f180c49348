import { dirname } from 'node:path'
import { ExpectedFailure } from './failure.ts'

/** A file that was named for what a command makes cannot be written. The message says why and what to do. */
export class UnwritableFile extends ExpectedFailure {
  override readonly name = 'UnwritableFile'
  readonly code = 'E_FILE'

  constructor(file: string, cause: unknown) {
    super(unwritableText(file, cause), { cause })
  }
}

function unwritableText(file: string, cause: unknown): string {
  const code = codeOf(cause)
  if (code === 'ENOENT')
    return `there is no folder ${dirname(file)} for ${file}: make it, or name another place`
  if (code === 'ENOTDIR') return `${file} cannot be made below a file: name another place`
  return `${file} cannot be written: ${fileReason(cause)}`
}

/** Whether a file or folder cannot be used, or a disk is full: what a user can do something about. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  // An error of a write, such as that of a full disk, does not know the file.
  return error instanceof Error && 'syscall' in error && ('path' in error || error.syscall === 'write')
}

/** `error` as a sentence about its file, with what to do where that is known. Pure. */
export function fileErrorText(error: NodeJS.ErrnoException): string {
  return `${error.path ?? 'a file'} cannot be used: ${fileReason(error)}`
}

/** What the codes of the system mean to the user who named a file, and what to do. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  EISDIR: 'it is a folder: name a file',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'this user has no permission for it: change that, or name another place',
  EPERM: 'this user has no permission for it: change that, or name another place',
  EROFS: 'its file system is read-only: name another place',
  ENOSPC: 'the disk is full: make room, then run this again',
  EDQUOT: "this user's share of the disk is full: make room, then run this again",
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  EEXIST: 'it is there already',
}

/** Why a file cannot be used, and what to do where that is known. Pure. */
export function fileReason(error: unknown): string {
  const reason = REASONS[codeOf(error)]
  if (reason !== undefined) return reason
  return error instanceof Error ? error.message : String(error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
