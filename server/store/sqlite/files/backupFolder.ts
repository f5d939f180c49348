import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, OWNER_ONLY } from '../../../../api/runtime/makeFolder.ts'
import { backupDatabase, PART_FILE } from './backupDatabase.ts'

/** Name of an automatic backup: its time, and the schema version if a migration followed. */
const BACKUP_FILE = /^pharos-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)(-schema-\d+)?\.db$/
/** Time without a write after which an unfinished copy belongs to a dead program (milliseconds). */
const STALE_MS = 10 * 60 * 1_000
/** Backups from before migrations that are kept. */
const MIGRATIONS_KEPT = 2

/** Reason of a backup: the schedule, which keeps `keep` backups, or a migration from the version `schema`. */
export type BackupReason = { readonly keep: number } | { readonly schema: number }

/**
 * Copies the database `source` into `folder`, which is created when missing; resolves to the file. Surplus backups of
 * the same kind are removed only afterwards. When copying fails, no backup is removed.
 */
export async function backupInto(
  folder: string,
  source: string,
  { reason, nowMs, signal }: { reason: BackupReason; nowMs: number; signal?: AbortSignal | undefined },
): Promise<string> {
  makeFolder(folder, OWNER_ONLY)
  const instant = new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')
  const isScheduled = 'keep' in reason
  const newest = `pharos-${instant}${isScheduled ? '' : `-schema-${reason.schema}`}.db`
  const file = join(folder, newest)
  // First: they may take the space that this copy needs.
  await removeStale(folder, nowMs)
  await backupDatabase(source, file, signal)
  const names = await readdir(folder)
  const same = names.filter((name) => {
    const found = BACKUP_FILE.exec(name)
    return found !== null && (found[2] === undefined) === isScheduled
  })
  // Names sort by time. Those of a clock that was ahead are older than the newest one, and removed first.
  const sorted = same.sort()
  const byAge = [...sorted.filter((name) => name > newest), ...sorted.filter((name) => name <= newest)]
  const old = byAge.slice(0, -(isScheduled ? reason.keep : MIGRATIONS_KEPT))
  for (const name of old) await rm(join(folder, name), { force: true })
  return file
}

/**
 * Time of the newest scheduled backup in `folder` (milliseconds since the epoch); `undefined` for none. Those after
 * `nowMs`, of a clock that was ahead, do not count.
 */
export async function newestBackupAtMs(folder: string, nowMs: number): Promise<number | undefined> {
  const names = await readdir(folder).catch(() => [])
  const instants = names.flatMap((name) => {
    const [, instant, schema] = BACKUP_FILE.exec(name) ?? []
    if (instant === undefined || schema !== undefined) return []
    const atMs = Date.parse(instant.replace(/T(\d\d)-(\d\d)-(\d\d)-/, 'T$1:$2:$3.'))
    return atMs > nowMs ? [] : [atMs]
  })
  return instants.sort((a, b) => a - b).at(-1)
}

/** Removes unfinished copies of killed programs. */
async function removeStale(folder: string, nowMs: number): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => PART_FILE.test(each))) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found !== undefined && nowMs - found.mtimeMs > STALE_MS) await rm(join(folder, name), { force: true })
  }
}
