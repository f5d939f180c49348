import type { GroupCommit } from './groupCommit.ts'
import type { Connections } from './openDatabase.ts'
import type { OutboxStore, PublishedCommand } from './store.ts'

const COLUMNS = 'sequence, type, region, service_id AS serviceId, generation, definition'

/** The outbox in SQLite, whose one writer makes sequence numbers visible in their order. */
export function sqliteOutbox({ reader, writer }: Connections, commits: GroupCommit): OutboxStore {
  const oldest = reader.prepare<[number], PublishedCommand>(
    `SELECT ${COLUMNS} FROM commands WHERE published_at_ms IS NULL ORDER BY sequence LIMIT ?`,
  )
  const mark = writer.prepare(
    'UPDATE commands SET published_at_ms = ? WHERE published_at_ms IS NULL AND sequence <= ?',
  )
  const all = reader.prepare<[], PublishedCommand>(`SELECT ${COLUMNS} FROM commands ORDER BY sequence`)
  return {
    unpublishedCommands: async (countMax) => oldest.all(countMax),
    markPublished: (sequence, nowMs) =>
      commits.run(() => {
        mark.run(nowMs, sequence)
      }),
    listCommands: async () => all.all(),
  }
}
