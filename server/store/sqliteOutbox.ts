import type { GroupCommit } from './groupCommit.ts'
import type { Connections } from './openDatabase.ts'
import type { OutboxStore, PublishedCommand } from './store.ts'

/**
 * Longest definition that a published command keeps (bytes): one of 1 MiB goes to eight regions, and a key may replace a
 * service five times a second.
 */
const KEPT_DEFINITION_BYTES_MAX = 16 * 1024

/** Most definitions that are fetched at once (bytes): the outbox may hold any number of 1 MiB. */
const FETCHED_BYTES_MAX = 8 * 1024 * 1024

const COLUMNS = 'sequence, type, region, service_id AS serviceId, generation, definition'

/**
 * The outbox in SQLite. Its one writer makes sequence numbers visible in their order, so that one number says
 * what is published; a mark in each row would write every command twice. What was just written is read by the
 * connection that wrote it: the other one would fetch every page from the log.
 */
export function sqliteOutbox({ reader, writer }: Connections, commits: GroupCommit): OutboxStore {
  const oldest = writer.prepare<[number], PublishedCommand>(
    `SELECT ${COLUMNS} FROM commands WHERE sequence > (SELECT published_up_to FROM publication)
     ORDER BY sequence LIMIT ?`,
  )
  const lengths = writer
    .prepare<[number], number>(
      `SELECT coalesce(octet_length(definition), 0) FROM commands
       WHERE sequence > (SELECT published_up_to FROM publication) ORDER BY sequence LIMIT ?`,
    )
    .pluck()
  /** How many of the oldest commands may be fetched: at least one, if there is any. */
  const affordable = (countMax: number): number => {
    let bytes = 0
    const tooMany = lengths.all(countMax).findIndex((length) => {
      bytes += length
      return bytes > FETCHED_BYTES_MAX
    })
    return tooMany === -1 ? countMax : Math.max(tooMany, 1)
  }
  const mark = writer.prepare('UPDATE publication SET published_up_to = max(published_up_to, ?)')
  // Of a row that keeps its definition, the length is read and nothing written.
  const shed = writer.prepare(
    `UPDATE commands SET definition = NULL
     WHERE sequence > (SELECT published_up_to FROM publication) AND sequence <= ? AND octet_length(definition) > ?`,
  )
  const all = reader.prepare<[], PublishedCommand>(`SELECT ${COLUMNS} FROM commands ORDER BY sequence`)
  return {
    unpublishedCommands: async (countMax) => oldest.all(affordable(countMax)),
    markPublished: (sequence) =>
      commits.run(() => {
        shed.run(sequence, KEPT_DEFINITION_BYTES_MAX)
        mark.run(sequence)
      }),
    listCommands: async () => all.all(),
  }
}
