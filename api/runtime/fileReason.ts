import { codeOf } from './errorCode.ts'

/** Whether `error` says that a file or folder cannot be used, or that a disk is full. Pure. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  // The error of a write, for example to a full disk, does not contain the path.
  return error instanceof Error && 'syscall' in error && ('path' in error || error.syscall === 'write')
}

/** The message about the file of `error`, with advice if known. Pure. */
export function fileErrorText(error: NodeJS.ErrnoException): string {
  return `${error.path ?? 'a file'} cannot be used: ${fileReason(error)}`
}

/** Meanings of system error codes for users, with advice. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder: name a file',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'this user has no permission: change its permissions, or use another path',
  EPERM: 'this user has no permission: change its permissions, or use another path',
  EROFS: 'its file system is read-only: use another path',
  ENOSPC: 'the disk is full: free some space, then run this again',
  EDQUOT: "this user's disk quota is exceeded: free some space, then run this again",
  ELOOP: 'its symbolic links are circular',
  ENAMETOOLONG: 'its name is too long',
  EEXIST: 'it already exists',
  EMFILE:
    'this process has no free file descriptors: raise their limit ("ulimit -n", or LimitNOFILE of systemd)',
  ENFILE: 'this machine has no free file descriptors: end other programs, or raise the limit (fs.file-max)',
}

/** Why a file cannot be used, with advice if known. Pure. */
export function fileReason(error: unknown): string {
  const reason = REASONS[codeOf(error)]
  if (reason !== undefined) return reason
  return error instanceof Error ? error.message : String(error)
}
