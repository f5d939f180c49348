import { backupDatabase } from './backupDatabase.ts'
import type { GroupCommit } from './groupCommit.ts'
import type { Connections } from './openDatabase.ts'
import { REMEMBERED_MS } from './rememberedCreations.ts'
import type { UpkeepStore } from './store.ts'

/** How long a published command is kept for whoever wants to look (milliseconds). */
const COMMANDS_KEPT_MS = 7 * 24 * 60 * 60 * 1_000

/** Care of the SQLite file. */
export function sqliteUpkeep({ reader, writer }: Connections, commits: GroupCommit): UpkeepStore {
  const beat = writer.prepare(
    `INSERT INTO heartbeat (only_row, beaten_at_ms) VALUES (1, ?)
     ON CONFLICT (only_row) DO UPDATE SET beaten_at_ms = excluded.beaten_at_ms`,
  )
  const forgetCreations = writer.prepare('DELETE FROM remembered_creations WHERE created_at_ms < ?')
  const forgetCommands = writer.prepare(
    'DELETE FROM commands WHERE created_at_ms < ? AND sequence <= (SELECT published_up_to FROM publication)',
  )
  return {
    probeWrite: (nowMs) =>
      commits.run(() => {
        beat.run(nowMs)
      }),
    tidy: async (nowMs) => {
      await commits.run(() => {
        forgetCreations.run(nowMs - REMEMBERED_MS)
        forgetCommands.run(nowMs - COMMANDS_KEPT_MS)
      })
      writer.pragma('wal_checkpoint(TRUNCATE)')
      writer.pragma('optimize')
    },
    backupTo: (file) => backupDatabase(reader.name, file),
    onCommands: (listener) => commits.onCommit(listener),
    close: async () => {
      await commits.flush()
      reader.close()
      writer.close()
    },
  }
}
