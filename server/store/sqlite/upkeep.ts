import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ApiError } from '../../../api/contract/apiError.ts'
import { removeExpired } from '../administration/expiredRows.ts'
import type { Scripts } from '../scripts/script.ts'
import { BUS_READER, type UpkeepStore } from '../store.ts'
import { COMMAND_ORDER } from './commandOrder.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import { type DiskSpace, freeBytes } from './files/diskSpace.ts'
import { lastBackupAtMs } from './files/lastBackup.ts'
import type { Connections } from './files/openDatabase.ts'

/** Maintenance of the SQLite file. */
export function sqliteUpkeep(
  { reader, writer }: Connections,
  { commits, disk, scripts }: { commits: GroupCommit; disk: DiskSpace; scripts: Scripts },
): UpkeepStore {
  const unused = reader.prepare<[], number>('PRAGMA freelist_count').pluck()
  const pageBytes = Number(reader.pragma('page_size', { simple: true }))
  const beat = writer.prepare(
    `INSERT INTO heartbeat (only_row, beaten_at_ms) VALUES (1, ?)
     ON CONFLICT (only_row) DO UPDATE SET beaten_at_ms = excluded.beaten_at_ms`,
  )
  const lastBeat = reader.prepare<[], number>('SELECT beaten_at_ms FROM heartbeat').pluck()
  const unpublished = reader.prepare<[], { count: number; oldestAtMs: number | null }>(
    `SELECT count(*) AS count, min(created_at_ms) AS oldestAtMs FROM commands
     WHERE sequence > coalesce((SELECT sequence FROM outbox_readers WHERE name = '${BUS_READER}'), 0)`,
  )
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
    lastUseMs: async () => lastBeat.get(),
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
      await removeExpired(scripts, COMMAND_ORDER, nowMs)
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
