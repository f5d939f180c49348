import { link, open, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'

/**
 * Writes all of `database` to `file`, complete or not at all and readable by its owner only: it holds hashes of
 * keys and every header that is not sealed. Rejects when the file is there, whatever it is, and when its folder
 * is not.
 */
export async function backupDatabase(database: Database, file: string): Promise<void> {
  await assertFolder(dirname(file))
  const temporary = `${file}.${process.pid}.part`
  try {
    // Made first, so that the copy has its mode from the first byte on.
    await writeFile(temporary, '', { mode: 0o600, flag: 'wx' })
    await database.backup(temporary)
    const handle = await open(temporary, 'r+')
    await handle.sync()
    await handle.close()
    // A link, unlike a rename, never takes the place of a file: another backup, or another folder's database.
    await link(temporary, file)
  } catch (error) {
    if (isExisting(error)) throw new Error(`${file} is already there: name a new file`, { cause: error })
    throw error
  } finally {
    await rm(temporary, { force: true })
  }
}

async function assertFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true) throw new Error(`there is no folder ${folder}`)
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}
