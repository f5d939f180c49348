import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ApiError } from '../../../api/contract/apiError.ts'
import { removeExpired } from '../administration/expiredRows.ts'
import type { Scripts } from '../scripts/script.ts'
import { BUS_READER, type UpkeepStore } from '../store.ts'
import { prepareAuditCleanup } from './changes/audit.ts'
import { prepareEndpointCleanup } from './changes/endedEndpoints.ts'
import { prepareGenerationCleanup } from './changes/pastGenerations.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import { type DiskSpace, freeBytes } from './files/diskSpace.ts'
import { lastBackupAtMs } from './files/lastBackup.ts'
import type { Connections } from './files/openDatabase.ts'

/** Retention of published commands, for inspection (milliseconds). */
const COMMANDS_KEPT_MS = 7 * 24 * 60 * 60 * 1_000

/** Maximum number of rows of each kind deleted in one transaction, during which no request is handled. */
const DELETED_AT_ONCE = 1_000

/** Maintenance of the SQLite file. */
export function sqliteUpkeep(
  { reader, writer }: Connections,
  {
    commits,
    disk,
    scripts,
  }: { readonly commits: GroupCommit; readonly disk: DiskSpace; readonly scripts: Scripts },
): UpkeepStore {
  const unused = reader.prepare<[], number>('PRAGMA freelist_count').pluck()
  const pageBytes = Number(reader.pragma('page_size', { simple: true }))
  const beat = writer.prepare(
    `INSERT INTO heartbeat (only_row, beaten_at_ms) VALUES (1, ?)
     ON CONFLICT (only_row) DO UPDATE SET beaten_at_ms = excluded.beaten_at_ms`,
  )
  const unpublished = reader.prepare<[], { count: number; oldestAtMs: number | null }>(
    `SELECT count(*) AS count, min(created_at_ms) AS oldestAtMs FROM commands
     WHERE sequence > coalesce((SELECT sequence FROM outbox_readers WHERE name = '${BUS_READER}'), 0)`,
  )
  // Only the oldest are read: reading all would take time proportional to the number of commands.
  const forgetCommands = writer.prepare(
    `DELETE FROM commands WHERE created_at_ms < ? AND sequence IN
       (SELECT sequence FROM commands WHERE sequence <= (SELECT sequence FROM outbox_readers WHERE name = '${BUS_READER}')
        ORDER BY sequence LIMIT ${DELETED_AT_ONCE})`,
  )
  const cleanUpGenerations = prepareGenerationCleanup(writer, DELETED_AT_ONCE)
  const cleanUpAudit = prepareAuditCleanup(writer, DELETED_AT_ONCE)
  const cleanUpEndpoints = prepareEndpointCleanup({ reader, writer }, commits)
  const forgetSome = (nowMs: number): number =>
    forgetCommands.run(nowMs - COMMANDS_KEPT_MS).changes + cleanUpGenerations(nowMs) + cleanUpAudit(nowMs)
  return {
    assertDiskSpace: async () => {
      if (!disk.look((unused.get() ?? 0) * pageBytes)) return
      throw new ApiError(
        'unavailable',
        'the disk of the data folder is full: only reads, deletes and pauses are possible; free some space',
      )
    },
    probeWrite: (nowMs) =>
      commits.run(() => {
        beat.run(nowMs)
      }),
    stats: async () => {
      const { count = 0, oldestAtMs = null } = unpublished.get() ?? {}
      const { name } = reader
      return {
        unpublishedCommands: count,
        oldestUnpublishedAtMs: oldestAtMs,
        databaseBytes: statSync(name).size,
        logBytes: statSync(`${name}-wal`, { throwIfNoEntry: false })?.size ?? 0,
        diskFreeBytes: freeBytes(dirname(name)),
        lastBackupAtMs: lastBackupAtMs(name),
      }
    },
    tidy: async (nowMs) => {
      while ((await commits.run(() => forgetSome(nowMs))) > 0) {}
      await cleanUpEndpoints(nowMs)
      await removeExpired(scripts, nowMs)
      writer.pragma('wal_checkpoint(TRUNCATE)')
      writer.pragma('optimize')
    },
    onOutage: () => {},
    onCommands: (listener) => commits.onCommit(listener),
    rejectWaiting: () => commits.rejectWaiting(),
    close: async () => {
      await commits.flush()
      reader.close()
      writer.close()
      disk.prepareNextOpening()
    },
  }
}
