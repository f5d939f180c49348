import { randomUUID } from 'node:crypto'
import { link, open, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from '../../../../api/runtime/errorCode.ts'
import { syncFolder } from '../../../../api/runtime/syncFolder.ts'
import { removeStoreId } from './storeIdentity.ts'
import { withDatabase } from './withDatabase.ts'

/** Name of an unfinished copy, and of its journal. */
export const PART_FILE = /^pharos-backup-[0-9a-f-]{36}\.part(?:-journal)?$/
/** Pages copied in one turn of the event loop, during which no request is handled. */
const PAGES_PER_TURN = 100
/** Maximum wait for a transaction of another process (milliseconds). */
const BUSY_MS_MAX = 5_000

/**
 * Writes the whole database `source` to `file`, completely or not at all and readable by its owner only: it contains
 * hashes of keys and every header that is not sealed. Rejects when the file exists, of whatever type, and when its
 * folder does not, and with the reason of `signal` when that is aborted.
 */
export function backupDatabase(source: string, file: string, signal?: AbortSignal): Promise<void> {
  return copyDatabase(source, file, { change: makeAnonymous, signal })
}

/**
 * Writes the whole database `source` to `file`, completely or not at all and readable by its owner only, changed by
 * `change`. Rejects when the file exists, of whatever type, and when its folder does not.
 */
export async function copyDatabase(
  source: string,
  file: string,
  {
    change = async () => {},
    signal,
  }: {
    readonly change?: (copy: string) => Promise<void>
    readonly signal?: AbortSignal | undefined
  } = {},
): Promise<void> {
  await assertFolder(dirname(file))
  // A name of fixed length: a suffix could make a permitted name too long.
  const temporary = join(dirname(file), `pharos-backup-${randomUUID()}.part`)
  try {
    // Created first, so that the copy has its mode from the first byte on.
    await writeFile(temporary, '', { mode: 0o600, flag: 'wx' })
    await copyInstant(source, temporary, signal)
    await change(temporary)
    const handle = await open(temporary, 'r+')
    await handle.sync()
    await handle.close()
    // A link, unlike a rename, never replaces a file: another backup, or another folder's database.
    await link(temporary, file)
    syncFolder(dirname(file))
  } catch (error) {
    throw failureOf(file, error)
  } finally {
    await rm(temporary, { force: true })
    // SQLite leaves it behind when the disk is full.
    await rm(`${temporary}-journal`, { force: true })
  }
}

/**
 * Copies a snapshot of `source`, held by its own transaction: SQLite would restart the copy after each commit of any
 * program, and never finish while a server works.
 */
async function copyInstant(source: string, target: string, signal: AbortSignal | undefined): Promise<void> {
  const progress = (): number => {
    signal?.throwIfAborted()
    return PAGES_PER_TURN
  }
  await withDatabase(source, { timeout: BUSY_MS_MAX, fileMustExist: true }, async (database) => {
    database.pragma('query_only = ON')
    database.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    await database.backup(target, { progress })
  })
}

/** A backup that is manually put in place of a database must get a new identity too. */
function makeAnonymous(copy: string): Promise<void> {
  return withDatabase(copy, {}, (database) => {
    // In memory, because a copy interrupted by a crash is no backup.
    database.pragma('journal_mode = MEMORY')
    removeStoreId(database)
  })
}

async function assertFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true)
    throw new Error(`there is no folder ${folder}: create it, or use another one`)
}

/** `error` in terms of `file`, which the user named, instead of the temporary file. */
function failureOf(file: string, error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'EEXIST') return new Error(`${file} already exists: name a new file`, { cause: error })
  if (code === 'ENOSPC' || code === 'SQLITE_FULL') {
    return Object.assign(new Error(`there is not enough disk space for ${file}`, { cause: error }), {
      code,
      path: file,
    })
  }
  if (!code.startsWith('E')) return error
  const text = `${file} cannot be written (${code}): name a new file where you may make one`
  return Object.assign(new Error(text, { cause: error }), { code })
}
