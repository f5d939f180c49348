import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { codeOf } from '../../api/runtime/errorCode.ts'

/** Permission bits for the owner of a key file. */
const OWNER_MODE = 0o700
/** Permission bits of a new key file. */
const NEW_FILE_MODE = 0o600

/**
 * Creates `file` with `text`, readable only by its owner. Contents and name are durable when it returns. A file that
 * another program created meanwhile is left unchanged. Throws, with nothing left behind, when the folder is not
 * writable.
 */
export function makeKeyFile(file: string, text: string): void {
  try {
    placeKeys({ file: resolve(file), text, like: undefined, place: linkSync })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unwritable(file, error)
  }
}

/**
 * Replaces the text of `file`, completely or not at all. The file keeps its owner and mode, and a symbolic link stays
 * one, so that a server running as that owner can still read it. Contents and name are durable when it returns. Throws,
 * with nothing changed, when this user cannot do all of that.
 */
export function replaceKeyFile(file: string, text: string): void {
  const target = realpathSync(file)
  try {
    placeKeys({ file: target, text, like: statSync(target), place: renameSync })
  } catch (error) {
    throw unwritable(file, error)
  }
}

interface KeyPlacement {
  /** Absolute path. */
  readonly file: string
  readonly text: string
  /** The file to copy owner and mode from; `undefined` for those of this process. */
  readonly like: Stats | undefined
  /** Renames the written file to its final name. */
  readonly place: (temporary: string, file: string) => void
}

function placeKeys({ file, text, like, place }: KeyPlacement): void {
  const folder = dirname(file)
  // Opened first, because a process that cannot flush the folder afterwards must not begin.
  const folderDescriptor = openSync(folder, 'r')
  // Another user could create a file or link with a predictable name.
  const temporary = join(folder, `pharos-key-${randomUUID()}.new`)
  try {
    writeDurably(temporary, text, like)
    place(temporary, file)
    // Flush the name too before the database refers to the key: after a power cut the database could otherwise be
    // without its key.
    fsyncSync(folderDescriptor)
  } finally {
    rmSync(temporary, { force: true })
    closeSync(folderDescriptor)
  }
}

function writeDurably(file: string, text: string, like: Stats | undefined): void {
  const descriptor = openSync(file, 'wx', NEW_FILE_MODE)
  try {
    if (like !== undefined && fstatSync(descriptor).uid !== like.uid)
      fchownSync(descriptor, like.uid, like.gid)
    fchmodSync(descriptor, like === undefined ? NEW_FILE_MODE : like.mode & OWNER_MODE)
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** `error` with `file`, which the user named, instead of the temporary file. */
export function unwritable(file: string, error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'ENOSPC')
    return Object.assign(new Error('the disk is full', { cause: error }), { code, path: file })
  const remedy: Readonly<Record<string, string>> = {
    EPERM: 'its owner could no longer read it: run this as that user, or as root',
    EACCES: 'make its folder writable, or choose another place with --master-key-file',
    EROFS: 'choose another place with --master-key-file',
  }
  const words = remedy[code]
  if (words === undefined) return error
  return Object.assign(
    new Error(`the master key file ${file} cannot be written (${code}): ${words}`, { cause: error }),
    {
      code,
    },
  )
}
