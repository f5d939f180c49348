import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Database } from 'better-sqlite3'
import { codeOf } from '../../../../api/runtime/errorCode.ts'
import { makeFolder, OWNER_ONLY } from '../../../../api/runtime/makeFolder.ts'
import { syncFolder } from '../../../../api/runtime/syncFolder.ts'
import { MIGRATIONS, schemaVersion } from './migrations.ts'
import { databaseFile } from './openDatabase.ts'
import { removeStoreId } from './storeIdentity.ts'
import { withDatabase } from './withDatabase.ts'

/** Changes a copy before it becomes a database. */
type Amend = (copy: Database) => void

/**
 * Creates the database of `dataDir` from the backup `file`, completely or not at all: on failure a folder created for
 * it is removed. The new store differs from the copied one, also by what `amend` does. Rejects when the folder is not empty, and when the backup
 * is damaged, empty or of a newer release.
 */
export async function restoreDatabase(file: string, dataDir: string, amend?: Amend): Promise<void> {
  await access(file, constants.R_OK).catch((error: unknown) => {
    throw new Error(`${file} cannot be read: name a file that "pharos-server backup" wrote`, { cause: error })
  })
  await assertNotInUse(file)
  const made = makeFolder(dataDir, OWNER_ONLY)
  try {
    await fillFolder(file, dataDir, amend)
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true })
    throw error
  }
}

/** A database in use, or left by a crash, has its newest changes in a log beside it, which a copy would lack. */
async function assertNotInUse(file: string): Promise<void> {
  const log = await stat(`${file}-wal`).catch(() => undefined)
  if (log === undefined || log.size === 0) return
  throw new Error(
    `${file} is the database of a data folder, and its newest changes are not in it: make a backup with "pharos-server backup"`,
  )
}

async function fillFolder(file: string, dataDir: string, amend: Amend | undefined): Promise<void> {
  const target = databaseFile(dataDir)
  await assertEmpty(dataDir, target)
  const temporary = `${target}.${randomUUID()}.restoring`
  try {
    await copyFile(file, temporary, constants.COPYFILE_EXCL)
    await chmod(temporary, 0o600)
    await assertWhole(temporary, file, amend)
    const handle = await open(temporary, 'r+')
    await handle.sync()
    await handle.close()
    await rename(temporary, target)
    syncFolder(dataDir)
  } finally {
    await rm(temporary, { force: true })
  }
}

async function assertWhole(copy: string, file: string, amend: Amend | undefined): Promise<void> {
  const checked = withDatabase(copy, {}, (database) => {
    // Also false for another database, such as the copy of results beside a backup.
    const isOurs = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'orgs'").get() !== undefined
    if (!isOurs && schemaVersion(database) > 0) throw notABackup(file)
    const verdict = database.pragma('integrity_check', { simple: true })
    if (verdict !== 'ok') throw damaged(file)
    const version = schemaVersion(database)
    if (version === 0) throw new Error(`${file} holds no data of pharos-server: use another backup`)
    if (version > MIGRATIONS.length) {
      throw new Error(
        `${file} has schema ${version} and this release knows ${MIGRATIONS.length}: take the release that wrote it`,
      )
    }
    // The copy becomes the database without log files that a reader may have created.
    database.pragma('journal_mode = DELETE')
    removeStoreId(database)
    amend?.(database)
  })
  await checked.catch((error: unknown) => {
    if (codeOf(error) === 'SQLITE_NOTADB') throw notABackup(file, error)
    throw codeOf(error).startsWith('SQLITE_CORRUPT') ? damaged(file, error) : error
  })
}

function damaged(file: string, cause?: unknown): Error {
  return new Error(`${file} is damaged: take another backup`, { cause })
}

function notABackup(file: string, cause?: unknown): Error {
  return new Error(`${file} is not a backup: name a file that "pharos-server backup" wrote`, { cause })
}

/** Leftovers of another database, above all its log, would become part of the restored one. */
async function assertEmpty(dataDir: string, target: string): Promise<void> {
  const files = await readdir(dataDir)
  if (files.includes(basename(target))) {
    throw new Error(`${dataDir} already has a database: restore into an empty folder`)
  }
  if (files.length > 0) throw new Error(`${dataDir} is not empty: restore into an empty folder`)
}
